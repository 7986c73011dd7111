import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeWav } from '../../server/audio/wav-writer.js';
import { runForget } from '../../server/commands/forget-command.js';
import { createRecordings } from '../../server/privacy/recordings.js';
import { createRetention, DAY_MS, forget, type RetentionPolicy } from '../../server/privacy/retention.js';
import { createJsonlSink } from '../../server/trace/jsonl-sink.js';
import type { TurnTrace } from '../../server/trace/trace.js';
import { createFakeClock } from '../fakes/fake-clock.js';

let data = '';
const START = Date.UTC(2026, 5, 15);
const KEEP: RetentionPolicy = { retainAudio: true, retainAudioDays: 7, retainTraceDays: 30 };

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'auscult-kept-'));
});
afterEach(async () => rm(data, { recursive: true, force: true }));

async function house(policy: RetentionPolicy) {
  const clock = createFakeClock(START);
  const traceSink = await createJsonlSink(join(data, 'traces'));
  const recordings = createRecordings({ folder: join(data, 'audio'), toWav: encodeWav });
  return {
    clock,
    traceSink,
    recordings,
    retention: createRetention({ clock, policy, traceSink, recordings }),
  };
}

const traceOf = (sessionId: string, turnId: string, startedWallMs: number): TurnTrace =>
  ({
    sessionId,
    turnId,
    traceId: `trace-of-${turnId}`,
    startedWallMs,
    answer: `said in ${sessionId}`,
  }) as TurnTrace;

const utterance = (sessionId: string, turnId: string) => ({
  sessionId,
  turnId,
  samples: new Float32Array(1_600).fill(0.25),
  rateHz: 16_000,
});

/** Every path below the data folder and every byte of its files, as one text. */
async function everythingKept(): Promise<string> {
  const names = await readdir(data, { recursive: true, withFileTypes: true });
  const parts = names.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return `${path}\n${entry.isFile() ? await readFile(path, 'latin1') : ''}`;
  });
  return (await Promise.all(parts)).join('\n');
}

describe('keeping sound', () => {
  it('writes nothing and says so, unless it is switched on', async () => {
    const { retention } = await house({ ...KEEP, retainAudio: false });
    await retention.keepAudio(utterance('alice', 'one'));
    expect(retention.keepsAudio).toBe(false);
    expect(retention.notices.join(' ')).toContain('is not kept');
    expect(await everythingKept()).not.toContain('alice');
  });

  it('keeps none for 0 days, and says so', async () => {
    const { retention } = await house({ ...KEEP, retainAudioDays: 0 });
    await retention.keepAudio(utterance('alice', 'one'));
    expect(retention.notices.join(' ')).toContain('is not kept');
    expect(await everythingKept()).not.toContain('alice');
  });

  it('writes the question as a wav file beside what the person was told', async () => {
    const { retention } = await house(KEEP);
    await retention.keepAudio(utterance('alice', 'one'));
    const wav = await readFile(join(data, 'audio/alice/one.wav'));
    expect(wav.subarray(0, 4).toString('latin1')).toBe('RIFF');
    expect(wav.length).toBe(44 + 3_200);
    expect(wav.readInt16LE(44)).toBe(8_192);
    const consent = JSON.parse(await readFile(join(data, 'audio/alice/consent.json'), 'utf8')) as object;
    expect(consent).toEqual({ text: retention.notices[1], wallMs: START });
    expect(retention.notices[1]).toContain('deleted after 7 days');
  });
});

describe('keeping traces', () => {
  it('keeps none for 0 days', async () => {
    const { retention } = await house({ ...KEEP, retainTraceDays: 0 });
    await retention.keepTrace(traceOf('alice', 'one', START));
    expect(await everythingKept()).not.toContain('alice');
  });

  it('a purge removes what is older than its days and nothing else', async () => {
    const { retention, traceSink } = await house(KEEP);
    await retention.keepTrace(traceOf('old', 'one', START - 31 * DAY_MS));
    await retention.keepTrace(traceOf('new', 'two', START - 29 * DAY_MS));
    await retention.keepAudio(utterance('old', 'one'));
    await retention.keepAudio(utterance('new', 'two'));
    const at = (days: number) => new Date(START - days * DAY_MS);
    await utimes(join(data, 'audio/old/one.wav'), at(8), at(8));
    await utimes(join(data, 'audio/new/two.wav'), at(6), at(6));
    expect(await retention.purge()).toEqual({ traces: 1, recordings: 1 });
    const kept = await everythingKept();
    expect(kept).not.toContain('old');
    expect(kept).toContain('audio/new/two.wav');
    expect(await traceSink.read('two')).toMatchObject({ sessionId: 'new' });
  });

  it('purges at the start and every hour until it is stopped', async () => {
    const { clock, retention } = await house({ ...KEEP, retainTraceDays: 1 });
    const stop = retention.watch(() => undefined);
    await retention.settle();
    await retention.keepTrace(traceOf('alice', 'one', START - DAY_MS + 1_000));
    await retention.settle();
    expect(await everythingKept()).toContain('alice');
    await clock.advance(3_600_000);
    await retention.settle();
    expect(await everythingKept()).not.toContain('alice');
    stop();
    expect(clock.pending).toBe(0);
  });

  it('switched off, removes the sound that was kept before', async () => {
    const { recordings } = await house(KEEP);
    await recordings.write(utterance('alice', 'one'), { text: 'told', wallMs: START });
    await utimes(join(data, 'audio/alice/one.wav'), new Date(START - 1_000), new Date(START - 1_000));
    const { retention } = await house({ ...KEEP, retainAudio: false });
    expect((await retention.purge()).recordings).toBe(1);
    expect(await everythingKept()).not.toContain('alice');
  });
});

describe('forgetting', () => {
  async function fill() {
    const { retention, clock } = await house(KEEP);
    for (const who of ['alice', 'bob']) {
      await retention.keepTrace(traceOf(who, `${who}-turn`, START));
      await retention.keepAudio(utterance(who, `${who}-turn`));
    }
    return clock;
  }

  it('a session leaves nothing of it in the data folder, and the others whole', async () => {
    const clock = await fill();
    expect(await everythingKept()).toContain('alice');
    const lines: string[] = [];
    await runForget({ session: 'alice', dataDir: data, clock, print: (line) => lines.push(line) });
    expect(lines).toEqual(['Forgotten: 1 trace(s), 1 recording(s).']);
    const kept = await everythingKept();
    expect(kept).not.toContain('alice');
    expect(kept).toContain('said in bob');
    expect(kept).toContain('audio/bob/bob-turn.wav');
  });

  it('older than 0 days leaves nothing of anybody', async () => {
    const clock = await fill();
    const past = new Date(START - 1_000);
    for (const who of ['alice', 'bob']) await utimes(join(data, `audio/${who}/${who}-turn.wav`), past, past);
    await clock.advance(1);
    await runForget({ olderThanDays: 0, dataDir: data, clock, print: () => undefined });
    const kept = await everythingKept();
    expect(kept).not.toContain('alice');
    expect(kept).not.toContain('bob');
  });

  it.each(['../traces', '..', '.', 'a/b', '', 'a\0b'])(
    'refuses %j, which is no session id',
    async (sessionId) => {
      await fill();
      const { traceSink, recordings } = await house(KEEP);
      const before = await everythingKept();
      await expect(forget({ sessionId }, { traceSink, recordings })).rejects.toMatchObject({
        code: 'config_invalid',
      });
      expect(await everythingKept()).toBe(before);
    },
  );

  it('asks what to forget when nothing is said', async () => {
    const clock = createFakeClock(START);
    const nothing = runForget({ dataDir: data, clock, print: () => undefined });
    await expect(nothing).rejects.toMatchObject({ code: 'config_invalid' });
  });
});
