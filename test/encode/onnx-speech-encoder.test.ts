import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bucketOf,
  createOnnxSpeechEncoder,
  runEar,
  validFrames,
} from '../../server/encode/onnx-speech-encoder.js';
import { createOnnxSession, type OnnxSession } from '../../server/encode/onnx-session.js';
import { openWeights } from '../../server/encode/weights.js';
import { babbleOf, speechEncoderContract } from '../contracts/speech-encoder.contract.js';
import { createFakeSpeechEncoder } from '../fakes/fake-speech-encoder.js';

const weights = openWeights('models');

speechEncoderContract('the ear on ONNX', () => createOnnxSpeechEncoder({ weights }));
speechEncoderContract('the fake', () => createFakeSpeechEncoder());

describe('buckets and masks of the ear', () => {
  it('takes the smallest bucket that holds a window', () => {
    expect([1, 32_000, 32_001, 48_000, 64_000, 64_001, 96_001, 128_000].map(bucketOf)).toEqual([
      32_000, 32_000, 48_000, 48_000, 64_000, 96_000, 128_000, 128_000,
    ]);
    for (const samples of [0, -1, 128_001, Number.NaN]) {
      expect(() => bucketOf(samples)).toThrow(expect.objectContaining({ code: 'unsupported_audio' }));
    }
  });

  it('counts a begun frame of 20 ms as valid', () => {
    expect([1, 320, 321, 16_000, 128_000].map(validFrames)).toEqual([1, 1, 2, 50, 400]);
  });

  describe('on the model', () => {
    let session: OnnxSession;
    beforeAll(async () => {
      session = await createOnnxSession({ path: weights.pathOf('ear.onnx') });
    });
    afterAll(() => session.close());

    it.each([
      ['counts in mel frames', [200]],
      ['counts in samples', [32_000]],
      ['no frame', [0]],
      ['a negative count', [-1]],
      ['a fraction', [1.5]],
      ['one count too many', [50, 50]],
      ['none', []],
    ])('refuses a mask of the wrong length or range: %s', async (_name, frames) => {
      const input = { mel: new Float32Array(80 * 200), melFrames: 200, frames };
      await expect(runEar(session, input)).rejects.toMatchObject({ code: 'unsupported_audio' });
    });

    it('lets the mask matter: fewer valid frames give another vector', async () => {
      const mel = Float32Array.from({ length: 80 * 200 }, (_, at) => Math.sin(at * at) / 2);
      const [all] = await runEar(session, { mel, melFrames: 200, frames: [100] });
      const [few] = await runEar(session, { mel, melFrames: 200, frames: [10] });
      expect(few?.features).toHaveLength(10 * 512);
      expect(all?.features.slice(0, 5_120)).toEqual(few?.features);
      expect(all?.vector).not.toEqual(few?.vector);
    });
  });
});

describe('batches of the ear', () => {
  it('serves a short question before the rest of a long recording', async () => {
    const encoder = await createOnnxSpeechEncoder({ weights, maxBatch: 1 });
    const order: string[] = [];
    const long = encoder
      .encode(Array.from({ length: 8 }, (_, at) => babbleOf(at, 16_000)))
      .then(() => order.push('recording'));
    const short = encoder.encode([babbleOf(9, 16_000)]).then(() => order.push('question'));
    await Promise.all([long, short]);
    expect(order).toEqual(['question', 'recording']);
    await encoder.close();
  });
});
