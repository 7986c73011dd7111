import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../server/clock.js';
import { isAbort } from '../../server/errors.js';
import { createOpenAiGenerator, type OpenAiOptions } from '../../server/generate/openai-generator.js';
import { collect, describeGenerator } from '../contracts/generator.contract.js';
import { createFakeClock } from '../fakes/fake-clock.js';
import {
  eventStream,
  sendInPieces,
  startOpenAiStub,
  type OpenAiStub,
  type StubHandler,
} from '../fixtures/openai-stub.js';
import { promptOf } from '../fixtures/prompts.js';

const KEY = 'key-that-must-stay-secret';
const ANSWER = [
  'Answer: Salt restriction ',
  'lowers it – by 5 m',
  'mHg, é. Tea ',
  'does not.\nEvi',
  'dence: [E1, E2]',
];
const prompt = promptOf({
  question: 'What lowers blood pressure?',
  texts: ['Salt restriction lowers it.', 'Tea does not.'],
});

let stubs: OpenAiStub[] = [];
afterEach(async () => {
  await Promise.all(stubs.map((stub) => stub.close()));
  stubs = [];
});

async function stubOf(handler: StubHandler): Promise<OpenAiStub> {
  const stub = await startOpenAiStub(handler);
  stubs.push(stub);
  return stub;
}

const generatorFor = (stub: OpenAiStub, more: Partial<OpenAiOptions> = {}) =>
  createOpenAiGenerator({
    baseUrl: stub.baseUrl,
    model: 'm',
    apiKey: KEY,
    clock: createSystemClock(),
    backoffMs: 1,
    ...more,
  });
const ok: StubHandler = (response) => sendInPieces(response, eventStream(ANSWER), 64);
const fail =
  (status: number, headers: Record<string, string> = {}): StubHandler =>
  (response) =>
    void response.writeHead(status, headers).end(`{"error":{"message":"${KEY} and the prompt"}}`);
const failure = (work: Promise<unknown>): Promise<Error & { code?: string; retryable?: boolean }> =>
  work.then(
    () => Promise.reject(new Error('It did not fail.')),
    (thrown: unknown) => thrown as Error,
  );

describeGenerator('the openai generator', {
  create: async () =>
    generatorFor(
      await stubOf((response, { body }) =>
        sendInPieces(response, eventStream(inForm(body.messages[0]?.content ?? '')), 7),
      ),
    ),
  createHanging: async () => generatorFor(await stubOf(() => undefined)),
});

function inForm(system: string): string[] {
  if (system.includes('Correct Option')) return ['Correct ', 'Option: A'];
  return system.includes('yes|no|maybe') ? ['Answer: yes'] : ['Answer: Diuretics.', '\nEvidence: [E1]'];
}

describe('a streamed answer', () => {
  it.each([1, 3, 17, 1_000])('is the same when its bytes come in pieces of %i', async (size) => {
    const stub = await stubOf((response) => sendInPieces(response, eventStream(ANSWER), size));
    const chunks = await collect(generatorFor(stub), prompt);
    expect(chunks.map(({ text }) => text).join('')).toBe(ANSWER.join(''));
    expect(chunks[0]?.text).toMatch(/^Answer: .*é\. $/);
    expect(chunks.at(-1)?.evidenceIds).toEqual(['d1#0', 'd2#0']);
  });

  it('asks greedily, with the key as a bearer token and no field more than the protocol needs', async () => {
    const stub = await stubOf(ok);
    await collect(generatorFor(stub), prompt);
    expect(stub.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(stub.requests[0]?.body).toMatchObject({
      model: 'm',
      temperature: 0,
      max_tokens: 160,
      stream: true,
      messages: prompt.messages,
    });
  });

  it('leaves out labels of evidence that was not visible', async () => {
    const stub = await stubOf((response) =>
      sendInPieces(response, eventStream(['Answer: Salt.\nEvidence: [E2, E7]']), 50),
    );
    expect((await collect(generatorFor(stub), prompt)).at(-1)?.evidenceIds).toEqual(['d2#0']);
  });

  it('knows an abstention', async () => {
    const stub = await stubOf((response) =>
      sendInPieces(response, eventStream(['Insufficient ', 'evidence.']), 50),
    );
    expect(await collect(generatorFor(stub), prompt)).toEqual([
      { text: 'Insufficient evidence.', evidenceIds: [], abstained: true },
    ]);
  });

  it('without evidence does not ask at all', async () => {
    const stub = await stubOf(ok);
    const [chunk] = await collect(generatorFor(stub), promptOf({ question: 'What?', texts: [] }));
    expect(chunk?.abstained).toBe(true);
    expect(stub.requests).toHaveLength(0);
  });
});

describe('an endpoint that fails', () => {
  it.each([429, 500, 502, 503])('with %i is asked again, and then answers', async (status) => {
    const stub = await stubOf((response, request, call) =>
      call < 3 ? fail(status)(response, request, call) : ok(response, request, call),
    );
    expect((await collect(generatorFor(stub), prompt)).length).toBeGreaterThan(1);
    expect(stub.requests).toHaveLength(3);
  });

  it('is asked as often as allowed, then the failure is told as one to try again later', async () => {
    const stub = await stubOf(fail(503));
    const thrown = await failure(collect(generatorFor(stub, { retries: 2 }), prompt));
    expect(thrown).toMatchObject({ code: 'generator_failed', retryable: true });
    expect(stub.requests).toHaveLength(3);
  });

  it.each([400, 401, 403, 404, 422])('with %i is not asked again', async (status) => {
    const stub = await stubOf(fail(status));
    const thrown = await failure(collect(generatorFor(stub), prompt));
    expect(thrown).toMatchObject({ code: 'generator_failed', retryable: false });
    expect(thrown.message).toContain(String(status));
    expect(stub.requests).toHaveLength(1);
  });

  it('never gets its body or the key into the error', async () => {
    for (const status of [401, 429]) {
      const stub = await stubOf(fail(status));
      const thrown = await failure(collect(generatorFor(stub, { retries: 0 }), prompt));
      expect(JSON.stringify([thrown.message, thrown.stack, String(thrown.cause)])).not.toContain(KEY);
    }
  });

  it.each([
    ['in seconds', '7', 7_000],
    ['as a date', 'Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
  ])('is given the time it asks for, %s', async (_, value, waitMs) => {
    const clock = createFakeClock();
    let answered: () => void = () => undefined;
    const first = new Promise<void>((resolve) => (answered = resolve));
    const stub = await stubOf((response, request, call) => {
      if (call > 1) return ok(response, request, call);
      response.on('close', () => answered());
      return fail(429, { 'retry-after': value })(response, request, call);
    });
    const work = collect(generatorFor(stub, { clock, timeoutMs: 60_000 }), prompt);
    await first;
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(waitMs - 1);
    expect(stub.requests).toHaveLength(1);
    await clock.advance(1);
    expect((await work).length).toBeGreaterThan(1);
    expect(stub.requests).toHaveLength(2);
  });

  it('with something that is no protocol is named', async () => {
    for (const text of [
      'data: <html>\n\n',
      'data: {"choices":"none"}\n\n',
      'data: {"error":{"message":"boom"}}\n\n',
    ]) {
      const stub = await stubOf((response) => sendInPieces(response, text, 9));
      expect(await failure(collect(generatorFor(stub), prompt))).toMatchObject({ code: 'generator_failed' });
    }
  });

  it('in mid-answer is not asked again: what was shown cannot be taken back', async () => {
    const stub = await stubOf((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventStream(ANSWER).slice(0, 600));
      setImmediate(() => response.destroy());
    });
    const thrown = await failure(collect(generatorFor(stub), prompt));
    expect(thrown).toMatchObject({ code: 'generator_failed', retryable: true });
    expect(stub.requests).toHaveLength(1);
  });

  it('by ending early is told from one that is done', async () => {
    const early = eventStream(ANSWER).split('\n\n').slice(0, 4).join('\n\n');
    const stub = await stubOf((response) => sendInPieces(response, `${early}\n\n`, 100));
    expect(await failure(collect(generatorFor(stub), prompt))).toMatchObject({
      code: 'generator_failed',
      retryable: true,
    });
  });

  it('by saying nothing is given up after the timeout, before and within an answer', async () => {
    const silent: StubHandler = () => undefined;
    const stuck: StubHandler = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': here\n\n');
    };
    for (const handler of [silent, stuck]) {
      const stub = await stubOf(handler);
      const thrown = await failure(collect(generatorFor(stub, { timeoutMs: 60, retries: 0 }), prompt));
      expect(thrown).toMatchObject({ code: 'generator_failed', retryable: true });
      expect(thrown.message).toContain('60 ms');
    }
  });

  it('by not being there is told as unreachable', async () => {
    const stub = await stubOf(ok);
    await stub.close();
    const thrown = await failure(collect(generatorFor(stub, { retries: 1 }), prompt));
    expect(thrown).toMatchObject({ code: 'generator_failed', retryable: true });
  });

  it.each(['', 'ftp://x', 'not a url'])('has no base URL like %j', async (baseUrl) => {
    expect(() => createOpenAiGenerator({ baseUrl, model: 'm', clock: createSystemClock() })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });
});

describe('cancelling', () => {
  it('in mid-answer ends the stream and lets go of the connection', async () => {
    const stub = await stubOf((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventStream(ANSWER).split('\n\n').slice(0, 5).join('\n\n') + '\n\n');
    });
    const controller = new AbortController();
    const chunks: string[] = [];
    const thrown = await failure(
      (async () => {
        for await (const { text } of generatorFor(stub).generate(prompt, controller.signal)) {
          chunks.push(text);
          controller.abort();
        }
      })(),
    );
    expect(isAbort(thrown)).toBe(true);
    expect(chunks).toHaveLength(1);
    while (stub.abandoned === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(stub.abandoned).toBe(1);
  });

  it('while waiting for a retry ends it at once', async () => {
    const clock = createFakeClock();
    const stub = await stubOf(fail(429, { 'retry-after': '20' }));
    const controller = new AbortController();
    const work = failure(collect(generatorFor(stub, { clock }), prompt, controller.signal));
    while (stub.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    expect(isAbort(await work)).toBe(true);
    expect(stub.requests).toHaveLength(1);
  });
});
