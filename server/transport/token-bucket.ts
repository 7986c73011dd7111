import type { Clock } from '../clock.js';

/** Says whether one more of something is within its rate. */
export interface TokenBucket {
  /** Takes one; false when there is none left. */
  take(): boolean;
}

export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Refilled a second. */
  readonly perSecond: number;
  /** Held when full: what may come at once after a pause. */
  readonly burst: number;
}

export function createTokenBucket({ clock, perSecond, burst }: TokenBucketOptions): TokenBucket {
  let tokens = burst;
  let lastMs = clock.nowMs();
  return {
    take() {
      const nowMs = clock.nowMs();
      tokens = Math.min(burst, tokens + ((nowMs - lastMs) / 1_000) * perSecond);
      lastMs = nowMs;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
