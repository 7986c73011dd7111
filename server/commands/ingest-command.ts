import { readSpeech } from '../audio/audio-file.js';
import { windowsOf } from '../audio/windower.js';
import { composeEncoders, composeIndex } from '../compose.js';
import type { Encoders } from '../compose.js';
import type { Config } from '../config.js';
import { AuscultError } from '../errors.js';
import { readDocuments } from '../ingest/documents.js';
import { embedTexts, pendingText, writeDocuments } from '../ingest/index-writer.js';
import type { PendingDocument, WriteResult } from '../ingest/index-writer.js';
import type { Problem } from '../ingest/input-files.js';
import { embedRecordings, readRecordings } from '../ingest/recordings.js';
import { createProgressLine } from './progress-line.js';

export interface IngestOptions {
  readonly paths: readonly string[];
  readonly store: 'passages' | 'speech';
  /** Count bad lines instead of stopping at the first. */
  readonly skipBadLines: boolean;
  readonly config: Config;
  readonly print: (line: string) => void;
}

/** How many problems are printed one by one. */
const MOST_PRINTED = 10;

/**
 * Reads files and folders into one store and prints what happened. Repeating it costs only the reading; a killed run is repeated
 * to go on. A running server takes the result up at its next reload.
 */
export async function runIngest(options: IngestOptions): Promise<WriteResult> {
  const encoders = await composeEncoders(options.config);
  const progress = createProgressLine();
  const problems = { bad: [] as Problem[], left: [] as Problem[] };
  try {
    const index = await composeIndex(options.config, encoders, { onProgress: (step) => progress.show(step) });
    try {
      const documents = await collect(options, encoders, problems);
      const result = await writeDocuments({
        writer: index.writer,
        store: options.store,
        documents,
        embed:
          options.store === 'speech'
            ? embedRecordings(encoders.speechEncoder)
            : embedTexts(encoders.textEncoder),
        onProgress: (step) => progress.show(step),
        ...(options.skipBadLines ? { onBad: (problem: Problem) => problems.bad.push(problem) } : {}),
      });
      await index.reload((step) => progress.show(step));
      progress.end();
      report(result, problems, options.print);
      return result;
    } finally {
      index.close();
    }
  } finally {
    progress.end();
    await encoders.close();
  }
}

async function collect(
  options: IngestOptions,
  encoders: Encoders,
  problems: { readonly bad: Problem[]; readonly left: Problem[] },
): Promise<PendingDocument[]> {
  const reading = {
    onSkip: (problem: Problem) => problems.left.push(problem),
    ...(options.skipBadLines ? { onBad: (problem: Problem) => problems.bad.push(problem) } : {}),
  };
  const documents: PendingDocument[] = [];
  if (options.store === 'speech') {
    const hearing = { readSpeech, windowsOf, modelId: encoders.speechEncoder.modelId };
    documents.push(...(await readRecordings(options.paths, hearing, reading)));
  } else {
    for await (const document of readDocuments(options.paths, reading)) {
      documents.push(pendingText(document, encoders.textEncoder.modelId));
    }
  }
  if (documents.length > 0) return documents;
  throw new AuscultError('ingest_failed', {
    message: `Nothing to read in ${options.paths.join(', ')}: give files of a kind that "auscult ingest --help" names.`,
  });
}

function report(
  result: WriteResult,
  problems: { readonly bad: readonly Problem[]; readonly left: readonly Problem[] },
  print: (line: string) => void,
): void {
  const added = result.documents - result.unchanged - result.replaced;
  print(
    `${result.documents} documents: ${added} new, ${result.replaced} changed, ${result.unchanged} as they were; ${result.passages} passages encoded`,
  );
  for (const [name, list] of [
    ['bad input skipped', problems.bad],
    ['files left out', problems.left],
  ] as const) {
    if (list.length === 0) continue;
    print(`${list.length} ${name}:`);
    for (const { path, line, reason } of list.slice(0, MOST_PRINTED)) {
      print(`  ${path}${line === undefined ? '' : `:${line}`}: ${reason}`);
    }
    if (list.length > MOST_PRINTED) print(`  and ${list.length - MOST_PRINTED} more`);
  }
}
