import type { CaptureGraph, CreateCaptureGraph } from './capture-graph.js';
import type { Timers } from './timers.js';

/** Why nothing is heard, for words.ts to say. */
export type MicrophoneTrouble =
  'insecure' | 'denied' | 'none' | 'busy' | 'unsupported' | 'suspended' | 'silent' | 'muted' | 'lost';

export class MicrophoneError extends Error {
  override readonly name = 'MicrophoneError';
  constructor(
    readonly trouble: MicrophoneTrouble,
    options?: ErrorOptions,
  ) {
    super(`microphone: ${trouble}`, options);
  }
}

export interface MicrophoneOptions {
  /** 20 ms of 16-bit samples. */
  readonly onFrame: (samples: Int16Array) => void;
  /** Something is wrong while it listens; null: it is well again. */
  readonly onTrouble: (trouble: MicrophoneTrouble | null) => void;
  readonly timers: Timers;
  readonly createGraph: CreateCaptureGraph;
  /** `navigator.mediaDevices`; undefined where the page is not secure. */
  readonly devices: Pick<MediaDevices, 'getUserMedia'> | undefined;
}

export interface Microphone {
  /** The device's own rate, to be declared to the server. */
  readonly rateHz: number;
  /** A way back from `suspended` and `silent`; to be called in a click or key press. */
  resume(): Promise<void>;
  /** Lets go of the device: its light goes out. */
  stop(): void;
}

/** Without any frame for this long, something between the device and the page is stuck. */
export const SILENT_AFTER_MS = 2_000;

const CONSTRAINTS: MediaStreamConstraints = {
  audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
};

/** Asks for the microphone and listens; rejects with a MicrophoneError when there is none to be had. */
export async function openMicrophone(options: MicrophoneOptions): Promise<Microphone> {
  const stream = await acquire(options.devices);
  const listening = new Listening(options);
  try {
    await listening.begin(stream);
  } catch (cause) {
    stopTracks(stream);
    throw new MicrophoneError('unsupported', { cause });
  }
  return listening;
}

class Listening implements Microphone {
  private graph: CaptureGraph | null = null;
  private stream: MediaStream | null = null;
  private stopped = false;
  private reacquired = false;
  private trouble: MicrophoneTrouble | null = null;
  private callOffWatch = (): void => undefined;

  constructor(private readonly options: MicrophoneOptions) {}

  get rateHz(): number {
    return this.graph?.rateHz ?? 0;
  }

  async begin(stream: MediaStream): Promise<void> {
    this.hold(stream);
    this.graph = await this.options.createGraph(stream, (samples) => this.onFrame(samples));
    this.graph.onState(() => this.onState());
    this.onState();
    this.watch();
  }

  async resume(): Promise<void> {
    await this.graph?.resume();
    this.onState();
    if (!this.stopped) this.watch();
  }

  stop(): void {
    this.stopped = true;
    this.callOffWatch();
    this.graph?.close();
    if (this.stream) stopTracks(this.stream);
    this.stream = null;
  }

  private onFrame(samples: Int16Array): void {
    if (this.stopped) return;
    if (this.trouble === 'silent') this.tell(null);
    this.watch();
    this.options.onFrame(samples);
  }

  private onState(): void {
    if (this.stopped || !this.graph) return;
    const isRunning = this.graph.state === 'running';
    if (!isRunning) this.tell('suspended');
    else if (this.trouble === 'suspended') this.tell(null);
  }

  private watch(): void {
    this.callOffWatch();
    this.callOffWatch = this.options.timers.after(SILENT_AFTER_MS, () => {
      if (this.trouble === null) this.tell('silent');
    });
  }

  /** Takes a stream and looks after its track: unplugged or withdrawn, it is asked for once more. */
  private hold(stream: MediaStream): void {
    this.stream = stream;
    const track = stream.getAudioTracks()[0];
    track?.addEventListener('ended', () => void this.reacquire());
    track?.addEventListener('mute', () => this.tell('muted'));
    track?.addEventListener('unmute', () => this.tell(null));
  }

  private async reacquire(): Promise<void> {
    if (this.stopped) return;
    if (this.reacquired) return this.tell('lost');
    this.reacquired = true;
    try {
      const stream = await acquire(this.options.devices);
      // It may have been told to stop while the device was being opened.
      if (this.wasStopped()) return stopTracks(stream);
      this.hold(stream);
      this.graph?.connect(stream);
      this.tell(null);
      this.watch();
    } catch {
      this.tell('lost');
    }
  }

  private wasStopped(): boolean {
    return this.stopped;
  }

  private tell(trouble: MicrophoneTrouble | null): void {
    if (this.stopped || trouble === this.trouble) return;
    this.trouble = trouble;
    this.options.onTrouble(trouble);
  }
}

async function acquire(devices: MicrophoneOptions['devices']): Promise<MediaStream> {
  if (!devices) throw new MicrophoneError('insecure');
  try {
    return await devices.getUserMedia(CONSTRAINTS);
  } catch (cause) {
    throw new MicrophoneError(troubleOf(cause), { cause });
  }
}

function troubleOf(fault: unknown): MicrophoneTrouble {
  const name = fault instanceof Error ? fault.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'denied';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'none';
  return name === 'NotReadableError' || name === 'AbortError' ? 'busy' : 'unsupported';
}

function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
