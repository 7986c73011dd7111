import type { EvidenceItem } from '../shared/evidence.js';
import type { RetrievalSettings } from '../shared/protocol.js';
import { windowsOf } from './audio/windower.js';
import type { EncodedWindow } from './encode/speech-encoder.js';
import type { Engines } from './engines.js';

/** Encodes an utterance while it may still go on, so that its end costs only the search. */
export interface Speculation {
  begin(samples: Float32Array): void;
  /** Speech went on: the work is aborted and its result forgotten. */
  drop(): void;
  /** The encoding of exactly these samples if it was begun, else null; a wrong guess is dropped. */
  take(samples: Float32Array): Promise<EncodedWindow[]> | null;
}

export interface SpeculationOptions {
  readonly settings: () => RetrievalSettings;
  /** Evidence that may still change: shown faintly. */
  readonly preview: (items: EvidenceItem[]) => void;
}

export function createSpeculation(engines: Engines, { settings, preview }: SpeculationOptions): Speculation {
  interface Guess {
    readonly length: number;
    readonly abort: AbortController;
    readonly encoded: Promise<EncodedWindow[]>;
  }
  let running: Guess | null = null;

  async function show(guess: Guess): Promise<void> {
    const { signal } = guess.abort;
    const vectors = (await guess.encoded).map((window) => window.vector);
    const { items } = await engines.retriever.retrieve(
      { queries: [{ source: 'speech', vectors }], settings: settings() },
      signal,
    );
    // Once the guess is taken, the turn shows its own evidence.
    if (running === guess) preview([...items]);
  }

  return {
    begin(samples) {
      this.drop();
      const abort = new AbortController();
      const windows = windowsOf(samples.length).map(({ startSample, endSample }) =>
        samples.subarray(startSample, endSample),
      );
      const encoded = engines.speechEncoder.encode(windows, abort.signal);
      const guess = { length: samples.length, abort, encoded };
      running = guess;
      // A speculation that fails costs nothing: the turn encodes again.
      show(guess).catch(() => undefined);
    },
    drop() {
      running?.abort.abort();
      running = null;
    },
    take(samples) {
      const guess = running;
      if (guess && guess.length !== samples.length) this.drop();
      running = null;
      return guess && guess.length === samples.length ? guess.encoded : null;
    },
  };
}
