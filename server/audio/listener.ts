import type { AudioFrame } from '../../shared/audio-frame.js';
import type { AudioFormat, VadSettings } from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import { toAuscultError, type AuscultError } from '../errors.js';
import { createHeardSound, type HeardSound } from './heard-sound.js';
import { createIntake, type Intake } from './intake.js';
import { createSerialQueue } from './serial-queue.js';
import { createStreamWatch } from './stream-watch.js';
import { createSegmenter, DETECTOR_WINDOW_SAMPLES, type SegmentEvent } from './segmenter.js';
import type { VoiceDetector } from './voice-detector.js';
import { EAR_RATE_HZ } from './windower.js';

/** What is heard in a stream of sound. Times called `speechMs` are audio time from the start of the stream. */
export type ListenerEvent =
  | { readonly type: 'started'; readonly speechMs: number }
  | {
      readonly type: 'level';
      readonly rms: number;
      readonly speechProbability: number;
      readonly voicedMs: number;
    }
  /** An utterance that may be complete: 16 kHz mono. */
  | { readonly type: 'speculate'; readonly samples: Float32Array }
  | { readonly type: 'speculationDropped' }
  | { readonly type: 'stopped'; readonly speechMs: number; readonly reason: EndReason }
  | {
      readonly type: 'utterance';
      readonly samples: Float32Array;
      readonly voicedMs: number;
      readonly endpoint: {
        readonly t0Ms: number;
        readonly declaredMs: number;
        readonly setting: string;
        readonly decodeMs: number;
      };
    }
  | { readonly type: 'rejected'; readonly reason: 'too_short' | 'noise'; readonly message: string }
  | { readonly type: 'gap'; readonly ms: number }
  | { readonly type: 'stalled'; readonly silentMs: number }
  | { readonly type: 'resumed'; readonly stalledMs: number }
  | { readonly type: 'failed'; readonly error: AuscultError };

type EndReason = 'silence' | 'max_duration' | 'idle' | 'commit';

export interface ListenerOptions {
  readonly format: AudioFormat;
  readonly vad: VadSettings;
  readonly clock: Clock;
  readonly detector: VoiceDetector;
  readonly hear: (event: ListenerEvent) => void;
}

/** Messages in, events out, strictly in the order of sound; nothing of it throws, faults are `failed` events. */
export interface Listener {
  push(bytes: Uint8Array, frame: AudioFrame | null): void;
  /** Ends the utterance now; always answered by an utterance or a rejection. */
  commit(): void;
  clear(): void;
  configure(vad: VadSettings): void;
  close(): Promise<void>;
}

const REJECTIONS = {
  too_short: 'No speech that is long enough was heard; speak a whole question, closer to the microphone.',
  noise:
    'That sounded like noise rather than speech; try again in a quieter place or closer to the microphone.',
} as const;

/** Setting to blame for the wait between the last voiced sample and the declared end. */
const BLAME: Record<EndReason, string> = {
  silence: 'vad.endSilenceMs',
  max_duration: 'vad.maxSegmentMs',
  idle: 'vad.idleMs',
  commit: 'input_audio.commit',
};

const toMs = (samples: number): number => (samples * 1_000) / EAR_RATE_HZ;

/** Sound → detector windows → segments, with the samples of each. Holds at most one longest segment of sound. */
export function createListener(options: ListenerOptions): Listener {
  const { clock, detector, hear } = options;
  let vad = options.vad;
  const sound = createHeardSound(vad);
  const segmenter = createSegmenter(vad);
  const teller = createTeller(options, sound);
  const intake: Promise<Intake> = createIntake(options.format);
  // Its failure is reported with the first sound.
  intake.catch(() => undefined);
  const queue = createSerialQueue((error) => hear({ type: 'failed', error: toAuscultError(error) }));
  let detected = 0;
  const watch = createStreamWatch({
    clock,
    idleMs: () => vad.idleMs,
    onIdle: () => queue.add(() => segmenter.idle(sound.endSample).forEach((event) => teller.tell(event))),
    onStalled: (silentMs) => hear({ type: 'stalled', silentMs }),
    onResumed: (stalledMs) => hear({ type: 'resumed', stalledMs }),
  });

  async function take(bytes: Uint8Array, frame: AudioFrame | null, arrivedMs: number): Promise<void> {
    const source = await intake;
    const startedMs = clock.nowMs();
    const { samples, gapMs, backMs } = source.take(bytes, frame);
    teller.decodeMs = clock.nowMs() - startedMs;
    if (gapMs > 0) hear({ type: 'gap', ms: gapMs });
    if (backMs > 0) detector.reset();
    // A long message is heard in pieces, so that never more than a segment has to be held.
    for (let at = 0; at < samples.length; at += EAR_RATE_HZ) {
      sound.write(samples.subarray(at, at + EAR_RATE_HZ), arrivedMs);
      await detect();
    }
  }

  async function detect(): Promise<void> {
    for (; detected + DETECTOR_WINDOW_SAMPLES <= sound.endSample; detected += DETECTOR_WINDOW_SAMPLES) {
      const window = sound.read(detected, detected + DETECTOR_WINDOW_SAMPLES);
      const probability = await detector.detect(window);
      segmenter.push({ sampleIndex: detected, probability }).forEach((event) => teller.tell(event));
      teller.level(window, probability, segmenter.open && probability >= vad.offThreshold);
    }
  }

  return {
    push(bytes, frame) {
      watch.arrived();
      const arrivedMs = clock.nowMs();
      queue.add(() => take(bytes, frame, arrivedMs));
    },
    commit: () => {
      watch.stop();
      queue.add(() => segmenter.commit(sound.endSample).forEach((event) => teller.commit(event)));
    },
    clear: () => queue.add(() => segmenter.clear().forEach((event) => teller.tell(event))),
    configure(next) {
      vad = next;
      queue.add(() => {
        segmenter.configure(next);
        sound.resize(next);
      });
    },
    async close() {
      watch.stop();
      queue.stop();
      await queue.idle();
      detector.close();
      await intake.then((source) => source.close()).catch(() => undefined);
    },
  };
}

/** Segment events, told with their sound and their times. */
interface Teller {
  /** Spent on decoding and resampling the latest message: what a last one adds after the last voice. */
  decodeMs: number;
  tell(event: SegmentEvent): void;
  /** The answer to a commit: an utterance that has just ended by itself is answer enough. */
  commit(event: SegmentEvent): void;
  level(window: Float32Array, probability: number, voiced: boolean): void;
}

function createTeller({ clock, hear }: ListenerOptions, sound: HeardSound): Teller {
  /** Voiced time of the open segment. */
  let voicedMs = 0;
  let endedSinceCommit = false;

  function ended(event: Extract<SegmentEvent, { type: 'ended' }>, decodeMs: number): void {
    hear({ type: 'stopped', speechMs: toMs(event.lastVoicedSample), reason: event.reason });
    const declaredMs = clock.nowMs();
    const t0Ms = Math.min(declaredMs, sound.arrivedMs(event.lastVoicedSample) ?? declaredMs);
    const setting = BLAME[event.reason];
    const endpoint = { t0Ms, declaredMs, setting, decodeMs: Math.min(decodeMs, declaredMs - t0Ms) };
    const samples = sound.read(event.startSample, event.endSample);
    hear({ type: 'utterance', samples, voicedMs: event.voicedMs, endpoint });
  }

  return {
    decodeMs: 0,
    tell(event) {
      switch (event.type) {
        case 'started':
          voicedMs = 0;
          return hear({ type: 'started', speechMs: toMs(event.onsetSample) });
        case 'speculate':
          return hear({ type: 'speculate', samples: sound.read(event.startSample, event.endSample) });
        case 'speculationDropped':
          return hear({ type: 'speculationDropped' });
        case 'rejected':
          voicedMs = 0;
          endedSinceCommit = true;
          if (event.voicedMs > 0) {
            hear({ type: 'stopped', speechMs: toMs(event.lastVoicedSample), reason: event.endReason });
          }
          return hear({ type: 'rejected', reason: event.reason, message: REJECTIONS[event.reason] });
        case 'ended':
          voicedMs = 0;
          endedSinceCommit = true;
          return ended(event, this.decodeMs);
      }
    },
    commit(event) {
      const nothingOpen = event.type === 'rejected' && event.voicedMs === 0;
      if (!nothingOpen || !endedSinceCommit) this.tell(event);
      endedSinceCommit = false;
    },
    level(window, probability, voiced) {
      if (voiced) voicedMs += toMs(DETECTOR_WINDOW_SAMPLES);
      hear({ type: 'level', rms: rms(window), speechProbability: Math.max(0, probability) || 0, voicedMs });
    },
  };
}

/** Root mean square, 0 … 1. */
function rms(samples: Float32Array): number {
  let sum = 0;
  for (const value of samples) sum += value * value;
  return Math.sqrt(sum / Math.max(1, samples.length));
}
