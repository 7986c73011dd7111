import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, open, rename, rm, stat } from 'node:fs/promises';
import { z } from 'zod';
import { AuscultError } from '../errors.js';

/**
 * An index file is the native payload, then one JSON record that describes it, then the record's
 * SHA-256 and length (u32) and a magic word.
 * The record stands at the end because the native reader wants the payload at byte 0; one file, so that one rename replaces
 * payload and description together. The native reader crashes the process on foreign bytes, so nothing reaches it unchecked.
 */
const MAGIC = 'AUSCIDX1';
const DIGEST_BYTES = 32;
const TAIL_BYTES = DIGEST_BYTES + 4 + MAGIC.length;
const LARGEST_RECORD_BYTES = 65_536;
export const INDEX_FORMAT_VERSION = 1;

const indexHeader = z.object({
  formatVersion: z.number().int(),
  dimensions: z.number().int().positive(),
  metric: z.literal('ip'),
  scalar: z.enum(['f16', 'f32']),
  connectivity: z.number().int().positive(),
  /** Encoder whose space the vectors live in. */
  modelId: z.string(),
  /** Generation of the database that the payload was derived from. */
  generation: z.number().int().nonnegative(),
  count: z.number().int().nonnegative(),
  payloadBytes: z.number().int().nonnegative(),
  /** SHA-256 of the payload, hex. */
  sha256: z.string(),
});
export type IndexHeader = z.infer<typeof indexHeader>;
export type IndexDescription = Omit<IndexHeader, 'formatVersion' | 'payloadBytes' | 'sha256'>;

function corrupt(path: string, what: string, cause?: unknown): AuscultError {
  return new AuscultError('index_corrupt', {
    message: `The vector index ${path} ${what}. Delete the file: it is rebuilt from index.sqlite at the next start.`,
    cause,
  });
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

async function sha256OfFile(path: string, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  if (bytes === 0) return hash.digest('hex');
  const stream = createReadStream(path, { end: bytes - 1, highWaterMark: 1 << 20 });
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/**
 * Writes an index file: `savePayload` writes the native bytes to the path it is given, the record is added, the whole is
 * flushed and renamed into place, so that a reader sees the old file or the new one and never a part.
 */
export async function writeIndexFile(
  path: string,
  description: IndexDescription,
  savePayload: (temporaryPath: string) => void,
): Promise<void> {
  const temporaryPath = `${path}.${process.pid}.tmp`;
  try {
    savePayload(temporaryPath);
    const { size } = await stat(temporaryPath);
    const header: IndexHeader = {
      ...description,
      formatVersion: INDEX_FORMAT_VERSION,
      payloadBytes: size,
      sha256: await sha256OfFile(temporaryPath, size),
    };
    const record = Buffer.from(JSON.stringify(header), 'utf8');
    const tail = Buffer.alloc(TAIL_BYTES);
    sha256(record).copy(tail);
    tail.writeUInt32LE(record.length, DIGEST_BYTES);
    tail.write(MAGIC, DIGEST_BYTES + 4, 'latin1');
    await appendFile(temporaryPath, Buffer.concat([record, tail]));
    await flush(temporaryPath);
    await rename(temporaryPath, path);
  } catch (cause) {
    await rm(temporaryPath, { force: true });
    throw cause;
  }
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

interface Tail {
  readonly record: string;
  readonly recordIntact: boolean;
  readonly payloadBytes: number;
}

async function readTail(path: string): Promise<Tail> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw new AuscultError('index_missing', {
      message: `There is no vector index at ${path}. Run "auscult ingest" first, or start the server once to index the demo corpus.`,
      cause,
    });
  });
  try {
    const { size } = await file.stat();
    if (size < TAIL_BYTES) throw corrupt(path, 'is truncated');
    const tail = Buffer.alloc(TAIL_BYTES);
    await file.read(tail, 0, TAIL_BYTES, size - TAIL_BYTES);
    const recordBytes = tail.readUInt32LE(DIGEST_BYTES);
    if (tail.toString('latin1', DIGEST_BYTES + 4) !== MAGIC)
      throw corrupt(path, 'is truncated or no index of this program');
    if (recordBytes > LARGEST_RECORD_BYTES || recordBytes > size - TAIL_BYTES) {
      throw corrupt(path, 'has a damaged description');
    }
    const record = Buffer.alloc(recordBytes);
    const payloadBytes = size - TAIL_BYTES - recordBytes;
    await file.read(record, 0, recordBytes, payloadBytes);
    const recordIntact = sha256(record).equals(tail.subarray(0, DIGEST_BYTES));
    return { record: record.toString('utf8'), recordIntact, payloadBytes };
  } finally {
    await file.close();
  }
}

function parseRecord(path: string, record: string): unknown {
  try {
    return JSON.parse(record) as unknown;
  } catch (cause) {
    throw corrupt(path, 'has a damaged description', cause);
  }
}

/**
 * Reads and checks the description and the payload's hash. Throws `index_missing` without a file, `index_corrupt` for another
 * format version, another model or dimension, a truncated file, or a changed byte.
 */
export async function readIndexHeader(
  path: string,
  expected: { readonly dimensions: number; readonly modelId: string },
): Promise<IndexHeader> {
  const { record, recordIntact, payloadBytes } = await readTail(path);
  const value = parseRecord(path, record);
  const version = (value as { formatVersion?: unknown } | null)?.formatVersion;
  if (version !== INDEX_FORMAT_VERSION) {
    throw corrupt(path, `has format version ${String(version)}, this program reads ${INDEX_FORMAT_VERSION}`);
  }
  if (!recordIntact) throw corrupt(path, 'has a damaged description');
  const parsed = indexHeader.safeParse(value);
  if (!parsed.success) throw corrupt(path, 'has a damaged description', parsed.error);
  const header = parsed.data;
  if (header.modelId !== expected.modelId || header.dimensions !== expected.dimensions) {
    throw corrupt(
      path,
      `was made with model ${header.modelId} (${header.dimensions} dimensions), the server runs ${expected.modelId} (${expected.dimensions})`,
    );
  }
  if (header.payloadBytes !== payloadBytes) throw corrupt(path, 'is truncated');
  if ((await sha256OfFile(path, payloadBytes)) !== header.sha256) {
    throw corrupt(path, 'has changed bytes (its hash differs)');
  }
  return header;
}
