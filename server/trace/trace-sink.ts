import type { TurnTrace } from './trace.js';

/**
 * PORT. Keeps turn records.
 * Contract: `write` resolves when the record is durable; `read` gives the record of a trace id or null; `remove` forgets all
 * records of a session or older than a time and returns how many.
 */
export interface TraceSink {
  write(record: TurnTrace): Promise<void>;
  read(traceId: string): Promise<TurnTrace | null>;
  remove(filter: { readonly sessionId?: string; readonly olderThanWallMs?: number }): Promise<number>;
  close(): Promise<void>;
}
