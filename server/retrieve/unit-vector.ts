import { AuscultError } from '../errors.js';

/** How far the squared length may be from 1: float16 storage and int8 encoders stay well inside it. */
const SQUARED_LENGTH_TOLERANCE = 0.01;

/** Inner product of two vectors of one length; of unit vectors, their cosine. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

/** Throws `index_corrupt` unless the vector has `dimensions` finite components and length 1. */
export function assertUnitVector(vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions) {
    throw new AuscultError('index_corrupt', {
      message: `A vector of ${vector.length} dimensions met an index of ${dimensions}: use the model that the index was built with, or ingest again.`,
    });
  }
  const squaredLength = dot(vector, vector);
  // Written so that NaN fails too.
  if (!(Math.abs(squaredLength - 1) <= SQUARED_LENGTH_TOLERANCE)) {
    throw new AuscultError('index_corrupt', {
      message: `A vector has length ${Math.sqrt(squaredLength).toFixed(3)} instead of 1: normalise what the encoder gives before it is stored or searched.`,
    });
  }
}

/** Throws `index_corrupt` for a key that no store can hold. */
export function assertKey(key: number): void {
  if (Number.isSafeInteger(key) && key >= 0) return;
  throw new AuscultError('index_corrupt', {
    message: `Key ${key} is no whole number of 0 or more: rebuild the index.`,
  });
}
