import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A spoken question as it was heard. */
export interface Utterance {
  readonly sessionId: string;
  readonly turnId: string;
  /** Mono, −1 … 1. */
  readonly samples: Float32Array;
  readonly rateHz: number;
}

/** Kept questions: `FOLDER/<sessionId>/<turnId>.wav`, and beside them `consent.json`, what the person had been told. */
export interface Recordings {
  /** Resolves when the file is written. */
  write(utterance: Utterance, consent: { readonly text: string; readonly wallMs: number }): Promise<void>;
  /** Both give the number of recordings that are gone. */
  removeSession(sessionId: string): Promise<number>;
  removeOlderThan(wallMs: number): Promise<number>;
}

const CONSENT_FILE = 'consent.json';

export function createRecordings(options: {
  readonly folder: string;
  readonly toWav: (samples: Float32Array, rateHz: number) => Uint8Array;
}): Recordings {
  const { folder, toWav } = options;
  return {
    async write({ sessionId, turnId, samples, rateHz }, consent) {
      const session = join(folder, sessionId);
      await mkdir(session, { recursive: true, mode: 0o700 });
      // The first word on it stands: what was told before the first recording.
      await writeFile(join(session, CONSENT_FILE), `${JSON.stringify(consent)}\n`, {
        mode: 0o600,
        flag: 'wx',
      }).catch(unless('EEXIST'));
      await writeFile(join(session, `${turnId}.wav`), toWav(samples, rateHz), { mode: 0o600 });
    },
    async removeSession(sessionId) {
      const session = join(folder, sessionId);
      const count = (await namesIn(session)).filter(isRecording).length;
      await rm(session, { recursive: true, force: true });
      return count;
    },
    async removeOlderThan(wallMs) {
      let removed = 0;
      for (const sessionId of await namesIn(folder))
        removed += await removeOld(join(folder, sessionId), wallMs);
      return removed;
    },
  };
}

async function removeOld(session: string, wallMs: number): Promise<number> {
  let removed = 0;
  let left = 0;
  for (const name of (await namesIn(session)).filter(isRecording)) {
    const path = join(session, name);
    if ((await stat(path)).mtimeMs < wallMs) {
      await rm(path, { force: true });
      removed += 1;
    } else left += 1;
  }
  // What was told goes with the last recording that it was told for.
  if (removed > 0 && left === 0) await rm(session, { recursive: true, force: true });
  return removed;
}

const isRecording = (name: string): boolean => name.endsWith('.wav');

/** Names in a folder; none when it is not there, or is none. */
async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
}

function unless(...codes: readonly string[]): (fault: unknown) => undefined {
  return (fault) => {
    if (codes.includes(String((fault as NodeJS.ErrnoException).code))) return undefined;
    throw fault;
  };
}
