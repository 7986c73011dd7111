import type { LiveConnection, SessionWish } from './connection.js';
import { createCaptureGraph } from './capture-graph.js';
import { levelOf } from './frame-cutter.js';
import { MicrophoneError, openMicrophone, type Microphone, type MicrophoneTrouble } from './microphone.js';
import { loadSample, streamSample } from './sample-stream.js';
import type { SoundOutput } from './sound-output.js';
import type { Timers } from './timers.js';
import type { Action, ViewState } from './view-state.js';

export interface Sample {
  readonly id: string;
  readonly text: string;
  /** Address below the page. */
  readonly audio: string;
}

export interface AskingOptions {
  readonly connection: LiveConnection;
  readonly dispatch: (action: Action) => void;
  readonly output: SoundOutput;
  readonly timers: Timers;
  readonly state: () => ViewState;
  readonly drawLevels: (levels: readonly number[]) => void;
}

type Settings = Pick<SessionWish, 'queryMode' | 'contract'>;

/** All ways to ask: by voice, by a recording, in writing; and to stop. */
export interface Asking {
  /** Rate to be declared for the next session. */
  readonly rateHz: number;
  readonly wish: Settings;
  /** Listen on after a question, rather than wait for the next press. */
  keepListening: boolean;
  toggle(): Promise<void>;
  resumeMicrophone(): Promise<void>;
  askSample(sample: Sample): Promise<void>;
  /** False when there is no session. */
  askTyped(text: string): boolean;
  configure(change: Settings): void;
  /** Ends the sound, drops what was heard, and stops the answer. */
  cancel(): void;
  /** Ends the sound only. */
  stop(): void;
  loadSamples(): Promise<readonly Sample[]>;
}

/** Most rates are this one; another device's rate begins another session. */
const USUAL_RATE_HZ = 48_000;
/** Loudness values on the live trace: three seconds. */
const LIVE_POINTS = 150;

export function createAsking(options: AskingOptions): Asking {
  return new Asker(options);
}

class Asker implements Asking {
  rateHz = USUAL_RATE_HZ;
  wish: Settings = {};
  keepListening = false;
  private microphone: Microphone | null = null;
  private stopSample: (() => void) | null = null;
  /** Counts attempts, so that one that was overtaken while it waited knows. */
  private attempt = 0;
  private levels: number[] = [];

  constructor(private readonly options: AskingOptions) {
    const { connection } = options;
    connection.on('speech.started', () => (this.levels = this.levels.slice(-20)));
    connection.on('turn.started', (event) => {
      if (event.source !== 'speech') return;
      options.dispatch({ type: 'heard', levels: this.levels });
      this.levels = [];
      if (!this.keepListening || this.stopSample) this.stop();
    });
    connection.on('turn.rejected', () => {
      if (this.stopSample) this.stop();
    });
  }

  async toggle(): Promise<void> {
    if (this.options.state().source.kind === 'off') return this.listen();
    if (this.microphone) this.options.connection.send({ type: 'input_audio.commit' });
    else this.options.connection.send({ type: 'input_audio.clear' });
    this.stop();
  }

  async resumeMicrophone(): Promise<void> {
    await this.microphone?.resume();
  }

  async askSample(sample: Sample): Promise<void> {
    this.interrupt();
    const mine = this.begin(sample.text);
    try {
      const samples = await loadSample(`/${sample.audio}`, this.rateHz);
      if (mine !== this.attempt) return;
      // It may fail where there is nothing to play on; the question is asked all the same.
      this.options.output.play(`/${sample.audio}`).catch(() => undefined);
      this.options.dispatch({ type: 'source', source: { kind: 'sample', text: sample.text } });
      this.stopSample = streamSample({
        samples,
        rateHz: this.rateHz,
        timers: this.options.timers,
        onFrame: (frame) => this.onFrame(frame),
        onEnd: () => {
          this.options.connection.send({ type: 'input_audio.commit' });
          this.stop();
        },
      });
    } catch {
      this.stop();
      this.options.dispatch({
        type: 'problem',
        problem: 'This sample cannot be loaded. Reload the page, or ask another.',
      });
    }
  }

  askTyped(text: string): boolean {
    if (text === '') return false;
    this.interrupt();
    this.stop();
    if (!this.options.connection.send({ type: 'question.text', text })) return false;
    this.options.dispatch({ type: 'asked', text });
    return true;
  }

  configure(change: Settings): void {
    this.wish = { ...this.wish, ...change };
    this.options.connection.send({ type: 'turn.configure', ...change });
  }

  cancel(): void {
    if (this.options.state().source.kind !== 'off')
      this.options.connection.send({ type: 'input_audio.clear' });
    this.stop();
    this.interrupt();
  }

  stop(): void {
    this.attempt += 1;
    this.microphone?.stop();
    this.microphone = null;
    if (this.stopSample) this.options.output.stop();
    this.stopSample?.();
    this.stopSample = null;
    this.levels = [];
    this.options.drawLevels([]);
    if (this.options.state().source.kind !== 'off')
      this.options.dispatch({ type: 'source', source: { kind: 'off' } });
  }

  async loadSamples(): Promise<readonly Sample[]> {
    const response = await fetch('/samples/samples.json').catch(() => null);
    if (!response?.ok) return [];
    const list: unknown = await response.json();
    return Array.isArray(list) ? list.filter(isSample) : [];
  }

  private async listen(): Promise<void> {
    this.interrupt();
    const mine = this.begin(null);
    try {
      const microphone = await openMicrophone({
        onFrame: (samples) => this.onFrame(samples),
        onTrouble: (trouble) => this.onTrouble(trouble),
        timers: this.options.timers,
        createGraph: createCaptureGraph,
        devices: navigator.mediaDevices,
      });
      if (mine !== this.attempt) return microphone.stop();
      this.microphone = microphone;
      this.declareRate(microphone.rateHz);
      this.options.dispatch({ type: 'source', source: { kind: 'microphone' } });
    } catch (fault) {
      if (mine !== this.attempt) return;
      this.stop();
      const trouble = fault instanceof MicrophoneError ? fault.trouble : 'unsupported';
      this.options.dispatch({ type: 'microphone', trouble });
    }
  }

  private onTrouble(trouble: MicrophoneTrouble | null): void {
    if (trouble === 'lost') this.stop();
    this.options.dispatch({ type: 'microphone', trouble });
  }

  private begin(text: string | null): number {
    this.stop();
    this.options.dispatch({ type: 'asked', text });
    this.options.dispatch({ type: 'source', source: { kind: 'opening' } });
    return this.attempt;
  }

  /** A new question ends the answer to the former one. */
  private interrupt(): void {
    const { turn } = this.options.state();
    if (turn && turn.end === null)
      this.options.connection.send({ type: 'response.cancel', turnId: turn.turnId });
  }

  private declareRate(rateHz: number): void {
    if (rateHz === this.rateHz) return;
    this.rateHz = rateHz;
    this.options.connection.restart();
  }

  private onFrame(samples: Int16Array): void {
    if (!this.microphone && !this.stopSample) return;
    this.options.connection.sendAudio(samples);
    this.levels.push(levelOf(samples));
    this.options.drawLevels(this.levels.slice(-LIVE_POINTS));
  }
}

function isSample(value: unknown): value is Sample {
  if (typeof value !== 'object' || value === null) return false;
  const { id, text, audio } = value as Partial<Record<keyof Sample, unknown>>;
  return typeof id === 'string' && typeof text === 'string' && typeof audio === 'string';
}
