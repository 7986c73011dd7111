import type { VadSettings } from '../../shared/protocol.js';
import { EAR_RATE_HZ } from './windower.js';

/** Samples of one detector window (32 ms at 16 kHz). */
export const DETECTOR_WINDOW_SAMPLES = 512;

/** What a voice detector said of one window. All indexes are samples at 16 kHz from the start of the stream. */
export interface HeardWindow {
  readonly sampleIndex: number;
  /** 0 … 1. Anything else (−1, NaN, null) means that the detector does not know yet, which is not silence. */
  readonly probability: number | null;
}

export type EndReason = 'silence' | 'max_duration' | 'idle' | 'commit';

/** A piece of the stream; ends are exclusive. `lastVoicedSample` is the true end of speech, t0 of the timings. */
interface Span {
  readonly startSample: number;
  readonly endSample: number;
  readonly lastVoicedSample: number;
  readonly voicedMs: number;
}

export type SegmentEvent =
  /** `sampleIndex` is where the kept sound begins (pre-roll included), `onsetSample` where the voice begins. */
  | { readonly type: 'started'; readonly sampleIndex: number; readonly onsetSample: number }
  /** Enough silence to encode in advance; an `ended` by silence has the same start and end. */
  | { readonly type: 'speculate'; readonly startSample: number; readonly endSample: number }
  /** The voice went on, or the segment was cleared: the speculative encoding is of no use. */
  | { readonly type: 'speculationDropped' }
  | (Span & { readonly type: 'ended'; readonly reason: EndReason })
  | (Span & {
      readonly type: 'rejected';
      readonly reason: 'too_short' | 'noise';
      readonly endReason: EndReason;
    });

/** A pure state machine: voice probabilities in, segments out. Every call returns the events it causes, in order. */
export interface Segmenter {
  /** Whether a segment is open. */
  readonly open: boolean;
  /** One window; windows follow each other without a gap. */
  push(window: HeardWindow): SegmentEvent[];
  /** No frame has come for `idleMs` on the wall clock: ends an open segment at `nowSample`, the end of what was heard. */
  idle(nowSample: number): SegmentEvent[];
  /** The client says that the utterance is complete: always an `ended` or a `rejected`, even when nothing was heard. */
  commit(nowSample: number): SegmentEvent[];
  /** Forgets the open segment. */
  clear(): SegmentEvent[];
  /** New settings, from the next window on, for an open segment too. */
  configure(settings: VadSettings): void;
}

/** Pause inside a spelled number at the least, milliseconds; people who read digits pause longer than people who speak. */
const DIGITS_END_SILENCE_MS = 1_200;
/** Sound kept after the last voiced sample where nothing is encoded in advance, milliseconds: final consonants are quiet. */
const TAIL_MS = 200;
/** How long a detector may stay without an answer within a segment before that counts as silence, milliseconds. */
const UNKNOWN_PATIENCE_MS = 1_000;
/** A segment whose voiced windows are on average this little above the threshold is noise: speech is 0.3 and more above. */
const NOISE_MARGIN = 0.08;
/** A segment of which less than this share is voiced is noise; ten short digits with long pauses have a quarter. */
const NOISE_SHARE = 0.12;

const toSamples = (ms: number): number => Math.round((ms * EAR_RATE_HZ) / 1_000);
const toMs = (samples: number): number => (samples * 1_000) / EAR_RATE_HZ;

interface OpenSegment {
  readonly startSample: number;
  readonly onsetSample: number;
  voicedWindows: number;
  voicedProbability: number;
  /** Where the last voiced window ended. */
  lastVoicedSample: number;
  /** Silent or undecided samples since then. */
  silentSamples: number;
  unknownSamples: number;
  speculatedEnd: number | null;
}

interface State {
  settings: VadSettings;
  segment: OpenSegment | null;
  /** No segment may begin before this sample: it belongs to an earlier one. */
  floorSample: number;
  /** Start of the run of unknown windows just before now, while no segment is open. */
  unknownSince: number | null;
  /** Set where a segment was cut for its length: a merely continuing voice opens the next one there. */
  cutSample: number | null;
}

/**
 * Hysteresis: a window at `onThreshold` opens a segment, one below `offThreshold` begins a pause, one at `onThreshold` ends
 * the pause; `endSilenceMs` of pause ends the segment. A segment of `maxSegmentMs` is ended whatever is heard, and the next
 * voiced window begins the next one where it was cut, so nothing is lost and memory stays bounded.
 */
export function createSegmenter(settings: VadSettings): Segmenter {
  const state: State = { settings, segment: null, floorSample: 0, unknownSince: null, cutSample: null };
  return {
    get open() {
      return state.segment !== null;
    },
    push(window) {
      const started = state.segment ? [] : listen(state, window);
      return state.segment ? [...started, ...advance(state, state.segment, window)] : started;
    },
    idle: (nowSample) => endNow(state, nowSample, 'idle'),
    commit(nowSample) {
      const events = endNow(state, nowSample, 'commit');
      return events.length > 0 ? events : [nothingHeard(nowSample)];
    },
    clear() {
      const events = state.segment ? dropSpeculation(state.segment) : [];
      Object.assign(state, { segment: null, cutSample: null, unknownSince: null });
      return events;
    },
    configure(next) {
      state.settings = next;
    },
  };
}

/** A window while no segment is open. */
function listen(state: State, { sampleIndex, probability }: HeardWindow): SegmentEvent[] {
  const { cutSample, unknownSince, settings } = state;
  state.cutSample = null;
  if (!isKnown(probability)) {
    state.unknownSince ??= sampleIndex;
    return [];
  }
  state.unknownSince = null;
  if (cutSample !== null && probability >= settings.offThreshold) return [openAt(state, cutSample, 0)];
  if (probability < settings.onThreshold) return [];
  // Nobody listened during a warm-up, so a voice right after it may have begun anywhere within.
  return [openAt(state, unknownSince ?? sampleIndex, settings.preRollMs)];
}

function openAt(state: State, onsetSample: number, preRollMs: number): SegmentEvent {
  const startSample = Math.max(state.floorSample, onsetSample - toSamples(preRollMs));
  state.segment = {
    startSample,
    onsetSample,
    voicedWindows: 0,
    voicedProbability: 0,
    lastVoicedSample: onsetSample,
    silentSamples: 0,
    unknownSamples: 0,
    speculatedEnd: null,
  };
  return { type: 'started', sampleIndex: startSample, onsetSample };
}

/** A window while a segment is open. */
function advance(state: State, current: OpenSegment, window: HeardWindow): SegmentEvent[] {
  const { settings } = state;
  const endOfWindow = window.sampleIndex + DETECTOR_WINDOW_SAMPLES;
  count(current, window, settings);
  const events = current.silentSamples === 0 ? dropSpeculation(current) : [];
  if (endOfWindow - current.startSample >= toSamples(settings.maxSegmentMs)) {
    state.cutSample = current.silentSamples === 0 ? endOfWindow : null;
    return [...events, ...dropSpeculation(current), finish(state, endOfWindow, 'max_duration')];
  }
  events.push(...speculate(current, settings));
  if (current.silentSamples >= toSamples(endSilenceMs(settings))) {
    events.push(finish(state, endOfPause(current, settings), 'silence'));
  }
  return events;
}

/** Ends an open segment from outside; without one, what was heard so far belongs to no later segment. */
function endNow(state: State, nowSample: number, reason: 'idle' | 'commit'): SegmentEvent[] {
  state.cutSample = null;
  state.unknownSince = null;
  const current = state.segment;
  if (!current) {
    state.floorSample = Math.max(state.floorSample, nowSample);
    return [];
  }
  const encoded = current.speculatedEnd !== null;
  const endSample = encoded ? endOfPause(current, state.settings) : Math.max(nowSample, current.onsetSample);
  const ended = finish(state, endSample, reason);
  state.floorSample = Math.max(state.floorSample, nowSample);
  return [ended];
}

/** Closes the open segment; the caller knows that there is one. */
function finish(state: State, endSample: number, reason: EndReason): SegmentEvent {
  const current = state.segment as OpenSegment;
  state.segment = null;
  state.floorSample = Math.max(state.floorSample, endSample);
  const span: Span = {
    startSample: current.startSample,
    endSample,
    lastVoicedSample: Math.min(current.lastVoicedSample, endSample),
    voicedMs: toMs(current.voicedWindows * DETECTOR_WINDOW_SAMPLES),
  };
  const fault = faultOf(current, state.settings, reason);
  return fault
    ? { type: 'rejected', ...span, reason: fault, endReason: reason }
    : { type: 'ended', ...span, reason };
}

function isKnown(probability: number | null): probability is number {
  return probability !== null && probability >= 0 && probability <= 1;
}

/** Adds one window to the open segment's counts. */
function count(current: OpenSegment, { sampleIndex, probability }: HeardWindow, settings: VadSettings): void {
  if (!isKnown(probability)) {
    current.unknownSamples += DETECTOR_WINDOW_SAMPLES;
    if (current.unknownSamples > toSamples(UNKNOWN_PATIENCE_MS)) {
      current.silentSamples += DETECTOR_WINDOW_SAMPLES;
    }
    return;
  }
  current.unknownSamples = 0;
  const paused = current.silentSamples > 0;
  const voiced = probability >= (paused ? settings.onThreshold : settings.offThreshold);
  if (!voiced) {
    current.silentSamples += DETECTOR_WINDOW_SAMPLES;
    return;
  }
  current.silentSamples = 0;
  current.voicedWindows += 1;
  current.voicedProbability += probability;
  current.lastVoicedSample = sampleIndex + DETECTOR_WINDOW_SAMPLES;
}

function endSilenceMs(settings: VadSettings): number {
  return settings.digits ? Math.max(DIGITS_END_SILENCE_MS, settings.endSilenceMs) : settings.endSilenceMs;
}

/** Where the sound of a segment that pauses now ends: where it was encoded in advance, else a tail after the voice. */
function endOfPause(current: OpenSegment, settings: VadSettings): number {
  if (current.speculatedEnd !== null) return current.speculatedEnd;
  return (
    current.lastVoicedSample +
    Math.min(toSamples(TAIL_MS), current.silentSamples, toSamples(endSilenceMs(settings)))
  );
}

function speculate(current: OpenSegment, settings: VadSettings): SegmentEvent[] {
  const enough = current.voicedWindows * DETECTOR_WINDOW_SAMPLES >= toSamples(settings.minSpeechMs);
  const waited = settings.speculateMs > 0 && current.silentSamples >= toSamples(settings.speculateMs);
  if (!enough || !waited || current.speculatedEnd !== null) return [];
  if (settings.speculateMs >= endSilenceMs(settings)) return [];
  current.speculatedEnd = current.lastVoicedSample + toSamples(settings.speculateMs);
  return [{ type: 'speculate', startSample: current.startSample, endSample: current.speculatedEnd }];
}

function dropSpeculation(current: OpenSegment): SegmentEvent[] {
  if (current.speculatedEnd === null) return [];
  current.speculatedEnd = null;
  return [{ type: 'speculationDropped' }];
}

/** Why a finished segment is no question; null when it may be one. A commit is a person's own word that it is no noise. */
function faultOf(
  current: OpenSegment,
  settings: VadSettings,
  reason: EndReason,
): 'too_short' | 'noise' | null {
  const voicedMs = toMs(current.voicedWindows * DETECTOR_WINDOW_SAMPLES);
  if (current.voicedWindows === 0 || voicedMs < settings.minSpeechMs) return 'too_short';
  if (reason === 'commit') return null;
  const meanProbability = current.voicedProbability / current.voicedWindows;
  const span = Math.max(1, (current.lastVoicedSample - current.onsetSample) / DETECTOR_WINDOW_SAMPLES);
  const uncertain = meanProbability < settings.onThreshold + NOISE_MARGIN;
  return uncertain || current.voicedWindows / span < NOISE_SHARE ? 'noise' : null;
}

function nothingHeard(nowSample: number): SegmentEvent {
  return {
    type: 'rejected',
    startSample: nowSample,
    endSample: nowSample,
    lastVoicedSample: nowSample,
    voicedMs: 0,
    reason: 'too_short',
    endReason: 'commit',
  };
}
