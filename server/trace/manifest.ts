import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AuscultError } from '../errors.js';

/** What a run was made of: enough to run its retrieval again and to see why it would differ. */
export interface RunManifest {
  readonly runId: string;
  readonly startedWallMs: number;
  readonly codeVersion: string;
  readonly lockFileSha256: string | null;
  readonly node: string;
  readonly models: ReadonlyArray<{ readonly name: string; readonly sha256: string }>;
  readonly index: Record<string, unknown>;
  readonly config: Record<string, unknown>;
  readonly seeds: Record<string, number>;
}

export interface ManifestInput {
  readonly wallMs: number;
  /** The project's folder, for its version and lock file. */
  readonly root: string;
  readonly models: RunManifest['models'];
  readonly index: Record<string, unknown>;
  readonly config: Record<string, unknown>;
}

export function makeManifest(input: ManifestInput): RunManifest {
  const lock = join(input.root, 'package-lock.json');
  const { version } = JSON.parse(readFileSync(join(input.root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return {
    runId: randomUUID(),
    startedWallMs: input.wallMs,
    codeVersion: version,
    lockFileSha256: existsSync(lock) ? createHash('sha256').update(readFileSync(lock)).digest('hex') : null,
    node: process.version,
    models: input.models,
    index: input.index,
    config: input.config,
    // Nothing in a turn is drawn at random; the field is here so that an engine which does must say so.
    seeds: {},
  };
}

export async function writeManifest(folder: string, manifest: RunManifest): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `run-${manifest.runId}.json`), `${JSON.stringify(manifest, null, 2)}\n`);
}

export async function readManifest(folder: string, runId: string): Promise<RunManifest> {
  try {
    return JSON.parse(await readFile(join(folder, `run-${runId}.json`), 'utf8')) as RunManifest;
  } catch (cause) {
    throw new AuscultError('not_found', { message: `No manifest of run ${runId} in ${folder}.`, cause });
  }
}
