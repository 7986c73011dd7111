import { DROPPABLE_EVENTS, type OutgoingEvent, type ServerEvent } from '../../shared/protocol.js';

export interface ResumeBufferOptions {
  /** Events kept, at least 1 (LIMITS.resumeEvents). */
  readonly maxEvents: number;
  /** Characters of JSON kept; one event is kept whatever its size (LIMITS.queuedBytes). */
  readonly maxCharacters: number;
}

export interface Replay {
  /** Events after the asked `seq` that are still kept, in order. */
  readonly events: readonly ServerEvent[];
  /**
   * Events after the asked `seq` that are no longer kept; droppable ones are never kept and never counted. Exact for the
   * last 8 × `maxEvents` events that left, a lower bound beyond.
   */
  readonly gap: number;
}

/** Numbers the events of a session and keeps the latest for a peer that comes back. Pure: no time, no I/O. */
export interface ResumeBuffer {
  /** `seq` of the newest event; −1 before the first. */
  readonly lastSeq: number;
  /** Gives the event its number and time, and keeps it unless it may be dropped. */
  stamp(event: OutgoingEvent, atMs: number): ServerEvent;
  replayAfter(lastSeq: number): Replay;
}

interface Kept {
  readonly event: ServerEvent;
  readonly characters: number;
}

export function createResumeBuffer(options: ResumeBufferOptions): ResumeBuffer {
  const kept: Kept[] = [];
  /** Numbers of kept events that had to leave, so that a gap can be counted without counting droppable ones. */
  const evicted: number[] = [];
  let characters = 0;
  let lastSeq = -1;

  function evict(): void {
    while (kept.length > options.maxEvents || (characters > options.maxCharacters && kept.length > 1)) {
      const oldest = kept.shift();
      if (oldest === undefined) return;
      characters -= oldest.characters;
      evicted.push(oldest.event.seq);
    }
    if (evicted.length > options.maxEvents * 8) evicted.splice(0, evicted.length - options.maxEvents * 8);
  }

  return {
    get lastSeq() {
      return lastSeq;
    },
    stamp(event, atMs) {
      lastSeq += 1;
      const stamped: ServerEvent = { ...event, seq: lastSeq, atMs: Math.max(0, atMs) };
      if (!isDroppable(stamped)) {
        const size = JSON.stringify(stamped).length;
        kept.push({ event: stamped, characters: size });
        characters += size;
        evict();
      }
      return stamped;
    },
    replayAfter(seq) {
      return {
        events: kept.filter((entry) => entry.event.seq > seq).map((entry) => entry.event),
        gap: evicted.reduce((count, gone) => count + (gone > seq ? 1 : 0), 0),
      };
    },
  };
}

/** Whether an event may be dropped for a slow reader, and so is not worth keeping for a lost one. */
export function isDroppable(event: { readonly type: string }): boolean {
  return (DROPPABLE_EVENTS as readonly string[]).includes(event.type);
}
