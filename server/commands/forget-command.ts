import { join } from 'node:path';
import { encodeWav } from '../audio/wav-writer.js';
import type { Clock } from '../clock.js';
import { AuscultError } from '../errors.js';
import { createRecordings } from '../privacy/recordings.js';
import { DAY_MS, forget } from '../privacy/retention.js';
import { createJsonlSink } from '../trace/jsonl-sink.js';

export interface ForgetOptions {
  /** Forget this session. */
  readonly session?: string;
  /** Forget whatever is older than so many days; 0 forgets all. */
  readonly olderThanDays?: number;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly print: (line: string) => void;
}

/** Deletes what was kept of a session or for longer than some days: traces with their texts, and recordings. */
export async function runForget(options: ForgetOptions): Promise<void> {
  const { session, olderThanDays, dataDir, clock, print } = options;
  if (session === undefined && olderThanDays === undefined) {
    throw new AuscultError('config_invalid', {
      message: 'Say what to forget: --session ID, --older-than DAYS, or both.',
    });
  }
  const traceSink = await createJsonlSink(join(dataDir, 'traces'));
  const recordings = createRecordings({ folder: join(dataDir, 'audio'), toWav: encodeWav });
  const removed = await forget(
    {
      ...(session === undefined ? {} : { sessionId: session }),
      ...(olderThanDays === undefined ? {} : { olderThanWallMs: clock.wallMs() - olderThanDays * DAY_MS }),
    },
    { traceSink, recordings },
  );
  await traceSink.close();
  print(`Forgotten: ${removed.traces} trace(s), ${removed.recordings} recording(s).`);
}
