import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWeights } from '../../server/encode/weights.js';

/** SHA-256 of "weights". */
const SHA = '9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c';

function folderWith(manifest: string | null, content: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'models-'));
  mkdirSync(join(folder, 'weights'));
  if (manifest !== null) writeFileSync(join(folder, 'manifest.json'), manifest);
  if (content !== null) writeFileSync(join(folder, 'weights', 'a.onnx'), content);
  return folder;
}
const listing = (sha256: string): string => JSON.stringify({ files: [{ name: 'a.onnx', bytes: 7, sha256 }] });

describe('the weights', () => {
  it('shipped here are the ones of the manifest', async () => {
    const weights = openWeights('models');
    await weights.verify(['silero_vad.onnx', 'text-encoder.onnx', 'text-tokenizer.json']);
    expect(weights.pathOf('silero_vad.onnx')).toMatch(/models\/weights\/silero_vad\.onnx$/);
  });

  it('with another hash are model_corrupt, named with what to do', async () => {
    const weights = openWeights(folderWith(listing(SHA.replaceAll('a', '0')), 'weights'));
    await expect(weights.verify()).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining('fresh checkout') as string,
    });
  });

  it('that are missing or not listed are model_missing', async () => {
    const weights = openWeights(folderWith(listing(SHA), null));
    await expect(weights.verify()).rejects.toMatchObject({ code: 'model_missing' });
    for (const name of ['a.onnx', 'b.onnx', '../manifest.json']) {
      expect(() => weights.pathOf(name)).toThrow(expect.objectContaining({ code: 'model_missing' }));
    }
    expect(weights.find('b.onnx')).toBe(null);
  });

  it('without a manifest are model_missing, with a broken one model_corrupt', () => {
    expect(() => openWeights(folderWith(null, null))).toThrow(
      expect.objectContaining({ code: 'model_missing' }),
    );
    for (const manifest of ['no json', '{}', listing('short'), listing(SHA).replace('a.onnx', '../a')]) {
      expect(() => openWeights(folderWith(manifest, null))).toThrow(
        expect.objectContaining({ code: 'model_corrupt' }),
      );
    }
  });
});
