import { readSpeech } from '../audio/audio-file.js';
import { windowTimes, windowsOf } from '../audio/windower.js';
import { composeEncoders, type Encoders } from '../compose.js';
import type { Config } from '../config.js';
import type { TextRole } from '../encode/text-encoder.js';

export interface EmbedOptions {
  readonly files: readonly string[];
  readonly texts: readonly string[];
  readonly role: TextRole;
  readonly json: boolean;
  readonly config: Config;
  readonly print: (line: string) => void;
}

interface Embedded {
  readonly input: string;
  /** Unit vectors, one a window; one for a text. */
  readonly vectors: readonly Float32Array[];
  readonly windows: ReadonlyArray<{ readonly startMs: number; readonly endMs: number }>;
}

/** One line per input, files first, in order: its unit vectors, so that others can score the ear with code of their own. */
export async function runEmbed(options: EmbedOptions): Promise<void> {
  const encoders = await composeEncoders(options.config);
  try {
    for (const path of options.files) tell(await embedSpeech(path, encoders), options);
    for (const text of options.texts) {
      tell(
        { input: text, vectors: await encoders.textEncoder.encode([text], options.role), windows: [] },
        options,
      );
    }
  } finally {
    await encoders.close();
  }
}

async function embedSpeech(path: string, { speechEncoder }: Encoders): Promise<Embedded> {
  const samples = await readSpeech(path);
  const windows = windowsOf(samples.length);
  const encoded = await speechEncoder.encode(
    windows.map(({ startSample, endSample }) => samples.subarray(startSample, endSample)),
  );
  return { input: path, vectors: encoded.map((window) => window.vector), windows: windowTimes(windows) };
}

function tell({ input, vectors, windows }: Embedded, { json, print }: EmbedOptions): void {
  if (json) print(JSON.stringify({ input, vectors: vectors.map((vector) => [...vector]), windows }));
  else print(`${input}: ${vectors.length} vector(s) of ${vectors[0]?.length ?? 0}`);
}
