import { AuscultError } from '../../server/errors.js';
import type { TextEncoder } from '../../server/encode/text-encoder.js';

/**
 * Texts → unit vectors by their words: each word is a fixed pseudo-random direction, a text their sum. Texts that share words
 * are near, others are not. No model, deterministic.
 */
export function createFakeTextEncoder(dimensions = 64): TextEncoder {
  let closed = false;
  return {
    dimensions,
    modelId: 'fake-words',
    async encode(texts, _role, signal) {
      if (closed) throw new AuscultError('wrong_state', { message: 'The fake encoder is closed.' });
      await Promise.resolve();
      if (signal?.aborted) throw new AuscultError('aborted', { message: 'Cancelled.' });
      return texts.map((text) => fakeTextVector(text, dimensions));
    },
    async close() {
      closed = true;
    },
  };
}

/** The vector that the fake gives to a text; a test may place passages with it. */
export function fakeTextVector(text: string, dimensions = 64): Float32Array {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [''];
  const sum = new Float64Array(dimensions);
  for (const word of words.slice(0, 256)) {
    let state = hash(word);
    for (let d = 0; d < dimensions; d += 1) {
      state = Math.imul(state ^ (state >>> 15), 2_246_822_519) + d;
      sum[d] = (sum[d] ?? 0) + (((state >>> 8) & 0xffff) / 32_768 - 1);
    }
  }
  const length = Math.hypot(...sum) || 1;
  return Float32Array.from(sum, (x) => x / length);
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return value | 0;
}
