import type { AudioFrame } from '../../shared/audio-frame.js';
import type { AudioFormat, VadSettings } from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import { toAuscultError, type AuscultError } from '../errors.js';
import { createArrivals } from './arrivals.js';
import { createIntake, type Intake } from './intake.js';
import { createSampleRing, type SampleRing } from './sample-ring.js';
import { createSerialQueue } from './serial-queue.js';
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

/** A stream without any message for this many idle times is reported as stalled. */
const STALL_IDLE_TIMES = 2;

const toMs = (samples: number): number => (samples * 1_000) / EAR_RATE_HZ;

/** Sound → detector windows → segments, with the samples of each. Holds at most one longest segment of sound. */
export function createListener(options: ListenerOptions): Listener {
  const { clock, detector, hear } = options;
  let vad = options.vad;
  const segmenter = createSegmenter(vad);
  // Made with the first sound: an idle session holds none.
  let ring: SampleRing | null = null;
  const heardEnd = (): number => ring?.endSample ?? 0;
  const sound = (startSample: number, endSample: number): Float32Array =>
    ring?.read(startSample, endSample).samples ?? new Float32Array(0);
  const arrivals = createArrivals();
  const intake: Promise<Intake> = createIntake(options.format);
  intake.catch(() => undefined);
  const queue = createSerialQueue((error) => hear({ type: 'failed', error: toAuscultError(error) }));
  let detected = 0;
  let voicedMs = 0;
  /** Spent on decoding and resampling the latest message: what a last one adds after the last voice. */
  let decodeMs = 0;
  let lastMessageMs: number | null = null;
  let stalledSinceMs: number | null = null;
  let cancelWatch = (): void => undefined;

  function tell(event: SegmentEvent): void {
    switch (event.type) {
      case 'started':
        voicedMs = 0;
        return hear({ type: 'started', speechMs: toMs(event.onsetSample) });
      case 'speculate':
        return hear({ type: 'speculate', samples: sound(event.startSample, event.endSample) });
      case 'speculationDropped':
        return hear({ type: 'speculationDropped' });
      case 'rejected':
        if (event.voicedMs > 0)
          hear({ type: 'stopped', speechMs: toMs(event.lastVoicedSample), reason: event.endReason });
        return hear({ type: 'rejected', reason: event.reason, message: REJECTIONS[event.reason] });
      case 'ended': {
        hear({ type: 'stopped', speechMs: toMs(event.lastVoicedSample), reason: event.reason });
        const declaredMs = clock.nowMs();
        const t0Ms = Math.min(declaredMs, arrivals.timeOf(event.lastVoicedSample) ?? declaredMs);
        const endpoint = {
          t0Ms,
          declaredMs,
          setting: BLAME[event.reason],
          decodeMs: Math.min(decodeMs, declaredMs - t0Ms),
        };
        return hear({
          type: 'utterance',
          samples: sound(event.startSample, event.endSample),
          voicedMs: event.voicedMs,
          endpoint,
        });
      }
    }
  }

  async function take(bytes: Uint8Array, frame: AudioFrame | null, arrivedMs: number): Promise<void> {
    const source = await intake;
    const startedMs = clock.nowMs();
    const { samples, gapMs, backMs } = source.take(bytes, frame);
    decodeMs = clock.nowMs() - startedMs;
    if (gapMs > 0) hear({ type: 'gap', ms: gapMs });
    if (backMs > 0) detector.reset();
    // A long message is heard in pieces, so that the ring never has to hold more than a segment.
    ring ??= createSampleRing(ringSamples(vad));
    for (let at = 0; at < samples.length; at += EAR_RATE_HZ) {
      ring.write(samples.subarray(at, at + EAR_RATE_HZ));
      arrivals.note(ring.endSample, arrivedMs);
      await detect();
    }
  }

  async function detect(): Promise<void> {
    for (; detected + DETECTOR_WINDOW_SAMPLES <= heardEnd(); detected += DETECTOR_WINDOW_SAMPLES) {
      const window = sound(detected, detected + DETECTOR_WINDOW_SAMPLES);
      const probability = await detector.detect(window);
      segmenter.push({ sampleIndex: detected, probability }).forEach(tell);
      if (probability >= vad.offThreshold && segmenter.open) voicedMs += toMs(DETECTOR_WINDOW_SAMPLES);
      hear({
        type: 'level',
        rms: rms(window),
        speechProbability: Math.max(0, probability) || 0,
        voicedMs: segmenter.open ? voicedMs : 0,
      });
    }
  }

  /** Once sound has begun, looks after a stream that falls silent without saying so: on the wall clock, not on samples. */
  function watch(): void {
    cancelWatch();
    cancelWatch = clock.after(vad.idleMs, () => {
      const silentMs = clock.nowMs() - (lastMessageMs ?? clock.nowMs());
      queue.add(() => segmenter.idle(heardEnd()).forEach(tell));
      cancelWatch = clock.after(vad.idleMs * (STALL_IDLE_TIMES - 1), () => {
        stalledSinceMs = lastMessageMs;
        hear({ type: 'stalled', silentMs: silentMs * STALL_IDLE_TIMES });
      });
    });
  }

  return {
    push(bytes, frame) {
      const nowMs = clock.nowMs();
      if (stalledSinceMs !== null) {
        hear({ type: 'resumed', stalledMs: nowMs - stalledSinceMs });
        stalledSinceMs = null;
      }
      lastMessageMs = nowMs;
      watch();
      queue.add(() => take(bytes, frame, nowMs));
    },
    commit: () => {
      cancelWatch();
      queue.add(() => segmenter.commit(heardEnd()).forEach(tell));
    },
    clear: () => queue.add(() => segmenter.clear().forEach(tell)),
    configure(next) {
      vad = next;
      queue.add(() => {
        segmenter.configure(next);
        if (ring && ring.capacity < ringSamples(next)) ring = grown(ring, ringSamples(next));
      });
    },
    async close() {
      cancelWatch();
      queue.stop();
      await queue.idle();
      detector.close();
      await intake.then((source) => source.close()).catch(() => undefined);
    },
  };
}

/** Root mean square, 0 … 1. */
function rms(samples: Float32Array): number {
  let sum = 0;
  for (const value of samples) sum += value * value;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** Sound that may be asked for: the longest segment, its pre-roll, and a second in hand. */
function ringSamples(vad: VadSettings): number {
  return Math.ceil(((vad.maxSegmentMs + vad.preRollMs + 1_000) * EAR_RATE_HZ) / 1_000);
}

/** A larger ring with what the smaller one still held, at the same indexes. */
function grown(ring: SampleRing, capacity: number): SampleRing {
  const larger = createSampleRing(capacity);
  const { samples, startSample } = ring.read(ring.startSample, ring.endSample);
  larger.reset(startSample);
  larger.write(samples);
  return larger;
}
