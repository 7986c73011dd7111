import { PROTOCOL_VERSION, type ServerEvent } from '../shared/protocol.js';
import type { Clock } from '../server/clock.js';
import { openLiveClient, type LiveClient } from '../server/transport/live-client.js';

/** What one session lived through. All times in milliseconds. */
export interface SpeakerLog {
  asked: number;
  answered: number;
  /** `speech.stopped` received → first `evidence` received, on this side of the socket. */
  readonly evidenceWallMs: number[];
  /** The same as the server counts it from the declared end. */
  readonly evidenceServerMs: number[];
  /** Last voiced sample sent → first `evidence` received: what a person waits, the wait for silence included. */
  readonly evidenceHeardMs: number[];
  /** Declared end → end of the turn, as the server counts it. */
  readonly doneMs: number[];
  readonly rejected: Record<string, number>;
  readonly errors: Record<string, number>;
  /** Questions whose turn never came to an end. */
  unanswered: number;
}

export interface SpeakerOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Utterances at 16 kHz, 16-bit, asked in turn. */
  readonly clips: readonly Int16Array[];
  /** First clip, so that speakers do not say the same at once. */
  readonly first: number;
  /** Silence between the end of a turn and the next question. */
  readonly pauseMs: number;
  readonly stopped: () => boolean;
}

const FRAME_MS = 20;
const FRAME_SAMPLES = 320;
const SILENT_FRAME = new Int16Array(FRAME_SAMPLES);
/** After so long without an end of the turn a question counts as unanswered. */
const PATIENCE_MS = 20_000;

export function emptyLog(): SpeakerLog {
  return {
    asked: 0,
    answered: 0,
    evidenceWallMs: [],
    evidenceServerMs: [],
    evidenceHeardMs: [],
    doneMs: [],
    rejected: {},
    errors: {},
    unanswered: 0,
  };
}

/** Opens a session and waits until it is ready. */
export async function openSession(url: string): Promise<LiveClient> {
  const client = await openLiveClient({ url });
  client.send({
    type: 'session.start',
    version: PROTOCOL_VERSION,
    audio: { codec: 'pcm16', rateHz: 16_000, channels: 1 },
  });
  return client;
}

/** A person at an open microphone: asks, is silent until the turn is over and a while longer, asks again; frames in real time. */
export async function speak(options: SpeakerOptions): Promise<SpeakerLog> {
  const log = emptyLog();
  const { clock } = options;
  let client: LiveClient;
  try {
    client = await openSession(options.url);
  } catch (error) {
    count(log.errors, codeOf(error));
    return log;
  }
  const mouth = createMouth(options, log);
  const listening = listen(client, { log, clock, mouth }).catch((error: unknown) =>
    count(log.errors, codeOf(error)),
  );
  const startMs = clock.nowMs();
  for (let frame = 0; !options.stopped() && !mouth.isShut(); frame += 1) {
    await until(clock, startMs + frame * FRAME_MS);
    client.sendAudio(mouth.next());
  }
  mouth.shut();
  client.close();
  await listening;
  return log;
}

/** What is said next, frame by frame. */
interface Mouth {
  next(): Int16Array;
  /** The turn of the question is over. */
  over(): void;
  /** When the last sample of the question was sent; null while it is being asked. */
  readonly saidAtMs: number | null;
  shut(): void;
  isShut(): boolean;
}

function createMouth(options: SpeakerOptions, log: SpeakerLog): Mouth {
  const { clock, clips } = options;
  let clip = options.first;
  let at = 0;
  let state: 'asking' | 'waiting' | 'pausing' | 'shut' = 'pausing';
  let sinceMs = clock.nowMs();
  let saidAtMs: number | null = null;
  const enter = (next: typeof state): void => {
    state = next;
    sinceMs = clock.nowMs();
  };
  return {
    get saidAtMs() {
      return saidAtMs;
    },
    next() {
      if (state === 'waiting' && clock.nowMs() - sinceMs > PATIENCE_MS) {
        log.unanswered += 1;
        enter('pausing');
      }
      if (state === 'pausing' && clock.nowMs() - sinceMs >= options.pauseMs) {
        log.asked += 1;
        at = 0;
        saidAtMs = null;
        enter('asking');
      }
      if (state !== 'asking') return SILENT_FRAME;
      const samples = clips[clip % clips.length] ?? SILENT_FRAME;
      const frame = samples.subarray(at, at + FRAME_SAMPLES);
      at += FRAME_SAMPLES;
      if (at >= samples.length) {
        clip += 1;
        saidAtMs = clock.nowMs();
        enter('waiting');
      }
      return frame;
    },
    over() {
      // A pause within a question ends a turn early; the question that is still being asked goes on.
      if (state === 'waiting') enter('pausing');
    },
    shut: () => void (state = 'shut'),
    isShut: () => state === 'shut',
  };
}

async function listen(
  client: LiveClient,
  { log, clock, mouth }: { readonly log: SpeakerLog; readonly clock: Clock; readonly mouth: Mouth },
): Promise<void> {
  let endedMs: number | null = null;
  try {
    for await (const event of client.events) {
      if (event.type === 'speech.stopped') endedMs = clock.nowMs();
      if (event.type === 'evidence' && event.round === 1 && endedMs !== null) {
        log.evidenceWallMs.push(clock.nowMs() - endedMs);
        if (mouth.saidAtMs !== null) log.evidenceHeardMs.push(clock.nowMs() - mouth.saidAtMs);
        // A second list of the same turn, with words, is no first evidence.
        endedMs = null;
      }
      note(event, log, mouth);
    }
  } finally {
    mouth.shut();
  }
}

function note(event: ServerEvent, log: SpeakerLog, mouth: Mouth): void {
  switch (event.type) {
    case 'turn.done': {
      const { firstEvidenceAfterEndMs, doneMs, endpointWaitMs } = event.timings;
      if (firstEvidenceAfterEndMs !== null) log.evidenceServerMs.push(firstEvidenceAfterEndMs);
      log.doneMs.push(doneMs - endpointWaitMs);
      if (event.stopReason === 'failed' || event.stopReason === 'deadline')
        count(log.errors, event.stopReason);
      else log.answered += 1;
      mouth.over();
      return;
    }
    case 'turn.rejected':
      count(log.rejected, event.reason);
      mouth.over();
      return;
    case 'turn.cancelled':
      count(log.rejected, `cancelled:${event.reason}`);
      return;
    case 'error':
      count(log.errors, event.code);
      return;
    default:
      return;
  }
}

export function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

export function until(clock: Clock, momentMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(Math.max(0, momentMs - clock.nowMs()), resolve));
}
