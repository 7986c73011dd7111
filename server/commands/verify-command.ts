import { createSystemClock } from '../clock.js';
import { composeEncoders, composeIndex } from '../compose.js';
import type { Config } from '../config.js';
import { retrievalSettings } from '../../shared/protocol.js';
import { decodeVector } from '../refine/turn-trace.js';
import { createVectorRetriever } from '../retrieve/vector-retriever.js';
import type { Query, Retriever } from '../retrieve/retriever.js';
import { readManifest } from '../trace/manifest.js';
import type { QueryTrace, RoundTrace } from '../trace/trace.js';
import { join } from 'node:path';
import { readTrace } from './trace-command.js';

export interface VerifyOptions {
  /** Trace or turn id. */
  readonly id: string;
  readonly config: Config;
  readonly print: (line: string) => void;
}

/** Scores are recomputed in float32 along another path of additions. */
const TOLERANCE = 1e-4;

/**
 * Runs the retrieval of every round again, from the vectors and settings of the record, and says whether it is the same and,
 * from the run's manifest, what has changed since. 0 the same, 1 not.
 */
export async function runTraceVerify({ id, config, print }: VerifyOptions): Promise<0 | 1> {
  const trace = await readTrace(config.data, id);
  const manifest = await readManifest(join(config.data, 'traces'), trace.runId);
  const encoders = await composeEncoders(config);
  const index = await composeIndex(config, encoders, { mustExist: true });
  try {
    const models = new Map(encoders.weights.files.map(({ name, sha256 }) => [name, sha256]));
    const changed = manifest.models
      .filter(({ name, sha256 }) => models.get(name) !== sha256)
      .map(({ name }) => name);
    if (changed.length > 0) print(`Model files differ from the run's: ${changed.join(', ')}.`);
    if (JSON.stringify(manifest.index) !== JSON.stringify(index.stats()))
      print("The index differs from the run's start.");
    const retriever = await createVectorRetriever({ ...index, clock: createSystemClock() });
    const settings = retrievalSettings.parse(trace.retrieval);
    let same = true;
    for (const round of trace.rounds) {
      const differences = await compareRound(round, retriever, settings);
      print(
        `Round ${round.round}: ${differences.length === 0 ? `the same ${round.hits.length} items` : 'different'}`,
      );
      differences.forEach((line) => print(`  ${line}`));
      same &&= differences.length === 0;
    }
    print(same ? 'Retrieval is reproduced.' : 'Retrieval is NOT reproduced.');
    return same ? 0 : 1;
  } finally {
    index.close();
    await encoders.close();
  }
}

type Settings = ReturnType<typeof retrievalSettings.parse>;

/** What is different, line by line; empty when nothing is. */
export async function compareRound(
  round: RoundTrace,
  retriever: Retriever,
  settings: Settings,
): Promise<string[]> {
  const { items } = await retriever.retrieve({ queries: round.queries.map(toQuery), settings });
  const lines: string[] = [];
  for (let at = 0; at < Math.max(items.length, round.hits.length); at += 1) {
    const [was, is] = [round.hits[at], items[at]];
    if (was?.id !== is?.id)
      lines.push(`rank ${at + 1}: was ${was?.id ?? 'nothing'}, is ${is?.id ?? 'nothing'}`);
    else if (was && is && Math.abs(was.rawScore - is.rawScore) > TOLERANCE) {
      lines.push(`rank ${at + 1}: ${was.id} scored ${was.rawScore}, scores ${is.rawScore}`);
    }
  }
  return lines;
}

function toQuery(query: QueryTrace): Query {
  return {
    source: query.source,
    vectors: query.vectors.map(decodeVector),
    weight: query.weight,
    ...(query.text === undefined ? {} : { text: query.text }),
  };
}
