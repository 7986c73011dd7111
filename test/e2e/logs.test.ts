import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectLive } from '../fixtures/live-client.js';
import { sampleSound } from '../fixtures/sample-questions.js';
import { buildCli, listeningUrl, runCommand, type BuiltCli } from '../fixtures/server-process.js';
import { SMALL_CORPUS } from '../fixtures/small-server.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TOKEN = 'correct-horse-battery-staple-token-0123456789';
const QUESTION = 'Why would Zanzibar grandmothers cool a burn under running water?';
const LONG = { withinMs: 110_000 };

let folder = '';
let cli: BuiltCli;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auscult-logs-'));
  cli = await buildCli();
}, 120_000);

afterAll(async () => {
  await cli.remove();
  await rm(folder, { recursive: true, force: true });
});

it('a whole run at log level trace writes no speech, question, transcript, answer, prompt or token', async () => {
  const run = runCommand(cli, ['serve', '--port', '0', '--data', folder, '--corpus', SMALL_CORPUS], {
    AUSCULT_LOG_LEVEL: 'trace',
    AUSCULT_TOKENS: TOKEN,
  });
  const url = await listeningUrl(run);
  const client = await connectLive(url, { token: TOKEN });
  client.start({ queryMode: 'speech+words' });
  const ready = await client.waitFor('session.ready', LONG);
  client.sendAudio(sampleSound('hypertension-hypotension'), 6_400);
  client.send({ type: 'input_audio.commit' });
  await client.waitFor('turn.done', LONG);
  const transcript = await client.waitFor('transcript', LONG);
  const from = client.events.length;
  client.send({ type: 'question.text', text: QUESTION });
  await client.waitFor('turn.done', { from, ...LONG });
  // Faults are logged too: these must not repeat what caused them.
  client.sendText('{"secret-word-in-bad-json": ');
  client.send({ type: 'secret-word-in-type' });
  client.sendBytes(Buffer.from('OggS secret-word-in-sound'));
  await expect(connectLive(`${url}/v1/live?token=${TOKEN}`.replace('http', 'ws'))).rejects.toThrow();
  await client.waitFor('error', LONG);
  run.child.kill('SIGTERM');
  expect(await run.exit).toBe(0);

  const log = `${run.stdout}\n${run.stderr}`;
  // The log is there at all: otherwise nothing could be found in it.
  expect(log).toContain('"msg":"ready"');
  const answers = client.events.flatMap((event) => (event.type === 'answer.done' ? [event.answer] : []));
  const shown = client.events.flatMap((event) =>
    event.type === 'evidence' ? event.items.map(({ text }) => text) : [],
  );
  expect(transcript.text.length).toBeGreaterThan(10);
  expect(answers).toHaveLength(client.events.filter(({ type }) => type === 'turn.done').length);
  const secrets = [TOKEN, ready.resumeToken, QUESTION, 'Zanzibar', transcript.text, 'secret-word'];
  for (const secret of [...secrets, ...answers.filter((text) => text !== ''), ...shown]) {
    expect(log).not.toContain(secret);
  }
  // Words of the spoken question and of every prompt.
  for (const word of ['hypotension', 'grandmothers', 'Question:', 'Evidence:']) {
    expect(log.toLowerCase()).not.toContain(word.toLowerCase());
  }
}, 400_000);
