import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { AuscultError } from '../errors.js';

const manifestSchema = z.object({
  files: z.array(
    z.object({
      name: z.string().regex(/^[\w.-]+$/),
      bytes: z.number().int().positive(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

export interface WeightFile {
  readonly name: string;
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** The weight files of a models folder, as its manifest lists them. */
export interface Weights {
  readonly files: readonly WeightFile[];
  /** Path of a listed file; `model_missing` when it is not listed or not there. */
  pathOf(name: string): string;
  /** What the manifest says of a file; null when it is not listed. */
  find(name: string): WeightFile | null;
  /** Hashes the named files (all when none are named), each once; `model_missing` or `model_corrupt` at the first fault. */
  verify(names?: readonly string[]): Promise<void>;
}

/**
 * Opens a models folder: `manifest.json` beside `weights/`. Reads the manifest only; `verify` reads the files.
 * Errors: `model_missing` without a manifest, `model_corrupt` when it cannot be understood.
 */
export function openWeights(folder: string): Weights {
  const files = readManifest(folder);
  const byName = new Map(files.map((file) => [file.name, file]));
  const verified = new Map<string, Promise<void>>();

  const pathOf = (name: string): string => {
    const path = resolve(folder, 'weights', name);
    if (!byName.has(name)) {
      throw new AuscultError('model_missing', {
        message: `The manifest in ${folder} lists no file "${name}"; build it with models/build or take a complete checkout.`,
      });
    }
    if (!existsSync(path)) throw missing(path);
    return path;
  };
  const verifyOne = (name: string): Promise<void> => {
    const running = verified.get(name) ?? checkFile(pathOf(name), byName.get(name)?.sha256 ?? '');
    verified.set(name, running);
    return running;
  };
  return {
    files,
    pathOf,
    find: (name) => byName.get(name) ?? null,
    async verify(names = files.map((file) => file.name)) {
      for (const name of names) await verifyOne(name);
    },
  };
}

/** SHA-256 of a file, lower-case hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Rejects with `model_missing` or `model_corrupt` unless the file is there and has this hash. */
export async function checkFile(path: string, sha256: string): Promise<void> {
  if (!existsSync(path)) throw missing(path);
  const found = await hashFile(path);
  if (found === sha256) return;
  throw new AuscultError('model_corrupt', {
    message:
      `${path} is not the file of the manifest (SHA-256 ${found.slice(0, 12)}… instead of ${sha256.slice(0, 12)}…): ` +
      'restore it from a fresh checkout or build it again with models/build.',
  });
}

function missing(path: string): AuscultError {
  return new AuscultError('model_missing', {
    message: `The model file ${path} is missing: restore it from a fresh checkout or build it with models/build.`,
  });
}

function readManifest(folder: string): WeightFile[] {
  const path = join(folder, 'manifest.json');
  if (!existsSync(path)) {
    throw new AuscultError('model_missing', {
      message: `No manifest.json in ${folder}: point the models setting at the folder "models" of a checkout.`,
    });
  }
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).files;
  } catch (cause) {
    throw new AuscultError('model_corrupt', {
      message: `${path} is not a readable manifest: restore it from a fresh checkout.`,
      cause,
    });
  }
}
