import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../server/encode/fair-queue.js';

/** A queue whose batches end when the test says so. */
function manual(options: { concurrency?: number; maxBatch?: number; capacity?: number } = {}) {
  const batches: string[][] = [];
  const finish: Array<(fault?: Error) => void> = [];
  const queue = createFairQueue<string, string>({
    concurrency: 1,
    maxBatch: 1,
    capacity: 100,
    ...options,
    run: (items) =>
      new Promise((resolve, reject) => {
        batches.push([...items]);
        finish.push((fault) => (fault ? reject(fault) : resolve(items.map((item) => item.toUpperCase()))));
      }),
  });
  const settle = async (): Promise<void> => {
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
  };
  return {
    queue,
    batches,
    async next(fault?: Error) {
      await settle();
      finish.shift()?.(fault);
      await settle();
    },
  };
}

describe('the fair queue', () => {
  it('lets streams take turns, however much one of them wants', async () => {
    const { queue, batches, next } = manual();
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((item) =>
      queue.submit(item, { stream: item[0] ?? '' }),
    );
    for (let n = 0; n < 6; n += 1) await next();
    expect(batches.flat()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(await Promise.all(all)).toEqual(['A1', 'A2', 'A3', 'B1', 'B2', 'C1']);
  });

  it('batches what waits and is of one kind, across streams, up to the limit', async () => {
    const { queue, batches, next } = manual({ maxBatch: 3 });
    for (const [item, kind] of [
      ['a', 'long'],
      ['b', 'short'],
      ['c', 'long'],
      ['d', 'long'],
      ['e', 'long'],
    ] as const) {
      void queue.submit(item, { stream: item, kind });
    }
    await next();
    await next();
    await next();
    expect(batches).toEqual([['a', 'c', 'd'], ['b'], ['e']]);
  });

  it('does not wait for company', async () => {
    const { queue, batches, next } = manual({ maxBatch: 8 });
    void queue.submit('first', { stream: 'a' });
    await next();
    expect(batches).toEqual([['first']]);
  });

  it('removes aborted work from the queue and drops the result of what runs', async () => {
    const { queue, batches, next } = manual();
    const stop = new AbortController();
    const runs = queue.submit('runs', { stream: 'a', signal: stop.signal });
    const waits = queue.submit('waits', { stream: 'a', signal: stop.signal });
    const other = queue.submit('other', { stream: 'b' });
    await Promise.resolve();
    stop.abort();
    await expect(runs).rejects.toMatchObject({ code: 'aborted' });
    await expect(waits).rejects.toMatchObject({ code: 'aborted' });
    await next();
    await next();
    expect(await other).toBe('OTHER');
    expect(batches).toEqual([['runs'], ['other']]);
  });

  it('refuses more than its capacity as retryable, and takes work again later', async () => {
    const { queue, next } = manual({ capacity: 2 });
    void queue.submit('a', { stream: 'a' });
    void queue.submit('b', { stream: 'a' });
    await expect(queue.submit('c', { stream: 'c' })).rejects.toMatchObject({
      code: 'limit_exceeded',
      retryable: true,
    });
    await next();
    void queue.submit('c', { stream: 'c' });
    expect(queue.waiting).toBe(1);
  });

  it('passes a fault to its batch only', async () => {
    const { queue, next } = manual();
    const bad = queue.submit('bad', { stream: 'a' });
    const good = queue.submit('good', { stream: 'a' });
    const caught = expect(bad).rejects.toThrow('broken');
    await next(new Error('broken'));
    await caught;
    await next();
    expect(await good).toBe('GOOD');
  });

  it('runs no more batches at once than it may', async () => {
    const { queue, batches, next } = manual({ concurrency: 2 });
    for (const item of ['a', 'b', 'c']) void queue.submit(item, { stream: item });
    for (let n = 0; n < 5; n += 1) await Promise.resolve();
    expect(batches).toHaveLength(2);
    await next();
    expect(batches).toHaveLength(3);
  });

  it('rejects what waits when it is closed and waits for what runs', async () => {
    const { queue, next } = manual();
    const runs = queue.submit('runs', { stream: 'a' });
    const waits = queue.submit('waits', { stream: 'a' });
    await Promise.resolve();
    const refused = expect(waits).rejects.toMatchObject({ code: 'wrong_state' });
    const closing = queue.close();
    await refused;
    await next();
    expect(await runs).toBe('RUNS');
    await closing;
    await expect(queue.submit('late', { stream: 'a' })).rejects.toMatchObject({ code: 'wrong_state' });
  });
});
