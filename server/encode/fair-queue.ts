import { setMaxListeners } from 'node:events';
import { AuscultError } from '../errors.js';

export interface FairQueueOptions<T, R> {
  /** Runs one batch; gives one result per item, in order. */
  readonly run: (items: readonly T[]) => Promise<readonly R[]>;
  /** Batches that run at the same time, ≥ 1. */
  readonly concurrency: number;
  /** Items in one batch, ≥ 1; 1 turns batching off. */
  readonly maxBatch: number;
  /** Items that may wait; one more is refused with `limit_exceeded`. */
  readonly capacity: number;
}

export interface FairQueue<T, R> {
  readonly waiting: number;
  /** Only items of the same `kind` share a batch. `stream` names whose turn it is; streams take turns. */
  submit(item: T, place: { stream: string; kind?: string; signal?: AbortSignal | undefined }): Promise<R>;
  /** Rejects what waits with `wrong_state` and resolves when what runs has ended. */
  close(): Promise<void>;
}

interface Ticket<T, R> {
  readonly item: T;
  readonly kind: string;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: R) => void;
  readonly reject: (error: AuscultError | Error) => void;
  onAbort: (() => void) | null;
}

/**
 * A bounded queue in which streams take turns, so that one with much work cannot starve the others. Whatever waits with the
 * same kind when a place becomes free goes as one batch; nothing is ever held back to make a batch fuller.
 */
export function createFairQueue<T, R>(options: FairQueueOptions<T, R>): FairQueue<T, R> {
  const turns = createTurns<T, R>();
  const running = new Set<Promise<void>>();
  let closed = false;
  let scheduled = false;

  const nextBatch = (): Ticket<T, R>[] => {
    const first = turns.take(null);
    if (!first) return [];
    const batch = [first];
    while (batch.length < options.maxBatch) {
      const more = turns.take(first.kind);
      if (!more) break;
      batch.push(more);
    }
    return batch;
  };

  const pump = (): void => {
    scheduled = false;
    while (running.size < options.concurrency && turns.size > 0) {
      const work = settle(nextBatch(), options.run).finally(() => {
        running.delete(work);
        pump();
      });
      running.add(work);
    }
  };

  /** A microtask later, so that items submitted together can share a batch. */
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(pump);
  };

  return {
    get waiting() {
      return turns.size;
    },
    submit(item, { stream, kind = '', signal }) {
      return new Promise<R>((resolve, reject) => {
        if (closed) return reject(closedError());
        if (signal?.aborted) return reject(abortedError());
        if (turns.size >= options.capacity) return reject(fullError(options.capacity));
        const ticket: Ticket<T, R> = { item, kind, signal, resolve, reject, onAbort: null };
        ticket.onAbort = () => {
          turns.remove(stream, ticket);
          reject(abortedError());
        };
        // Every waiting item listens, and stops listening when its turn comes: many of one caller are no leak.
        if (signal) setMaxListeners(0, signal);
        signal?.addEventListener('abort', ticket.onAbort, { once: true });
        turns.add(stream, ticket);
        schedule();
      });
    },
    async close() {
      closed = true;
      for (let ticket = turns.take(null); ticket; ticket = turns.take(null)) ticket.reject(closedError());
      await Promise.all(running);
    },
  };
}

/** Waiting tickets by stream. Insertion order of the map is the order of turns: a served stream moves to the end. */
function createTurns<T, R>() {
  const streams = new Map<string, Ticket<T, R>[]>();
  let size = 0;

  const remove = (stream: string, ticket: Ticket<T, R>): void => {
    const queue = streams.get(stream);
    const at = queue?.indexOf(ticket) ?? -1;
    if (!queue || at < 0) return;
    queue.splice(at, 1);
    size -= 1;
    if (queue.length === 0) streams.delete(stream);
  };
  return {
    get size() {
      return size;
    },
    remove,
    add(stream: string, ticket: Ticket<T, R>): void {
      const queue = streams.get(stream);
      if (queue) queue.push(ticket);
      else streams.set(stream, [ticket]);
      size += 1;
    },
    /** The next ticket in turn; with a kind, the next of that kind. */
    take(kind: string | null): Ticket<T, R> | null {
      for (const [stream, queue] of streams) {
        const ticket = kind === null ? queue[0] : queue.find((candidate) => candidate.kind === kind);
        if (!ticket) continue;
        remove(stream, ticket);
        if (streams.delete(stream)) streams.set(stream, queue);
        detach(ticket);
        return ticket;
      }
      return null;
    },
  };
}

/** Runs a batch and settles its tickets; never rejects. */
async function settle<T, R>(
  batch: readonly Ticket<T, R>[],
  run: (items: readonly T[]) => Promise<readonly R[]>,
): Promise<void> {
  const watch = batch.map((ticket) => {
    const onAbort = (): void => ticket.reject(abortedError());
    ticket.signal?.addEventListener('abort', onAbort, { once: true });
    return onAbort;
  });
  try {
    const results = await run(batch.map((ticket) => ticket.item));
    if (results.length !== batch.length) {
      throw new AuscultError('internal', {
        message: `A batch of ${batch.length} gave ${results.length} results.`,
      });
    }
    batch.forEach((ticket, at) => ticket.resolve(results[at] as R));
  } catch (error) {
    const reason = error instanceof Error ? error : new Error(String(error));
    for (const ticket of batch) ticket.reject(reason);
  } finally {
    batch.forEach((ticket, at) => {
      const onAbort = watch[at];
      if (onAbort) ticket.signal?.removeEventListener('abort', onAbort);
    });
  }
}

function detach<T, R>(ticket: Ticket<T, R>): void {
  if (ticket.onAbort) ticket.signal?.removeEventListener('abort', ticket.onAbort);
  ticket.onAbort = null;
}

function abortedError(): AuscultError {
  return new AuscultError('aborted', { message: 'The work was cancelled before its result was used.' });
}

function closedError(): AuscultError {
  return new AuscultError('wrong_state', {
    message: 'The model is closed; no work is taken after the drain began.',
  });
}

function fullError(capacity: number): AuscultError {
  return new AuscultError('limit_exceeded', {
    message: `More than ${capacity} pieces of work wait for the model: try again in a moment, or give the server more cores.`,
    retryable: true,
  });
}
