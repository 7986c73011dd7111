import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../server/audio/wav-writer.js';
import { createSystemClock } from '../../server/clock.js';
import { runAsk } from '../../server/commands/ask-command.js';
import { runTraceShow } from '../../server/commands/trace-command.js';
import { runTraceVerify } from '../../server/commands/verify-command.js';
import { loadConfig } from '../../server/config.js';
import { startServer } from '../../server/main.js';
import { serverEvent, type ServerEvent } from '../../shared/protocol.js';
import { sampleQuestion } from '../fixtures/sample-questions.js';
import { buildCli, runCommand, type BuiltCli } from '../fixtures/server-process.js';
import { SMALL_CORPUS, startSmallServer, type SmallServer } from '../fixtures/small-server.js';

const root = resolve(import.meta.dirname, '../..');
const SLOW_MS = 240_000;

let folder = '';
let small: SmallServer;
let cli: BuiltCli;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auscult-cli-'));
  cli = await buildCli();
  small = await startSmallServer();
}, 400_000);

afterAll(async () => {
  await small.stop();
  await cli.remove();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Asks as the command does, in this process; each printed line read as an event of the protocol. */
async function ask(file: string, options: { speed?: number } = {}) {
  const events: ServerEvent[] = [];
  const exit = await runAsk({
    file,
    url: small.liveUrl,
    json: true,
    speed: options.speed ?? 0,
    queryMode: 'speech',
    clock: createSystemClock(),
    print: (line) => events.push(serverEvent.parse(JSON.parse(line))),
  });
  return { exit, events };
}

async function wav(name: string, samples: Float32Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, encodeWav(samples, 16_000));
  return path;
}

describe('auscult ask', () => {
  it(
    'as a process prints one protocol event a line, evidence before the answer, and exits 0',
    async () => {
      const file = sampleQuestion('hypertension-hypotension');
      const run = runCommand(cli, [
        ...['ask', file, '--url', small.liveUrl],
        ...['--json', '--speed', '0', '--query-mode', 'speech'],
      ]);
      expect(await run.exit).toBe(0);
      const events = run.stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => serverEvent.parse(JSON.parse(line)));
      const types = events.map(({ type }) => type);
      expect(types[0]).toBe('session.ready');
      expect(types.at(-1)).toBe('turn.done');
      expect(types.indexOf('evidence')).toBeLessThan(types.indexOf('answer.done'));
      expect(types).toContain('evidence');
    },
    SLOW_MS,
  );

  it(
    'for people prints the evidence, then the answer with its sources',
    async () => {
      const lines: string[] = [];
      const exit = await runAsk({
        file: sampleQuestion('burn-cooling'),
        url: small.liveUrl,
        json: false,
        speed: 0,
        queryMode: 'speech',
        clock: createSystemClock(),
        print: (line) => lines.push(line),
      });
      expect(exit).toBe(0);
      const text = lines.join('\n');
      expect(text.indexOf('Evidence, round 1')).toBeGreaterThan(-1);
      expect(text.search(/^(Answer|No answer): /m)).toBeGreaterThan(text.indexOf('Evidence, round 1'));
      expect(text).toMatch(/Trace [0-9a-f-]{36}\.$/);
    },
    SLOW_MS,
  );

  it(
    'exits 2 for a recording of silence',
    async () => {
      const { exit, events } = await ask(await wav('silence.wav', new Float32Array(16_000)));
      expect(exit).toBe(2);
      expect(events.at(-1)).toMatchObject({ type: 'turn.rejected', reason: 'too_short' });
    },
    SLOW_MS,
  );

  it(
    'exits 1 with a code and what to do: no such file, no sound in it, nobody at the address',
    async () => {
      const notes = join(folder, 'notes.txt');
      await writeFile(notes, 'These are words, not sound.');
      const silence = await wav('quiet.wav', new Float32Array(1_600));
      const nobody = 'ws://127.0.0.1:9/v1/live';
      const runs = [
        {
          run: runCommand(cli, ['ask', join(folder, 'none.wav'), '--url', small.liveUrl]),
          code: 'file_unreadable',
        },
        { run: runCommand(cli, ['ask', notes, '--url', small.liveUrl]), code: 'not_audio' },
        { run: runCommand(cli, ['ask', silence, '--url', nobody]), code: 'unreachable' },
      ];
      for (const { run, code } of runs) {
        expect(await run.exit, code).toBe(1);
        expect(run.stderr).toMatch(new RegExp(`^${code}: .{20,}`, 'm'));
        expect(run.stderr).not.toContain('    at ');
        expect(run.stdout).toBe('');
      }
    },
    SLOW_MS,
  );
});

describe('auscult trace', () => {
  it(
    'shows a turn just made, by its trace or its turn id, and reproduces its retrieval',
    async () => {
      const { events } = await ask(sampleQuestion('hypertension-hypotension'));
      const done = events.find((event) => event.type === 'turn.done');
      if (done?.type !== 'turn.done') throw new Error('no turn.done');
      const shown: string[] = [];
      for (const id of [done.traceId, done.turnId]) {
        await runTraceShow({ id, json: false, dataDir: small.data, print: (line) => shown.push(line) });
      }
      expect(shown.filter((line) => line.startsWith(`Turn ${done.turnId} `))).toHaveLength(2);
      expect(shown.join('\n')).toContain('shown [');
      const told: string[] = [];
      const exit = await runTraceVerify({
        id: done.traceId,
        config: small.config,
        print: (line) => told.push(line),
      });
      expect(told.at(-1)).toBe('Retrieval is reproduced.');
      expect(exit).toBe(0);
    },
    SLOW_MS,
  );

  it('an unknown id is not_found', async () => {
    const show = runTraceShow({ id: 'nothing', json: false, dataDir: small.data, print: () => undefined });
    await expect(show).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('auscult forget', () => {
  it(
    'as a process deletes every trace of a session from the data folder',
    async () => {
      const { events } = await ask(sampleQuestion('burn-cooling'));
      const ready = events[0];
      if (ready?.type !== 'session.ready') throw new Error('no session.ready');
      const records = async (): Promise<string> => {
        const names = await readdir(join(small.data, 'traces'));
        return (
          await Promise.all(names.map((name) => readFile(join(small.data, 'traces', name), 'utf8')))
        ).join();
      };
      await expect.poll(records).toContain(ready.sessionId);
      const run = runCommand(cli, ['forget', '--session', ready.sessionId, '--data', small.data]);
      expect(await run.exit).toBe(0);
      expect(run.stdout).toBe('Forgotten: 1 trace(s), 0 recording(s).\n');
      expect(await records()).not.toContain(ready.sessionId);
    },
    SLOW_MS,
  );
});

describe('a wrong configuration', () => {
  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    ['port', { port: '70000' }, {}],
    ['port', { port: 'many' }, {}],
    ['logLevel', { logLevel: 'loud' }, {}],
    ['encoderThreads', {}, { AUSCULT_ENCODER_THREADS: '-1' }],
    ['retainAudio', {}, { AUSCULT_RETAIN_AUDIO: 'perhaps' }],
    ['retainTraceDays', { retainTraceDays: -1 }, {}],
    ['queryMode', { queryMode: 'oracle' }, {}],
    ['colour', { colour: 'blue' }, {}],
  ])('names %s of %j %j', (name, options, environment) => {
    const load = (): unknown => loadConfig(options, environment);
    expect(load).toThrow(expect.objectContaining({ code: 'config_invalid' }) as Error);
    expect(load).toThrow(name);
  });

  it('a file that is missing or no JSON is named', async () => {
    const path = join(folder, 'settings.json');
    expect(() => loadConfig({ config: path }, {})).toThrow(path);
    await writeFile(path, '{"port": ');
    expect(() => loadConfig({ config: path }, {})).toThrow(path);
  });

  it('the command line comes before the environment, and that before the file', async () => {
    const path = join(folder, 'good.json');
    await writeFile(path, '{"port": 1001, "host": "127.0.0.9", "deadlineMs": 7}');
    const environment = { AUSCULT_CONFIG: path, AUSCULT_PORT: '1002', AUSCULT_HOST: '127.0.0.8' };
    const { port, host, deadlineMs } = loadConfig({ port: '1003' }, environment);
    expect({ port, host, deadlineMs }).toEqual({ port: 1_003, host: '127.0.0.8', deadlineMs: 7 });
  });
});

describe('a start that cannot be', () => {
  const start = (settings: Record<string, unknown>): Promise<unknown> => {
    const data = join(folder, 'unused');
    return startServer(
      loadConfig({ data, port: 0, corpus: SMALL_CORPUS, logLevel: 'silent', ...settings }, {}),
    );
  };

  it(
    'a port that is taken is port_in_use and says how to choose another',
    async () => {
      const other: Server = createServer();
      await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
      const run = runCommand(cli, [
        ...['serve', '--port', String((other.address() as AddressInfo).port)],
        ...['--data', join(folder, 'taken'), '--corpus', SMALL_CORPUS],
      ]);
      expect(await run.exit).toBe(1);
      expect(run.stderr).toMatch(/^port_in_use: .*--port/m);
      // Nothing was begun in a data folder that may be another server's.
      await expect(readdir(join(folder, 'taken'))).rejects.toThrow('ENOENT');
      await new Promise((done) => other.close(done));
    },
    SLOW_MS,
  );

  it('a models folder without a manifest is model_missing', async () => {
    await mkdir(join(folder, 'no-models'), { recursive: true });
    const starting = start({ models: join(folder, 'no-models') });
    await expect(starting).rejects.toMatchObject({ code: 'model_missing' });
  });

  /** The models folder with links to the real weights, except those that a test spoils. */
  async function modelsCopy(name: string, spoilt: string): Promise<string> {
    const models = join(folder, name);
    await mkdir(join(models, 'weights'), { recursive: true });
    await cp(join(root, 'models/manifest.json'), join(models, 'manifest.json'));
    for (const file of await readdir(join(root, 'models/weights'))) {
      const [from, to] = [join(root, 'models/weights', file), join(models, 'weights', file)];
      await (file === spoilt ? cp(from, to) : symlink(from, to));
    }
    return models;
  }

  it('a weight file that is not there is model_missing and named', async () => {
    const models = await modelsCopy('without', 'text-tokenizer.json');
    await rm(join(models, 'weights/text-tokenizer.json'));
    const starting = start({ models });
    await expect(starting).rejects.toMatchObject({ code: 'model_missing' });
    await expect(starting).rejects.toThrow('text-tokenizer.json');
  }, 60_000);

  it('a weight file that breaks off is model_corrupt and named', async () => {
    const models = await modelsCopy('cut', 'text-tokenizer.json');
    await truncate(join(models, 'weights/text-tokenizer.json'), 1_000);
    const starting = start({ models });
    await expect(starting).rejects.toMatchObject({ code: 'model_corrupt' });
    await expect(starting).rejects.toThrow('text-tokenizer.json');
  }, 60_000);

  it('a manifest with another hash is model_corrupt', async () => {
    const models = await modelsCopy('flipped', 'none');
    const path = join(models, 'manifest.json');
    const manifest = await readFile(path, 'utf8');
    const flipped = manifest.replace(
      /"sha256": "(.)/,
      (_all, digit: string) => `"sha256": "${digit === '0' ? '1' : '0'}`,
    );
    await writeFile(path, flipped);
    await expect(start({ models })).rejects.toMatchObject({ code: 'model_corrupt' });
  }, 60_000);

  it(
    'a damaged database is index_corrupt; a damaged vector file is rebuilt from the database',
    async () => {
      const data = join(folder, 'damaged');
      await cp(small.data, data, { recursive: true });
      await writeFile(join(data, 'passages.usearch'), 'no vectors here');
      const again = await startServer(
        loadConfig({ data, port: 0, corpus: SMALL_CORPUS, logLevel: 'silent' }, {}),
      );
      expect((await fetch(`${again.url}/readyz`)).status).toBe(200);
      await again.close();
      expect((await readFile(join(data, 'passages.usearch'))).length).toBeGreaterThan(1_000);

      for (const name of await readdir(data)) {
        if (name.startsWith('index.sqlite-')) await rm(join(data, name));
      }
      await writeFile(join(data, 'index.sqlite'), Buffer.alloc(8_192, 'not a database '));
      await expect(start({ data })).rejects.toMatchObject({ code: 'index_corrupt' });
    },
    SLOW_MS,
  );
});
