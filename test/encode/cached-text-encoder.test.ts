import { describe, expect, it } from 'vitest';
import { createCachedTextEncoder } from '../../server/encode/cached-text-encoder.js';
import type { TextEncoder } from '../../server/encode/text-encoder.js';
import { textEncoderContract } from '../contracts/text-encoder.contract.js';
import { createFakeTextEncoder } from '../fakes/fake-text-encoder.js';

textEncoderContract('cached fake', () => createCachedTextEncoder({ encoder: createFakeTextEncoder() }));

function counting(): TextEncoder & { readonly asked: string[] } {
  const inner = createFakeTextEncoder();
  const asked: string[] = [];
  return {
    ...inner,
    asked,
    encode(texts, role, signal) {
      asked.push(...texts);
      return inner.encode(texts, role, signal);
    },
  };
}

describe('a text encoder that remembers', () => {
  it('asks the model once for a text, however often and in whatever batch it comes again', async () => {
    const inner = counting();
    const encoder = createCachedTextEncoder({ encoder: inner });
    const [first] = await encoder.encode(['one', 'two', 'one'], 'passage');
    const [again] = await encoder.encode(['one', 'three'], 'passage');
    expect(inner.asked).toEqual(['one', 'two', 'three']);
    expect(again).toEqual(first);
  });

  it('keeps queries and passages apart', async () => {
    const inner = counting();
    const encoder = createCachedTextEncoder({ encoder: inner });
    await encoder.encode(['one'], 'passage');
    await encoder.encode(['one'], 'query');
    expect(inner.asked).toEqual(['one', 'one']);
  });

  it('forgets the least recently used beyond its capacity', async () => {
    const inner = counting();
    const encoder = createCachedTextEncoder({ encoder: inner, capacity: 2 });
    for (const text of ['one', 'two', 'one', 'three', 'one', 'two']) await encoder.encode([text], 'query');
    expect(inner.asked).toEqual(['one', 'two', 'three', 'two']);
  });

  it('gives copies: what a caller does to a vector changes nothing', async () => {
    const encoder = createCachedTextEncoder({ encoder: createFakeTextEncoder() });
    const [vector] = await encoder.encode(['one'], 'query');
    const before = vector?.[0];
    vector?.fill(9);
    expect((await encoder.encode(['one'], 'query'))[0]?.[0]).toBe(before);
  });
});
