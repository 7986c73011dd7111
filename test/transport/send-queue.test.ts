import { describe, expect, it } from 'vitest';
import type { ServerEvent } from '../../shared/protocol.js';
import { createSendQueue, type SendQueue } from '../../server/transport/send-queue.js';

interface Stuck {
  readonly queue: SendQueue;
  readonly written: string[];
  readonly dropped: string[];
  readonly overflows: number;
  /** The peer takes everything. */
  drain(): void;
}

/** A queue whose sink keeps what it gets until `drain`. */
function stuckQueue(maxBytes: number): Stuck {
  const written: string[] = [];
  const dropped: string[] = [];
  let overflows = 0;
  let held = 0;
  let callbacks: Array<() => void> = [];
  const queue = createSendQueue({
    maxBytes,
    onOverflow: () => (overflows += 1),
    onDropped: (type) => dropped.push(type),
    sink: {
      bufferedBytes: () => held,
      write(data, sent) {
        written.push(typeof data === 'string' ? (JSON.parse(data) as ServerEvent).type : 'bytes');
        held += data.length;
        callbacks.push(sent);
      },
    },
  });
  return {
    queue,
    written,
    dropped,
    get overflows() {
      return overflows;
    },
    drain() {
      while (callbacks.length > 0) {
        held = 0;
        for (const sent of callbacks.splice(0)) sent();
      }
      callbacks = [];
    },
  };
}

const levels: ServerEvent = { type: 'levels', seq: 0, atMs: 0, rms: 0, speechProbability: 0 };
const preview: ServerEvent = { type: 'evidence.preview', seq: 0, atMs: 0, items: [] };
const pong: ServerEvent = { type: 'pong', seq: 0, atMs: 0 };
/** Enough to make the sink say that it has no room for more. */
const wall = new Uint8Array(65_536);

describe('the queue to a slow reader', () => {
  it('keeps the order', () => {
    const { queue, written, drain } = stuckQueue(1_000_000);
    for (const message of [wall, pong, preview, levels, pong]) queue.push(message);
    expect(written).toEqual(['bytes']);
    drain();
    expect(written).toEqual(['bytes', 'pong', 'evidence.preview', 'levels', 'pong']);
  });

  it('replaces a level that still waits by the newer one, and counts it', () => {
    const { queue, written, dropped, drain } = stuckQueue(1_000_000);
    for (const message of [wall, levels, pong, levels, levels]) queue.push(message);
    expect([dropped, queue.dropped]).toEqual([['levels', 'levels'], 2]);
    drain();
    expect(written).toEqual(['bytes', 'pong', 'levels']);
  });

  it('drops what may be dropped before it gives up on the rest', () => {
    const stuck = stuckQueue(65_536 + 200);
    stuck.queue.push(wall);
    stuck.queue.push(levels);
    stuck.queue.push(preview);
    stuck.queue.push(new Uint8Array(190));
    expect([stuck.dropped, stuck.overflows]).toEqual([['levels', 'evidence.preview'], 0]);
  });

  it('counts the payload about to be sent: one byte over the cap is over', () => {
    const exact = stuckQueue(65_536 + 100);
    exact.queue.push(wall);
    exact.queue.push(new Uint8Array(100));
    expect([exact.overflows, exact.queue.bytes]).toEqual([0, 65_636]);
    exact.queue.push(new Uint8Array(1));
    expect([exact.overflows, exact.queue.bytes]).toEqual([1, 65_536]);
  });

  it('one message larger than the cap is over at once', () => {
    const stuck = stuckQueue(1_000);
    stuck.queue.push(new Uint8Array(1_001));
    expect([stuck.overflows, stuck.written]).toEqual([1, []]);
  });

  it('a droppable event never overflows it', () => {
    const stuck = stuckQueue(65_536);
    stuck.queue.push(wall);
    stuck.queue.push(levels);
    expect([stuck.overflows, stuck.dropped]).toEqual([0, ['levels']]);
  });

  it('says that it is full once, and then takes nothing', () => {
    const stuck = stuckQueue(65_536);
    for (const message of [wall, pong, pong, levels]) stuck.queue.push(message);
    stuck.drain();
    expect([stuck.overflows, stuck.written]).toEqual([1, ['bytes']]);
  });
});
