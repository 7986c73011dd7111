import { AuscultError } from '../errors.js';
import type { TextEncoder, TextRole } from './text-encoder.js';

export interface CachedTextEncoderOptions {
  readonly encoder: TextEncoder;
  /** Vectors kept, the least recently used go first; each takes 1.5 kB at 384 dimensions. 0 keeps none. Default 20,000. */
  readonly capacity?: number;
}

/** A text encoder that remembers: the sentences of a corpus are read again for every question that finds them. */
export function createCachedTextEncoder({
  encoder,
  capacity = 20_000,
}: CachedTextEncoderOptions): TextEncoder {
  // A Map keeps the order of insertion; reading moves an entry to the end.
  const kept = new Map<string, Float32Array>();

  function recall(key: string): Float32Array | null {
    const vector = kept.get(key);
    if (!vector) return null;
    kept.delete(key);
    kept.set(key, vector);
    return vector;
  }

  function keep(key: string, vector: Float32Array): void {
    kept.set(key, vector);
    const [oldest] = kept.keys();
    if (kept.size > capacity && oldest !== undefined) kept.delete(oldest);
  }

  return {
    dimensions: encoder.dimensions,
    modelId: encoder.modelId,
    async encode(texts, role: TextRole, signal) {
      if (signal?.aborted) throw new AuscultError('aborted', { message: 'Encoding was cancelled.' });
      const keys = texts.map((text) => `${role}\n${text}`);
      const known = new Map(keys.map((key) => [key, recall(key)]));
      const missing = [...new Set(keys.filter((key) => !known.get(key)))];
      const vectors =
        missing.length > 0
          ? await encoder.encode(
              missing.map((key) => key.slice(role.length + 1)),
              role,
              signal,
            )
          : [];
      missing.forEach((key, index) => {
        const vector = vectors[index];
        if (!vector) return;
        known.set(key, vector);
        keep(key, vector);
      });
      // Copies, so that no caller can change what is remembered.
      return keys.map((key) => (known.get(key) ?? new Float32Array(encoder.dimensions)).slice());
    },
    close: () => encoder.close(),
  };
}
