/** Lengths of speech over an answer, milliseconds. */
export interface BargeInSettings {
  /** Speech shorter than this is a cough or "mhm": the answer goes on. Default 250. */
  readonly pauseMs: number;
  /** Speech of this length is a new question: the answer is cancelled. Default 600. */
  readonly cancelMs: number;
}

export const BARGE_IN_DEFAULTS: BargeInSettings = { pauseMs: 250, cancelMs: 600 };

export type BargeInDecision = 'none' | 'pause' | 'resume' | 'cancel';

/** Decides, from how long somebody has been speaking over an answer, what becomes of the answer. Pure. */
export interface BargeIn {
  /** Speech over the answer has lasted `voicedMs`; called as it grows. */
  speaking(voicedMs: number): BargeInDecision;
  /** It has stopped. */
  stopped(): BargeInDecision;
  /** The answer is over; the next one begins afresh. */
  reset(): void;
  /** Whether the speech that is stopping now was only over an answer, not a question. */
  readonly state: 'listening' | 'paused' | 'cancelled';
}

export function createBargeIn(settings: BargeInSettings = BARGE_IN_DEFAULTS): BargeIn {
  let state: BargeIn['state'] = 'listening';
  return {
    speaking(voicedMs) {
      if (state === 'cancelled') return 'none';
      if (voicedMs >= settings.cancelMs) {
        state = 'cancelled';
        return 'cancel';
      }
      if (state === 'listening' && voicedMs >= settings.pauseMs) {
        state = 'paused';
        return 'pause';
      }
      return 'none';
    },
    stopped() {
      if (state !== 'paused') return 'none';
      state = 'listening';
      return 'resume';
    },
    reset() {
      state = 'listening';
    },
    get state() {
      return state;
    },
  };
}
