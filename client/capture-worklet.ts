import { FrameCutter } from './frame-cutter.js';

// The audio thread has globals of its own, which the library types of a page do not know.
declare const sampleRate: number;
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
  abstract process(inputs: Float32Array[][]): boolean;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

/** Runs on the audio thread: sends the first channel of its input as 20 ms frames of 16-bit samples. */
class Capture extends AudioWorkletProcessor {
  private readonly cutter = new FrameCutter(sampleRate, (samples) =>
    this.port.postMessage(samples, [samples.buffer]),
  );

  process(inputs: Float32Array[][]): boolean {
    const channel = inputs[0]?.[0];
    if (channel) this.cutter.push(channel);
    return true;
  }
}

registerProcessor('capture', Capture);
