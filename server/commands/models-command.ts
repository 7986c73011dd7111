import { SingleBar } from 'cli-progress';
import { join } from 'node:path';
import { AuscultError } from '../errors.js';
import { CATALOGUE, isFetched, modelsFolder } from './model-catalogue.js';
import { downloadModel, sha256Of, type DownloadOptions } from './model-download.js';

export interface ModelsGetOptions extends Pick<DownloadOptions, 'run' | 'fetch' | 'hubUrl'> {
  readonly name: string;
  readonly dataDir: string;
  readonly print: (line: string) => void;
  /** Whether a progress bar may be drawn: not into a file or a pipe. */
  readonly bar: boolean;
}

/**
 * `auscult models get NAME`: the model, checked by hash, under `<data>/models`. One that is there and right is not fetched again.
 * @throws AuscultError `not_found` for an unknown name, and what `downloadModel` throws
 */
export async function runModelsGet(options: ModelsGetOptions): Promise<string> {
  const model = CATALOGUE.find(({ name }) => name === options.name);
  if (model === undefined) {
    throw new AuscultError('not_found', {
      message: `There is no model ${options.name}; known are ${CATALOGUE.map(({ name }) => name).join(', ')}.`,
    });
  }
  const target = join(modelsFolder(options.dataDir), model.file);
  if (isFetched(options.dataDir, model) && (await sha256Of(target)) === model.sha256) {
    options.print(`${model.name} is at ${target}`);
    return target;
  }
  const bar = options.bar
    ? new SingleBar({ format: `${model.name} {bar} {percentage} % of {megabytes} MB` })
    : null;
  bar?.start(model.bytes, 0, { megabytes: Math.round(model.bytes / 1e6) });
  try {
    await downloadModel({
      ...options,
      model,
      folder: modelsFolder(options.dataDir),
      onProgress: (bytes) => bar?.update(bytes),
    });
  } finally {
    bar?.stop();
  }
  options.print(`${model.name} (${model.what}, ${model.licence}) is at ${target}`);
  return target;
}

/** `auscult models list`: what can be fetched and what is there. */
export function runModelsList({ dataDir, print }: Pick<ModelsGetOptions, 'dataDir' | 'print'>): void {
  for (const model of CATALOGUE) {
    const state = isFetched(dataDir, model) ? join(modelsFolder(dataDir), model.file) : 'not fetched';
    print(
      `${model.name.padEnd(14)} ${String(Math.round(model.bytes / 1e6)).padStart(4)} MB  ${model.licence}  ${model.what}  ${state}`,
    );
  }
}
