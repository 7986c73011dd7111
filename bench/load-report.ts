import { count, emptyLog, type SpeakerLog } from './load-speaker.js';
import type { Look } from './load-server.js';
import { mean, quantile } from './metrics.js';

export interface Percentiles {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  return {
    n: values.length,
    p50: quantile(values, 0.5),
    p95: quantile(values, 0.95),
    p99: quantile(values, 0.99),
  };
}

/** What all speakers lived through, together. */
export function mergeLogs(logs: readonly SpeakerLog[]): SpeakerLog {
  const all = emptyLog();
  for (const log of logs) {
    all.asked += log.asked;
    all.answered += log.answered;
    all.unanswered += log.unanswered;
    for (const key of ['evidenceWallMs', 'evidenceServerMs', 'evidenceHeardMs', 'doneMs'] as const)
      all[key].push(...log[key]);
    for (const key of ['rejected', 'errors'] as const)
      for (const [name, times] of Object.entries(log[key]))
        for (let n = 0; n < times; n += 1) count(all[key], name);
  }
  return all;
}

export interface TimedLook extends Look {
  readonly atMs: number;
}

/** Change from the first to the last quarter of a run: flat memory and handles stay near 0. */
export function driftOf(
  looks: readonly TimedLook[],
  key: 'residentBytes' | 'heapBytes' | 'handles' | 'openFiles',
): number {
  const quarter = Math.max(1, Math.floor(looks.length / 4));
  const of = (part: readonly TimedLook[]): number => mean(part.map((look) => look[key]));
  return of(looks.slice(-quarter)) - of(looks.slice(0, quarter));
}

/** Processors that the server kept busy between two looks. */
export function processorsBusy(from: TimedLook, to: TimedLook): number {
  return (to.cpuSeconds - from.cpuSeconds) / ((to.atMs - from.atMs) / 1_000);
}
