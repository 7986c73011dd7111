/**
 * PORT. Tells speech from other sound, one stream per detector.
 * Contract: `detect` takes exactly `windowSamples` samples at 16 kHz in −1 … 1 and resolves to a probability 0 … 1;
 * calls are answered in order; `reset` forgets the stream; after `close` calls reject with `wrong_state`.
 */
export interface VoiceDetector {
  readonly windowSamples: number;
  detect(window: Float32Array): Promise<number>;
  reset(): void;
  close(): void;
}
