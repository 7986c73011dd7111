import { dirname } from 'node:path';
import { createOnnxTextEncoder } from '../server/encode/onnx-text-encoder.js';
import type { TextEncoder } from '../server/encode/text-encoder.js';
import { openWeights } from '../server/encode/weights.js';
import { AuscultError } from '../server/errors.js';
import { shippedTermsFolder } from '../server/ground/term-list.js';

/** The shipped text encoder for a bench; null, said aloud, when its weights are not there. */
export async function loadTextEncoder(): Promise<TextEncoder | null> {
  try {
    return await createOnnxTextEncoder({
      weights: openWeights(dirname(shippedTermsFolder())),
      thread: 'main',
    });
  } catch (thrown) {
    if (!(thrown instanceof AuscultError)) throw thrown;
    console.log(`No text encoder: ${thrown.message}`);
    return null;
  }
}
