import type { Clock } from '../clock.js';
import { AuscultError } from '../errors.js';
import type { TraceSink } from '../trace/trace-sink.js';
import type { TurnTrace } from '../trace/trace.js';
import type { Recordings, Utterance } from './recordings.js';

/** What may be kept, and how long. 0 days keeps none. */
export interface RetentionPolicy {
  readonly retainAudio: boolean;
  readonly retainAudioDays: number;
  readonly retainTraceDays: number;
}

export interface Removed {
  readonly traces: number;
  readonly recordings: number;
}

/** What is kept of what people say, and its end. Writes and removals happen one after the other. */
export interface Retention {
  /** Told to every person in `session.ready`, before a word is said. */
  readonly notices: readonly string[];
  readonly keepsAudio: boolean;
  /** Writes the record unless none are kept. */
  keepTrace(trace: TurnTrace): Promise<void>;
  /** Writes the sound where it is kept, and nothing where it is not. */
  keepAudio(utterance: Utterance): Promise<void>;
  /** Removes what is older than the policy allows. */
  purge(): Promise<Removed>;
  /** Purges now and every hour; the returned function stops it. */
  watch(onFault: (fault: unknown) => void): () => void;
  /** Resolves when all that was begun is written or removed. */
  settle(): Promise<void>;
}

export interface RetentionOptions {
  readonly clock: Clock;
  readonly policy: RetentionPolicy;
  readonly traceSink: TraceSink;
  readonly recordings: Recordings;
}

export const NOTICES = {
  clinical: 'Not for clinical use: answers are quotations from the evidence shown, not advice.',
  audioKept: 'The sound of your questions is kept on this server.',
  audioNotKept: 'The sound of your questions is not kept.',
} as const;

export const DAY_MS = 86_400_000;
const PURGE_MS = 3_600_000;

export function createRetention({ clock, policy, traceSink, recordings }: RetentionOptions): Retention {
  const keepsAudio = policy.retainAudio && policy.retainAudioDays > 0;
  const audioNotice = keepsAudio ? audioKept(policy.retainAudioDays) : NOTICES.audioNotKept;
  let queue: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(task: () => Promise<T>): Promise<T> => {
    const result = queue.then(task);
    queue = result.catch(() => undefined);
    return result;
  };
  const before = (days: number): number => clock.wallMs() - days * DAY_MS;

  const purge = (): Promise<Removed> =>
    inOrder(async () => ({
      recordings: await recordings.removeOlderThan(before(keepsAudio ? policy.retainAudioDays : 0)),
      traces: await traceSink.remove({ olderThanWallMs: before(policy.retainTraceDays) }),
    }));

  return {
    notices: [NOTICES.clinical, audioNotice],
    keepsAudio,
    keepTrace: (trace) =>
      policy.retainTraceDays > 0 ? inOrder(() => traceSink.write(trace)) : Promise.resolve(),
    async keepAudio(utterance) {
      if (!keepsAudio) return;
      const consent = { text: audioNotice, wallMs: clock.wallMs() };
      await inOrder(() => recordings.write(utterance, consent));
    },
    purge,
    watch(onFault) {
      let stopped = false;
      let cancel = (): void => undefined;
      const round = async (): Promise<void> => {
        await purge().catch(onFault);
        if (!stopped) cancel = clock.after(PURGE_MS, () => void round());
      };
      void round();
      return () => {
        stopped = true;
        cancel();
      };
    },
    async settle() {
      await queue;
    },
  };
}

function audioKept(days: number): string {
  return `${NOTICES.audioKept} It is deleted after ${days === 1 ? 'a day' : `${days} days`}.`;
}

export interface ForgetRequest {
  readonly sessionId?: string;
  readonly olderThanWallMs?: number;
}

/**
 * Deletes the records and recordings of a session, or all that are older than a time. `config_invalid` for a session id that
 * no server gives: it names a folder, and must not name another one.
 */
export async function forget(
  { sessionId, olderThanWallMs }: ForgetRequest,
  { traceSink, recordings }: Pick<RetentionOptions, 'traceSink' | 'recordings'>,
): Promise<Removed> {
  if (sessionId !== undefined && !/^[\w-]{1,128}$/.test(sessionId)) {
    throw new AuscultError('config_invalid', {
      message: 'That is no session id; take the one of `session.ready` or of `auscult trace show`.',
    });
  }
  const bySession = sessionId === undefined ? 0 : await recordings.removeSession(sessionId);
  const byAge = olderThanWallMs === undefined ? 0 : await recordings.removeOlderThan(olderThanWallMs);
  const traces = await traceSink.remove({
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(olderThanWallMs === undefined ? {} : { olderThanWallMs }),
  });
  return { traces, recordings: bySession + byAge };
}
