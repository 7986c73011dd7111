import workletUrl from './capture-worklet.ts?worker&url';

/** Highest rate that the wire takes. */
const MAX_RATE_HZ = 48_000;

/** Sound of a stream as frames. The rate is that of the device, and stays the same for the graph's life. */
export interface CaptureGraph {
  readonly rateHz: number;
  readonly state: 'running' | 'suspended' | 'interrupted' | 'closed';
  /** Hears every change of `state`. */
  onState(heard: () => void): void;
  /** To be called in a click or key press, where browsers allow sound to start. */
  resume(): Promise<void>;
  /** Captures from this stream instead of the former one. */
  connect(stream: MediaStream): void;
  close(): void;
}

export type CreateCaptureGraph = (
  stream: MediaStream,
  onFrame: (samples: Int16Array) => void,
) => Promise<CaptureGraph>;

/** Web Audio with a worklet; rejects when the browser has none or does not load it. */
export const createCaptureGraph: CreateCaptureGraph = async (stream, onFrame) => {
  const context = openContext(stream.getAudioTracks()[0]?.getSettings().sampleRate);
  try {
    await context.audioWorklet.addModule(workletUrl);
    const node = new AudioWorkletNode(context, 'capture', {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    node.port.onmessage = (message: MessageEvent<Int16Array>) => onFrame(message.data);
    let source = context.createMediaStreamSource(stream);
    source.connect(node);
    await context.resume();
    return {
      rateHz: context.sampleRate,
      // Safari has a fourth state, `interrupted`, for calls and other apps.
      get state() {
        return context.state;
      },
      onState: (heard) => context.addEventListener('statechange', heard),
      resume: () => context.resume(),
      connect(next) {
        source.disconnect();
        source = context.createMediaStreamSource(next);
        source.connect(node);
      },
      close() {
        node.port.onmessage = null;
        source.disconnect();
        void context.close();
      },
    };
  } catch (fault) {
    void context.close();
    throw fault;
  }
};

/** At the device's own rate, where the browser tells it; else at the context's. Only what the wire cannot carry is lowered. */
function openContext(deviceHz: number | undefined): AudioContext {
  const wanted = deviceHz === undefined ? undefined : Math.min(deviceHz, MAX_RATE_HZ);
  try {
    if (wanted !== undefined && wanted >= 8_000)
      return new AudioContext({ sampleRate: wanted, latencyHint: 'interactive' });
  } catch {
    // This browser does not open a context at that rate.
  }
  const context = new AudioContext({ latencyHint: 'interactive' });
  if (context.sampleRate <= MAX_RATE_HZ) return context;
  void context.close();
  return new AudioContext({ sampleRate: MAX_RATE_HZ });
}
