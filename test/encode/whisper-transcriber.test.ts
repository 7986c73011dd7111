import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import decodeAudio from 'audio-decode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxSpeechEncoder } from '../../server/encode/onnx-speech-encoder.js';
import type { SpeechEncoder } from '../../server/encode/speech-encoder.js';
import type { Transcriber } from '../../server/encode/transcriber.js';
import { openWeights } from '../../server/encode/weights.js';
import { createWhisperTranscriber, isSilence } from '../../server/encode/whisper-transcriber.js';
import { loadWordsTokenizer } from '../../server/encode/words-tokenizer.js';
import { transcriberContract } from '../contracts/transcriber.contract.js';
import { createFakeTranscriber } from '../fakes/fake-transcriber.js';
import { sharedData } from '../fixtures/shared-data.js';

const weights = openWeights('models');
const vector = new Float32Array(384);
const features = (value: number) => ({ vector, features: new Float32Array(512).fill(value), frames: 1 });

transcriberContract('the fake', async () => ({
  transcriber: createFakeTranscriber(),
  speech: [features(1)],
  silence: [features(0)],
}));

/** Samples of a recording at 16 kHz. */
async function recording(path: string): Promise<Float32Array> {
  const { channelData, sampleRate } = await decodeAudio(readFileSync(join(sharedData ?? '', path)));
  expect(sampleRate).toBe(16_000);
  return channelData[0] ?? new Float32Array(0);
}

/** What the recording's list says was said. */
function transcriptOf(path: string): string {
  const lines = readFileSync(join(sharedData ?? '', 'speech/recordings.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const rows = lines.map((line) => JSON.parse(line) as { audio: string; text: string });
  return rows.find((row) => row.audio === path)?.text ?? '';
}

const HARD_SENTENCE = 'speech/librispeech-mini/134691_1089-134691-0000.flac';

describe.skipIf(!sharedData)('with the recordings of shared data', () => {
  let encoder: SpeechEncoder;
  beforeAll(async () => {
    encoder = await createOnnxSpeechEncoder({ weights, thread: 'main' });
  });
  afterAll(() => encoder.close());

  transcriberContract('Whisper on recorded speech', async () => ({
    transcriber: await createWhisperTranscriber({ weights }),
    speech: await encoder.encode([await recording(HARD_SENTENCE)]),
    silence: await encoder.encode([new Float32Array(32_000)]),
  }));

  it('writes down a recorded sentence as it was said, and once', async () => {
    const transcriber = await createWhisperTranscriber({ weights });
    const { text, confidence } = await transcriber.transcribe(
      await encoder.encode([await recording(HARD_SENTENCE)]),
    );
    const expected = transcriptOf(HARD_SENTENCE);
    expect(expected.split(' ').length).toBeGreaterThan(3);
    expect(text.toLowerCase().replace(/[^a-z ]/g, '')).toBe(expected.toLowerCase());
    expect(confidence).toBeGreaterThan(0.5);
    await transcriber.close();
  });
});

describe('the Whisper transcriber in silence and noise', () => {
  let encoder: SpeechEncoder;
  let transcriber: Transcriber;
  beforeAll(async () => {
    encoder = await createOnnxSpeechEncoder({ weights, thread: 'main' });
    transcriber = await createWhisperTranscriber({ weights });
  });
  afterAll(async () => {
    await encoder.close();
    await transcriber.close();
  });

  const tone = Float32Array.from(
    { length: 48_000 },
    (_, at) => 0.2 * Math.sin((2 * Math.PI * 440 * at) / 16_000),
  );
  const dither = Float32Array.from({ length: 48_000 }, (_, at) => (((at * 7919) % 3) - 1) / 32_768);
  it.each([
    ['half a second of zeros', new Float32Array(8_000)],
    ['eight seconds of zeros', new Float32Array(128_000)],
    ['dither of one bit', dither],
    ['a steady tone', tone],
    ['hiss', hiss(64_000)],
  ])('hears no words in %s', async (_, samples) => {
    expect((await transcriber.transcribe(await encoder.encode([samples]))).text).toBe('');
  });
});

/** Noise from a linear congruential generator (Numerical Recipes' constants). */
function hiss(samples: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 0.1;
  });
}

describe('the silence guard', () => {
  const sure = [0.9, 0.8];
  const unsure = [0.3, 0.2];
  const hopeless = [0.1, 0.1];
  it('believes sure words even if the start token doubted', () => {
    expect(isSilence({ noSpeech: 0.95, confidences: sure })).toBe(false);
  });
  it('believes unsure words while the start token heard speech', () => {
    expect(isSilence({ noSpeech: 0.2, confidences: unsure })).toBe(false);
  });
  it('drops unsure words that the start token doubted, and hopeless ones always', () => {
    expect(isSilence({ noSpeech: 0.7, confidences: unsure })).toBe(true);
    expect(isSilence({ noSpeech: 0.01, confidences: hopeless })).toBe(true);
    expect(isSilence({ noSpeech: 0, confidences: [] })).toBe(true);
  });
});

describe('the words vocabulary', () => {
  const tokenizer = loadWordsTokenizer(weights.pathOf('words-tokenizer.json'));
  it('has the control tokens of the multilingual Whisper', () => {
    expect(tokenizer.prompt).toEqual([50_258, 50_259, 50_359, 50_363]);
    expect([tokenizer.endOfText, tokenizer.noSpeech]).toEqual([50_257, 50_362]);
    expect(tokenizer.suppressAtBegin).toEqual([220, 50_257]);
  });
  it('reads tokens, and joins a letter that is split over several', () => {
    expect(tokenizer.texts([3126, 3390, 3321])).toEqual([' lower', ' blood', ' pressure']);
    // The three bytes of the euro sign, as byte tokens: 0xE2 0x82 0xAC.
    const bytes = [0xe2, 0x82, 0xac].map((byte) => findByte(byte));
    expect(tokenizer.texts(bytes)).toEqual(['', '', '€']);
  });
  it('marks broken bytes instead of failing', () => {
    expect(tokenizer.texts([findByte(0xe2)])).toEqual(['\uFFFD']);
  });
  it('says which file is missing or unreadable', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'words-')), 'words.json');
    expect(() => loadWordsTokenizer(path)).toThrow(expect.objectContaining({ code: 'model_missing' }));
    writeFileSync(path, '{"tokens": []}');
    expect(() => loadWordsTokenizer(path)).toThrow(expect.objectContaining({ code: 'model_corrupt' }));
  });

  /** Id of the token that is this one byte. */
  function findByte(byte: number): number {
    const file = JSON.parse(readFileSync(weights.pathOf('words-tokenizer.json'), 'utf8')) as {
      tokens: string[];
    };
    return file.tokens.indexOf(String.fromCharCode(byte));
  }
});
