import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOnnxSession, floatOutput, keptOutput } from '../../server/encode/onnx-session.js';
import { openWeights } from '../../server/encode/weights.js';

const weights = openWeights('models');
const silence = () => ({
  input: { type: 'float32', data: new Float32Array(512), dims: [1, 512] } as const,
  state: { type: 'float32', data: new Float32Array(256), dims: [2, 1, 128] } as const,
  sr: { type: 'int64', data: BigInt64Array.of(16_000n), dims: [] } as const,
});

describe.each(['main', 'worker'] as const)('an ONNX session on the %s thread', (thread) => {
  it('names its inputs and answers a run', async () => {
    const session = await createOnnxSession({ path: weights.pathOf('silero_vad.onnx'), thread });
    expect(session.inputNames).toEqual(['input', 'state', 'sr']);
    const output = floatOutput(await session.run(silence()), 'output');
    expect(output.data[0]).toBeGreaterThanOrEqual(0);
    expect(output.data[0]).toBeLessThan(0.2);
    await session.close();
  });

  it('feeds a kept output to the next run and gives the same as a copied one', async () => {
    const session = await createOnnxSession({ path: weights.pathOf('silero_vad.onnx'), thread });
    const first = await session.run(silence(), { keep: ['stateN'] });
    const state = keptOutput(first, 'stateN');
    const viaKept = await session.run({ ...silence(), state }, { release: [state.kept] });
    const copied = await session.run(silence());
    const viaCopy = await session.run({
      ...silence(),
      state: { type: 'float32', data: floatOutput(copied, 'stateN').data, dims: [2, 1, 128] },
    });
    expect(floatOutput(viaKept, 'output').data[0]).toBe(floatOutput(viaCopy, 'output').data[0]);
    await expect(session.run({ ...silence(), state })).rejects.toThrow(/already released/);
    await session.close();
  });

  it('refuses work after it was closed, and wrong shapes without harm to the next run', async () => {
    const session = await createOnnxSession({ path: weights.pathOf('silero_vad.onnx'), thread });
    const bad = { ...silence(), state: { type: 'float32', data: new Float32Array(2), dims: [2] } as const };
    await expect(session.run(bad)).rejects.toThrow();
    expect(floatOutput(await session.run(silence()), 'output').data).toHaveLength(1);
    await session.close();
    await expect(session.run(silence())).rejects.toMatchObject({ code: 'wrong_state' });
  });

  it('rejects an aborted run with "aborted"', async () => {
    const session = await createOnnxSession({ path: weights.pathOf('silero_vad.onnx'), thread });
    const stop = new AbortController();
    const run = session.run(silence(), { signal: stop.signal });
    stop.abort();
    await expect(run).rejects.toMatchObject({ code: 'aborted' });
    await session.close();
  });

  it('says model_corrupt for a file that is no model', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'onnx-')), 'text.onnx');
    writeFileSync(path, 'this is no model');
    await expect(createOnnxSession({ path, thread })).rejects.toMatchObject({ code: 'model_corrupt' });
  });
});

describe('opening a model file', () => {
  it('says model_missing for a file that is not there', async () => {
    await expect(createOnnxSession({ path: '/nowhere/ear.onnx' })).rejects.toMatchObject({
      code: 'model_missing',
    });
  });

  it('says model_corrupt for a wrong hash', async () => {
    const path = weights.pathOf('silero_vad.onnx');
    await expect(createOnnxSession({ path, sha256: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'model_corrupt',
    });
  });
});
