import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { AuscultError } from '../errors.js';

const id = z.number().int().nonnegative();
const fileSchema = z.object({
  /** Bytes of each token in id order, one letter U+0000 … U+00FF a byte. */
  tokens: z.array(z.string()).min(1),
  endOfText: id,
  noSpeech: id,
  prompt: z.array(id).min(1),
  suppress: z.array(id),
  suppressAtBegin: z.array(id),
});

/** What greedy decoding needs of Whisper's tokenizer. Ids from `endOfText` on are control tokens. */
export interface WordsTokenizer {
  readonly endOfText: number;
  /** The token by which the model says, right after the start token, that it hears no speech. */
  readonly noSpeech: number;
  /** Start, English, transcribe, no timestamps. */
  readonly prompt: readonly number[];
  /** Never given: symbols that nobody speaks. */
  readonly suppress: readonly number[];
  /** Not given first: a blank and the end. */
  readonly suppressAtBegin: readonly number[];
  /**
   * Text of each token, so that joining them gives the text. A letter whose bytes are split over several tokens belongs to
   * the last of them; broken bytes become U+FFFD.
   */
  texts(ids: readonly number[]): string[];
}

/**
 * Reads words-tokenizer.json as models/build writes it.
 * Errors: `model_missing` without the file, `model_corrupt` when it cannot be understood.
 */
export function loadWordsTokenizer(path: string): WordsTokenizer {
  const file = readVocabulary(path);
  const bytes = file.tokens.map((token) => Uint8Array.from(token, (letter) => letter.charCodeAt(0)));
  return {
    endOfText: file.endOfText,
    noSpeech: file.noSpeech,
    prompt: file.prompt,
    suppress: file.suppress,
    suppressAtBegin: file.suppressAtBegin,
    texts(ids) {
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      const last = ids.length - 1;
      return ids.map((token, place) => decoder.decode(bytes[token], { stream: place < last }));
    },
  };
}

function readVocabulary(path: string): z.infer<typeof fileSchema> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AuscultError('model_missing', {
      message: `${path} cannot be read: restore it from a fresh checkout or build it with models/build.`,
      cause,
    });
  }
  try {
    return fileSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new AuscultError('model_corrupt', {
      message: `${path} is not the word decoder's vocabulary: restore it from a fresh checkout.`,
      cause,
    });
  }
}
