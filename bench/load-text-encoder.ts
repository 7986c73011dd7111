import type { TextEncoder } from '../server/encode/text-encoder.js';

/** The shipped text encoder for a bench; null when its weights are not there. */
export async function loadTextEncoder(): Promise<TextEncoder | null> {
  return null;
}
