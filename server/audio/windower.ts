/** The ear's rate. */
export const EAR_RATE_HZ = 16_000;
/** Longest window the ear hears, samples (8 s). */
export const WINDOW_SAMPLES = 128_000;
/** Distance between the starts of windows of a longer utterance, samples (4 s). */
export const HOP_SAMPLES = 64_000;

/** Part of an utterance, samples from its start; the end is exclusive. */
export interface SampleWindow {
  readonly startSample: number;
  readonly endSample: number;
}

/**
 * Windows of an utterance of `sampleCount` samples at 16 kHz: one up to 8 s, else 8 s windows every 4 s, the last flush with
 * the end (STeReO: several windows with the maximum taken beat one truncated window). Together they hold every sample.
 */
export function windowsOf(sampleCount: number): SampleWindow[] {
  if (sampleCount <= 0) return [];
  if (sampleCount <= WINDOW_SAMPLES) return [{ startSample: 0, endSample: sampleCount }];
  const windows: SampleWindow[] = [];
  for (let startSample = 0; startSample + WINDOW_SAMPLES < sampleCount; startSample += HOP_SAMPLES) {
    windows.push({ startSample, endSample: startSample + WINDOW_SAMPLES });
  }
  windows.push({ startSample: sampleCount - WINDOW_SAMPLES, endSample: sampleCount });
  return windows;
}

/** The same windows in milliseconds from the start of the utterance, for events and traces. */
export function windowTimes(windows: readonly SampleWindow[]): { startMs: number; endMs: number }[] {
  const toMs = (samples: number): number => (samples * 1_000) / EAR_RATE_HZ;
  return windows.map(({ startSample, endSample }) => ({
    startMs: toMs(startSample),
    endMs: toMs(endSample),
  }));
}
