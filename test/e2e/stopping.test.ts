import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TERMINAL_EVENTS } from '../../shared/protocol.js';
import { connectLive } from '../fixtures/live-client.js';
import { requireWeights, sampleSound } from '../fixtures/sample-questions.js';
import {
  buildCli,
  listeningUrl,
  runCommand,
  type BuiltCli,
  type CommandRun,
} from '../fixtures/server-process.js';
import { SMALL_CORPUS } from '../fixtures/small-server.js';
import { until } from '../fixtures/until.js';

const SLOW_MS = 240_000;

let folder = '';
let cli: BuiltCli;
let run: CommandRun | null = null;

beforeAll(async () => {
  requireWeights();
  folder = await mkdtemp(join(tmpdir(), 'auscult-stop-'));
  cli = await buildCli();
}, 120_000);

afterEach(() => run?.child.kill('SIGKILL'));

afterAll(async () => {
  await cli.remove();
  await rm(folder, { recursive: true, force: true });
});

async function serve(): Promise<{ readonly process: CommandRun; readonly url: string }> {
  const started = runCommand(cli, ['serve', '--port', '0', '--data', folder, '--corpus', SMALL_CORPUS]);
  run = started;
  return { process: started, url: await listeningUrl(started) };
}

const isTerminal = (type: string): boolean => (TERMINAL_EVENTS as readonly string[]).includes(type);

describe('SIGTERM', () => {
  it(
    'while idle closes the sockets with 1001 and exits 0',
    async () => {
      const { process: server, url } = await serve();
      const client = await connectLive(url);
      client.start();
      await client.waitFor('session.ready');
      server.child.kill('SIGTERM');
      expect((await client.waitForClose()).code).toBe(1_001);
      expect(await server.exit).toBe(0);
    },
    SLOW_MS,
  );

  it(
    'in the middle of a turn says its terminal event, closes with 1001 and exits 0',
    async () => {
      const { process: server, url } = await serve();
      const client = await connectLive(url);
      client.start({ queryMode: 'speech+words' });
      await client.waitFor('session.ready');
      // The first words load their decoder, which takes longer than a signal.
      client.sendAudio(sampleSound('stroke-signs'), 6_400);
      client.send({ type: 'input_audio.commit' });
      await client.waitFor('turn.started');
      server.child.kill('SIGTERM');
      expect((await client.waitForClose()).code).toBe(1_001);
      expect(client.events.filter(({ type }) => isTerminal(type))).toHaveLength(1);
      expect(client.events.at(-1)?.type).toBe('turn.cancelled');
      expect(await server.exit).toBe(0);
    },
    SLOW_MS,
  );

  it(
    'a second time, while a silent peer holds the first up, exits 0',
    async () => {
      const { process: server, url } = await serve();
      const client = await connectLive(url);
      client.start();
      await client.waitFor('session.ready');
      // A peer that reads nothing answers no closing handshake.
      client.socket.pause();
      server.child.kill('SIGTERM');
      let refused = false;
      const knock = (): void => void fetch(`${url}/healthz`).catch(() => (refused = true));
      await until(() => (knock(), refused), 'the listener to close');
      server.child.kill('SIGTERM');
      expect(await server.exit).toBe(0);
      client.close(null);
    },
    SLOW_MS,
  );
});
