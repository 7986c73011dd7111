import { join } from 'node:path';
import { AuscultError } from '../errors.js';
import { createJsonlSink } from '../trace/jsonl-sink.js';
import type { RoundTrace, TurnTrace } from '../trace/trace.js';

export interface TraceShowOptions {
  /** Trace or turn id. */
  readonly id: string;
  readonly json: boolean;
  readonly dataDir: string;
  readonly print: (line: string) => void;
}

export async function runTraceShow({ id, json, dataDir, print }: TraceShowOptions): Promise<void> {
  const trace = await readTrace(dataDir, id);
  if (json) print(JSON.stringify(trace, null, 2));
  else describeTrace(trace).forEach(print);
}

/** The record of an id; `not_found` when there is none. */
export async function readTrace(dataDir: string, id: string): Promise<TurnTrace> {
  const sink = await createJsonlSink(join(dataDir, 'traces'));
  const trace = await sink.read(id);
  if (!trace)
    throw new AuscultError('not_found', {
      message: `No turn ${id} in ${dataDir}; give the data folder of its server with --data.`,
    });
  return trace;
}

/** A turn's record as lines that a person can follow. */
export function describeTrace(trace: TurnTrace): string[] {
  const asked =
    trace.source === 'text'
      ? 'typed'
      : `spoken, ${Math.round(trace.audioMs ?? 0)} ms in ${trace.windows.length} window(s)`;
  return [
    `Turn ${trace.turnId} of session ${trace.sessionId}`,
    `  trace ${trace.traceId}, run ${trace.runId}, ${new Date(trace.startedWallMs).toISOString()}`,
    `  question: ${asked}; mode ${trace.queryMode}; contract ${trace.contract}`,
    ...(trace.audioId ? [`  audio sha256 ${trace.audioId}`] : []),
    `  retrieval: k ${trace.retrieval.k}, fusion ${trace.retrieval.fusion}, at most ${trace.retrieval.maxRounds} rounds`,
    ...trace.rounds.flatMap(describeRound),
    `Answer: ${trace.answer ?? '(none)'}`,
    ...trace.citations.map(({ evidenceId, quote }) => `  cites [${evidenceId}] "${quote}"`),
    `Stopped: ${trace.stopReason}`,
    `Calls: ${Object.entries(trace.calls)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    ...describeTimings(trace),
  ];
}

function describeRound(round: RoundTrace): string[] {
  return [
    `Round ${round.round}: best similarity ${round.bestScore.toFixed(4)}${round.skipped ? `, not generated (${round.skipped})` : ''}`,
    ...round.queries.map(
      ({ source, text, windows, weight, consumes }) =>
        `  query from ${source}${text ? ` "${text}"` : ` (${windows} vector(s), no words)`}, weight ${weight}` +
        (consumes.length > 0 ? `, consumes ${consumes.join(', ')}` : ''),
    ),
    ...round.hits.map(
      ({ rank, id, store, rawScore, score }) =>
        `  ${rank}. [${id}] ${store} raw ${rawScore.toFixed(3)} fused ${score.toFixed(3)}`,
    ),
    ...round.proposals.map(
      ({ from, to, score, accepted, reason }) =>
        `  proposal ${from} → ${to} ${score.toFixed(3)} ${accepted ? 'accepted' : 'refused'}: ${reason}`,
    ),
    ...round.contrasts.map(
      ({ a, b, kind, evidenceIds }) => `  contrast ${a} / ${b} (${kind}) from ${evidenceIds.join(', ')}`,
    ),
    ...round.visible.map(({ id, snippet }) => `  shown [${id}] ${snippet}`),
    ...round.dropped.map(({ id, reason }) => `  not shown [${id}]: ${reason}`),
    ...(round.support
      ? [`  judged ${round.support.label} by ${round.support.judge}: ${round.support.reason}`]
      : []),
  ];
}

function describeTimings({ timings }: TurnTrace): string[] {
  const { rounds, endpointSetting, encodeSpeculative, ...parts } = timings;
  const line = Object.entries(parts).map(
    ([name, value]) => `${name} ${value === null ? '–' : value.toFixed(1)}`,
  );
  return [
    `Timings (ms): ${line.join(', ')}`,
    `  waited for ${endpointSetting}; encoding ${encodeSpeculative ? 'was ready in advance' : 'was waited for'}; ${rounds.length} round(s)`,
  ];
}
