import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import { z } from 'zod';
import type { SpeechEncoder } from '../encode/speech-encoder.js';
import { AuscultError } from '../errors.js';
import type { PassageClip } from '../retrieve/passage-store.js';
import { SPEECH_PREFIX } from './documents.js';
import { hashContent } from './index-writer.js';
import type { Embed, PendingDocument, PendingPassage } from './index-writer.js';
import { listInputFiles, resolveBeside } from './input-files.js';
import type { InputFile } from './input-files.js';
import { readJsonLines, reject } from './json-lines.js';
import type { ReadDocumentsOptions } from './documents.js';

/** How sound is read and cut; the implementations belong to the stage of sound. */
export interface Hearing {
  /** A recording as mono samples at 16 kHz. */
  readonly readSpeech: (path: string) => Promise<Float32Array>;
  /** Windows of an utterance, at most 8 s each. */
  readonly windowsOf: (
    samples: number,
  ) => ReadonlyArray<{ readonly startSample: number; readonly endSample: number }>;
  /** Of the speech encoder: another model encodes everything again. */
  readonly modelId: string;
}

const RATE_HZ = 16_000;
/** A recording without marks is cut into pieces of one window of the ear. */
const PIECE_SAMPLES = 8 * RATE_HZ;
/** A rest shorter than this joins the piece before it: half a second says nothing. */
const SHORTEST_REST_SAMPLES = RATE_HZ;
const AUDIO_EXTENSIONS = new Set(['.wav', '.flac', '.mp3', '.ogg', '.opus']);
const LONGEST_PART_MS = 120_000;

const line = z
  .object({
    id: z.union([z.string().min(1).max(200), z.number()]).transform(String),
    text: z.string().default(''),
    audio: z.string().min(1),
    title: z.string().nullish(),
    startMs: z.number().nonnegative().nullish(),
    endMs: z.number().positive().nullish(),
    speaker: z.string().nullish(),
  })
  .refine(({ startMs, endMs }) => endMs === null || endMs === undefined || endMs > (startMs ?? 0), {
    message: 'endMs must come after startMs',
  });
type Line = z.infer<typeof line>;

/** The evidence id of a spoken item; its document id is the same without the number when it is alone in its recording. */
export function speechItemId(id: string): string {
  return `${SPEECH_PREFIX}${id}#0`;
}

/** Vectors of the sound itself, one a window; texts are never looked at. */
export function embedRecordings(encoder: SpeechEncoder): Embed {
  return async (passages, signal) => {
    const vectors: Float32Array[][] = [];
    for (const { encode } of passages) {
      const windows = typeof encode === 'string' ? [] : encode;
      vectors.push((await encoder.encode(windows, signal)).map((window) => window.vector));
    }
    return vectors;
  };
}

/**
 * Spoken items of files and folders: jsonl lines {id, text, audio, startMs?, endMs?, speaker?, title?} with audio paths inside
 * the list's own folder, and whole recordings, cut into pieces of 8 s that know their neighbours. Several lines of one recording
 * become one document. Errors as of `readDocuments`; sound that cannot be read throws `not_audio` or `file_unreadable` when it is
 * its turn.
 */
export async function readRecordings(
  paths: readonly string[],
  hearing: Hearing,
  options: ReadDocumentsOptions = {},
): Promise<PendingDocument[]> {
  const documents: PendingDocument[] = [];
  for (const path of paths) {
    const files = await listInputFiles(path, {
      accepts: (extension) => extension === '.jsonl' || AUDIO_EXTENSIONS.has(extension),
      onSkip: (problem) => options.onSkip?.(problem),
    });
    const lists = files.filter((file) => file.extension === '.jsonl');
    for (const list of lists) documents.push(...(await readList(list, hearing, options)));
    // In a folder with a list, the list says what the recordings are.
    if (lists.length > 0) continue;
    for (const file of files) documents.push(await wholeRecording(file, hearing));
  }
  return documents;
}

interface Item {
  readonly line: Line;
  readonly audioPath: string;
}

async function readList(
  list: InputFile,
  hearing: Hearing,
  options: ReadDocumentsOptions,
): Promise<PendingDocument[]> {
  const recordings = new Map<string, Item[]>();
  for await (const { line: number, value } of readJsonLines(list.path, line, options)) {
    try {
      const audioPath = await resolveBeside(list.path, value.audio);
      recordings.set(audioPath, [...(recordings.get(audioPath) ?? []), { line: value, audioPath }]);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'The audio path is bad.';
      reject({ path: list.path, line: number, reason }, options, cause);
    }
  }
  const pending: PendingDocument[] = [];
  for (const [audioPath, items] of recordings) {
    pending.push(await listedRecording({ list, audioPath, items, hearing }));
  }
  return pending;
}

/** Hash of the bytes, so that an unchanged recording is passed over without decoding it. */
async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (cause) {
    throw new AuscultError('file_unreadable', {
      message: `${path} cannot be read: check its permissions.`,
      cause,
    });
  }
  return hash.digest('hex');
}

async function listedRecording(recording: {
  readonly list: InputFile;
  readonly audioPath: string;
  readonly items: readonly Item[];
  readonly hearing: Hearing;
}): Promise<PendingDocument> {
  const { list, audioPath, hearing } = recording;
  const lines = recording.items
    .map((item) => item.line)
    .sort((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0) || (a.id < b.id ? -1 : 1));
  const first = lines[0];
  const name = relative(dirname(list.path), audioPath).split(sep).join('/');
  const recordingId = lines.length === 1 && first ? first.id : name;
  return {
    id: `${SPEECH_PREFIX}${recordingId}`,
    title: first?.title ?? recordingId,
    source: list.path,
    contentHash: hashContent([hearing.modelId, await hashFile(audioPath), lines]),
    async prepare() {
      const samples = await hearing.readSpeech(audioPath);
      return lines.map((value, index): PendingPassage => {
        const startMs = value.startMs ?? 0;
        const endMs = Math.min(
          value.endMs ?? Infinity,
          startMs + LONGEST_PART_MS,
          (samples.length * 1000) / RATE_HZ,
        );
        const previous = lines[index - 1];
        const next = lines[index + 1];
        const clip: PassageClip = {
          recordingId,
          audioPath,
          startMs,
          endMs,
          ...(value.speaker ? { speaker: value.speaker } : {}),
          ...(previous ? { previousId: speechItemId(previous.id) } : {}),
          ...(next ? { nextId: speechItemId(next.id) } : {}),
        };
        const part = partOf(samples, clip, audioPath);
        return {
          id: speechItemId(value.id),
          text: value.text,
          start: 0,
          end: value.text.length,
          clip,
          encode: hearing
            .windowsOf(part.length)
            .map((window) => part.subarray(window.startSample, window.endSample)),
        };
      });
    },
  };
}

function partOf(samples: Float32Array, clip: PassageClip, path: string): Float32Array {
  const part = samples.subarray(
    Math.round((clip.startMs * RATE_HZ) / 1000),
    Math.round((clip.endMs * RATE_HZ) / 1000),
  );
  if (part.length > 0) return part;
  throw new AuscultError('not_audio', {
    message: `${path} has no sound between ${clip.startMs} and ${clip.endMs} ms: correct startMs and endMs.`,
  });
}

async function wholeRecording(file: InputFile, hearing: Hearing): Promise<PendingDocument> {
  const recordingId = file.name;
  const id = `${SPEECH_PREFIX}${recordingId}`;
  return {
    id,
    title: basename(file.name, file.extension),
    source: file.path,
    contentHash: hashContent([hearing.modelId, await hashFile(file.path), PIECE_SAMPLES]),
    async prepare() {
      const samples = await hearing.readSpeech(file.path);
      const pieces = cutPieces(samples.length);
      return pieces.map(([from, to], number): PendingPassage => ({
        id: `${id}#${number}`,
        text: '',
        start: 0,
        end: 0,
        clip: {
          recordingId,
          audioPath: file.path,
          startMs: (from * 1000) / RATE_HZ,
          endMs: (to * 1000) / RATE_HZ,
          ...(number > 0 ? { previousId: `${id}#${number - 1}` } : {}),
          ...(number + 1 < pieces.length ? { nextId: `${id}#${number + 1}` } : {}),
        },
        encode: hearing
          .windowsOf(to - from)
          .map((window) => samples.subarray(from + window.startSample, from + window.endSample)),
      }));
    },
  };
}

/** Consecutive pieces of 8 s that hold every sample once. */
function cutPieces(samples: number): Array<readonly [number, number]> {
  const pieces: Array<readonly [number, number]> = [];
  for (let from = 0; from < samples;) {
    const isLast = samples - from < PIECE_SAMPLES + SHORTEST_REST_SAMPLES;
    const to = isLast ? samples : from + PIECE_SAMPLES;
    pieces.push([from, to]);
    from = to;
  }
  return pieces;
}
