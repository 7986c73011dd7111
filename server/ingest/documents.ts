import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { AuscultError } from '../errors.js';
import { parseCsv } from './csv.js';
import { readHtml, readMarkdown } from './markup.js';
import { listInputFiles } from './input-files.js';
import type { InputFile, Problem } from './input-files.js';
import { readJsonLines, reject } from './json-lines.js';
import type { ReadOptions } from './json-lines.js';

/** A text as it was found. */
export interface SourceDocument {
  readonly id: string;
  readonly title: string;
  readonly url?: string;
  readonly text: string;
  readonly source: string;
}

export interface ReadDocumentsOptions extends ReadOptions {
  /** Told of files that are left out: links, kinds that are not read. */
  readonly onSkip?: (problem: Problem) => void;
}

const EXTENSIONS = new Set(['.txt', '.md', '.html', '.htm', '.csv', '.jsonl', '.json']);
/** Files that are read whole, bytes. */
const LARGEST_WHOLE_FILE = 256 * 2 ** 20;
const LONGEST_TEXT = 5_000_000;
const LONGEST_ID = 200;
/** Ids of spoken items begin so; a text with such an id could take a recording's place. */
export const SPEECH_PREFIX = 'speech:';

/**
 * The texts of files and folders: txt, md (front matter `title`, `url`), html, csv (header with id, title, text, url), jsonl
 * (the same fields; or PubMedQA's sections id, doc, label, text, joined by doc), PubMedQA's json. Throws `file_unreadable`,
 * `ingest_failed` (bad input, naming file and line, unless `onBad` takes it; a kind that is not read).
 */
export async function* readDocuments(
  paths: readonly string[],
  options: ReadDocumentsOptions = {},
): AsyncGenerator<SourceDocument> {
  for (const path of paths) {
    const files = await listInputFiles(path, {
      accepts: (extension) => EXTENSIONS.has(extension),
      onSkip: (problem) => options.onSkip?.(problem),
    });
    for (const file of files) {
      for await (const document of readFileDocuments(file, options)) {
        if (isAcceptable(document, file, options)) yield document;
      }
    }
  }
}

function isAcceptable(document: SourceDocument, file: InputFile, options: ReadOptions): boolean {
  const { path } = file;
  let reason: string | null = null;
  if (document.text.trim() === '') reason = `Document "${document.id}" has no text.`;
  else if (document.text.length > LONGEST_TEXT)
    reason = `Document "${document.id}" is longer than ${LONGEST_TEXT} characters.`;
  else if (document.id === '' || document.id.length > LONGEST_ID)
    reason = `An id has 1 to ${LONGEST_ID} characters.`;
  else if (document.id.startsWith(SPEECH_PREFIX))
    reason = `Ids that begin with "${SPEECH_PREFIX}" belong to recordings.`;
  if (reason === null) return true;
  reject({ path, reason }, options);
  return false;
}

async function* readFileDocuments(file: InputFile, options: ReadOptions): AsyncGenerator<SourceDocument> {
  switch (file.extension) {
    case '.txt':
    case '.md':
    case '.html':
    case '.htm':
      yield await readPage(file);
      return;
    case '.csv':
      yield* readCsvRows(file, options);
      return;
    case '.jsonl':
      yield* readLines(file, options);
      return;
    case '.json':
      yield* readPubMedQa(file, options);
      return;
    case '.pdf':
      throw new AuscultError('ingest_failed', {
        message: `${file.path}: PDF is not read. Save it as text first, for example with pdftotext.`,
      });
    default:
      throw new AuscultError('ingest_failed', {
        message: `${file.path}: this kind of file is not read. Give ${[...EXTENSIONS].join(', ')}.`,
      });
  }
}

/** The whole file as text; bytes that are no UTF-8 are an error, not question marks in the answers. */
async function readWhole(file: InputFile): Promise<string> {
  if (file.bytes > LARGEST_WHOLE_FILE) {
    throw new AuscultError('ingest_failed', {
      message: `${file.path} is larger than ${LARGEST_WHOLE_FILE / 2 ** 20} MiB: split it, or make it JSON Lines.`,
    });
  }
  const bytes = await readFile(file.path).catch((cause: unknown) => {
    throw new AuscultError('file_unreadable', {
      message: `${file.path} cannot be read: check its permissions.`,
      cause,
    });
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch (cause) {
    throw new AuscultError('ingest_failed', {
      message: `${file.path} is not UTF-8: convert it first.`,
      cause,
    });
  }
}

async function readPage(file: InputFile): Promise<SourceDocument> {
  const content = await readWhole(file);
  const stem = file.name.slice(0, file.name.length - file.extension.length);
  const page =
    file.extension === '.md'
      ? readMarkdown(content)
      : file.extension === '.txt'
        ? { text: content }
        : readHtml(content);
  const { title = stem, url, text } = { title: undefined, url: undefined, ...page };
  return { id: stem, title, ...(url === undefined ? {} : { url }), text, source: file.path };
}

const text = z.string().min(1);
const id = z.union([z.string().min(1), z.number()]).transform(String);
const line = z.object({
  id: id.optional(),
  doc: id.optional(),
  title: z.string().nullish(),
  text,
  url: z.string().nullish(),
});
type Line = z.infer<typeof line>;

function toDocument(value: Line, place: { readonly file: InputFile; readonly line: number }): SourceDocument {
  const documentId = value.id ?? `${place.file.name}:${place.line}`;
  return {
    id: documentId,
    title: value.title ?? documentId,
    ...(value.url ? { url: value.url } : {}),
    text: value.text,
    source: place.file.path,
  };
}

/** Lines with a `doc` are sections of that document, in the order of the file; they come when the file is through. */
async function* readLines(file: InputFile, options: ReadOptions): AsyncGenerator<SourceDocument> {
  const sections = new Map<string, string[]>();
  for await (const { line: number, value } of readJsonLines(file.path, line, options)) {
    if (value.doc === undefined) yield toDocument(value, { file, line: number });
    else sections.set(value.doc, [...(sections.get(value.doc) ?? []), value.text]);
  }
  for (const [documentId, texts] of sections) yield ofSections(documentId, texts, file);
}

function ofSections(documentId: string, texts: readonly string[], file: InputFile): SourceDocument {
  return { id: documentId, title: documentId, text: texts.join('\n\n'), source: file.path };
}

async function* readCsvRows(file: InputFile, options: ReadOptions): AsyncGenerator<SourceDocument> {
  const [header, ...rows] = parseCsv(await readWhole(file));
  const names = header?.cells.map((name) => name.trim().toLowerCase()) ?? [];
  if (!names.includes('text')) {
    throw new AuscultError('ingest_failed', {
      message: `${file.path}:1: the header names no "text" column. Name columns id, title, text, url.`,
    });
  }
  for (const row of rows) {
    const cells = Object.fromEntries(names.map((name, index) => [name, row.cells[index] || undefined]));
    const checked = line.safeParse(cells);
    if (checked.success) yield toDocument(checked.data, { file, line: row.line });
    else reject({ path: file.path, line: row.line, reason: 'The row has no text.' }, options);
  }
}

/**
 * PubMedQA as published: an object of {pmid: {CONTEXTS, …}}. Its QUESTION is left out of the text and the title: questions are
 * asked against this corpus, and one that contained them would answer by echo.
 */
const pubMedQa = z.record(z.string(), z.looseObject({ CONTEXTS: z.array(z.string()) }));

async function* readPubMedQa(file: InputFile, options: ReadOptions): AsyncGenerator<SourceDocument> {
  const content = await readWhole(file);
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    reject({ path: file.path, reason: 'The file is no JSON.' }, options, cause);
    return;
  }
  const checked = pubMedQa.safeParse(value);
  if (!checked.success) {
    reject({ path: file.path, reason: 'The file is not PubMedQA: {id: {CONTEXTS: [text, …]}}.' }, options);
    return;
  }
  for (const [documentId, entry] of Object.entries(checked.data)) {
    yield ofSections(documentId, entry.CONTEXTS, file);
  }
}
