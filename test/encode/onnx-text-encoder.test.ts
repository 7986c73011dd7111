import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxTextEncoder } from '../../server/encode/onnx-text-encoder.js';
import type { TextEncoder } from '../../server/encode/text-encoder.js';
import { openWeights } from '../../server/encode/weights.js';
import { textEncoderContract } from '../contracts/text-encoder.contract.js';
import { createFakeTextEncoder } from '../fakes/fake-text-encoder.js';

const weights = openWeights('models');
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0);

textEncoderContract('all-MiniLM-L6-v2 on ONNX', () => createOnnxTextEncoder({ weights }));
textEncoderContract('the fake', () => createFakeTextEncoder());

describe('the MiniLM text encoder', () => {
  let encoder: TextEncoder;
  beforeAll(async () => {
    encoder = await createOnnxTextEncoder({ weights, thread: 'main' });
  });
  afterAll(() => encoder.close());

  it.each([
    ['How is high blood pressure treated?', 'Therapy of hypertension', 'Growing tomatoes on a balcony'],
    [
      'Can children take aspirin?',
      'Acetylsalicylic acid in paediatric patients',
      'The history of the steam engine',
    ],
    ['I cannot sleep at night.', 'insomnia', 'fracture of the wrist'],
  ])('puts "%s" nearer to its paraphrase than to something else', async (question, paraphrase, other) => {
    const [q, p, o] = await encoder.encode([question, paraphrase, other], 'query');
    const near = dot(q as Float32Array, p as Float32Array);
    expect(near).toBeGreaterThan(dot(q as Float32Array, o as Float32Array) + 0.15);
    expect(near).toBeGreaterThan(0.3);
  });

  it('ignores case, and cuts at 256 tokens, not before', async () => {
    const [upper, lower] = await encoder.encode(['ASTHMA ATTACK', 'asthma attack'], 'query');
    expect(dot(upper as Float32Array, lower as Float32Array)).toBeGreaterThan(0.9999);
    const head = 'heart '.repeat(254);
    const [cut, longer, other] = await encoder.encode(
      [head, `${head} kidney kidney kidney`, `${'heart '.repeat(244)} ${'kidney '.repeat(10)}`],
      'passage',
    );
    expect(dot(cut as Float32Array, longer as Float32Array)).toBeGreaterThan(0.9999);
    expect(dot(cut as Float32Array, other as Float32Array)).toBeLessThan(0.999);
  });

  it('names the exact weights it runs', () => {
    expect(encoder.modelId).toMatch(/^all-MiniLM-L6-v2:[0-9a-f]{12}$/);
  });
});
