import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../server/generate/sse.js';

/** Events of bytes cut at the given places. */
async function eventsOf(text: string, cuts: readonly number[] = []): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const places = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
  const events: string[] = [];
  for await (const event of readEvents(asAsync(pieces))) events.push(event);
  return events;
}

async function* asAsync<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield item;
}

describe('a stream of events', () => {
  it('gives the data of each, comments and other fields left out', async () => {
    const text = ': hello\n\nevent: x\ndata: one\nid: 3\n\ndata:two\ndata: lines\n\nretry: 5\n\ndata\n\n';
    expect(await eventsOf(text)).toEqual(['one', 'two\nlines', '']);
  });

  it('knows all three line ends and an event that the end cuts off', async () => {
    expect(await eventsOf('data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d')).toEqual(['a', 'b', 'c', 'd']);
  });

  it('does not depend on where its bytes are cut', async () => {
    const text = 'data: {"text":"é€😀"}\r\n\r\n: ping\r\n\r\ndata: x\ndata: y\n\ndata: [DONE]\n\n';
    const whole = await eventsOf(text);
    expect(whole).toEqual(['{"text":"é€😀"}', 'x\ny', '[DONE]']);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 200 }), { maxLength: 12 }), async (cuts) => {
        expect(await eventsOf(text, cuts)).toEqual(whole);
      }),
    );
  });

  it('ends with an error rather than grow without bound', async () => {
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) yield new Uint8Array(65_536).fill(97);
    };
    await expect(
      (async () => {
        for await (const event of readEvents(endless())) expect(event).toBe('');
      })(),
    ).rejects.toMatchObject({
      code: 'generator_failed',
    });
  });
});
