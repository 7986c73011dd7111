import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runForget } from '../../server/commands/forget-command.js';
import { createSystemClock } from '../../server/clock.js';
import { connectLive, type LiveClient } from '../fixtures/live-client.js';
import { sampleSound } from '../fixtures/sample-questions.js';
import { startSmallServer, type SmallServer } from '../fixtures/small-server.js';

const LONG = { withinMs: 110_000 };

/** Asks aloud, and gives the session's id, its notices and the turn. */
async function ask(small: SmallServer) {
  const client: LiveClient = await connectLive(small.liveUrl);
  client.start({ queryMode: 'speech' });
  const { sessionId, notices } = await client.waitFor('session.ready', LONG);
  client.sendAudio(sampleSound('burn-cooling'), 6_400);
  client.send({ type: 'input_audio.commit' });
  const { turnId } = await client.waitFor('turn.done', LONG);
  client.close();
  return { sessionId, notices, turnId };
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
const traceFiles = async (small: SmallServer): Promise<string[]> =>
  (await readdir(join(small.data, 'traces'))).filter((name) => name.startsWith('turns-'));

describe('a server that keeps sound and no traces', () => {
  let small: SmallServer;
  beforeAll(async () => {
    small = await startSmallServer({ retainAudio: true, retainAudioDays: 3, retainTraceDays: 0 });
  }, 400_000);
  afterAll(async () => small.stop());

  it('says so first, writes the question with what was told, and forgets both', async () => {
    const { sessionId, notices, turnId } = await ask(small);
    expect(notices.join(' ')).toContain('is kept on this server. It is deleted after 3 days.');
    const folder = join(small.data, 'audio', sessionId);
    await expect.poll(() => isThere(join(folder, `${turnId}.wav`))).toBe(true);
    const wav = await readFile(join(folder, `${turnId}.wav`));
    // About three seconds were spoken, at 16 kHz and two bytes a sample.
    expect(wav.length).toBeGreaterThan(64_000);
    expect(wav.length).toBeLessThan(160_000);
    expect(await readFile(join(folder, 'consent.json'), 'utf8')).toContain('deleted after 3 days');
    expect(await traceFiles(small)).toEqual([]);
    const request = { session: sessionId, dataDir: small.data, clock: createSystemClock() };
    await runForget({ ...request, print: () => undefined });
    expect(await isThere(folder)).toBe(false);
  }, 240_000);
});

describe('a server as it comes', () => {
  let small: SmallServer;
  beforeAll(async () => {
    small = await startSmallServer();
  }, 400_000);
  afterAll(async () => small.stop());

  it('says that no sound is kept, keeps none, and keeps the trace without a word of the question', async () => {
    const { notices, turnId } = await ask(small);
    expect(notices.join(' ')).toContain('is not kept');
    await expect.poll(() => traceFiles(small)).toHaveLength(1);
    expect(await isThere(join(small.data, 'audio'))).toBe(false);
    const [file = ''] = await traceFiles(small);
    const lines = (await readFile(join(small.data, 'traces', file), 'utf8')).trim().split('\n');
    const trace = JSON.parse(lines[0] ?? '') as {
      turnId: string;
      rounds: Array<{ queries: Array<{ text?: string }> }>;
    };
    expect(trace.turnId).toBe(turnId);
    expect(trace.rounds[0]?.queries.map(({ text }) => text)).toEqual([undefined]);
  }, 240_000);
});
