import { AuscultError } from '../errors.js';

/** A copy of length 1. `model_corrupt` for a vector that has no direction, so that no NaN ever reaches an index. */
export function unitVector(vector: Float64Array | Float32Array): Float32Array {
  let squares = 0;
  for (const x of vector) squares += x * x;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) {
    throw new AuscultError('model_corrupt', {
      message: 'The model gave a vector without direction; restore the weights from a fresh checkout.',
    });
  }
  return Float32Array.from(vector, (x) => x / length);
}
