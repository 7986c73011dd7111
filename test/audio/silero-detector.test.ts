import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSpeech } from '../../server/audio/audio-file.js';
import { createSileroDetector } from '../../server/audio/silero-detector.js';
import type { VoiceDetector } from '../../server/audio/voice-detector.js';
import { createOnnxSession, type OnnxSession } from '../../server/encode/onnx-session.js';
import { openWeights } from '../../server/encode/weights.js';
import { voiceDetectorContract } from '../contracts/voice-detector.contract.js';
import { createFakeVoiceDetector } from '../fakes/fake-voice-detector.js';
import { sharedData } from '../fixtures/shared-data.js';

const path = openWeights('models').pathOf('silero_vad.onnx');
let model: OnnxSession;
beforeAll(async () => {
  model = await createOnnxSession({ path });
});
afterAll(() => model.close());

voiceDetectorContract('Silero on ONNX', () => createSileroDetector({ model }));
voiceDetectorContract('the fake', () => createFakeVoiceDetector());

async function loudest(detector: VoiceDetector, samples: Float32Array): Promise<number> {
  let most = 0;
  for (let at = 0; at + 512 <= samples.length; at += 512) {
    most = Math.max(most, await detector.detect(samples.subarray(at, at + 512)));
  }
  return most;
}

describe('Silero', () => {
  it('hears no voice in 30 s of exact zeros and of dither of one bit', async () => {
    const zeros = createSileroDetector({ model });
    expect(await loudest(zeros, new Float32Array(480_000))).toBeLessThan(0.35);
    const dither = Float32Array.from({ length: 480_000 }, (_, n) => ((n * 7_919) % 3) - 1).map(
      (x) => x / 32_768,
    );
    expect(await loudest(createSileroDetector({ model }), dither)).toBeLessThan(0.35);
  });

  it('forgets a stream on reset, also while it answers', async () => {
    const window = Float32Array.from({ length: 512 }, (_, n) => 0.4 * Math.sin(n / 9));
    const detector = createSileroDetector({ model });
    const fresh = await detector.detect(window);
    for (let n = 0; n < 5; n += 1) await detector.detect(window);
    const late = detector.detect(window);
    detector.reset();
    await late;
    detector.reset();
    expect(await detector.detect(window)).toBe(fresh);
  });
});

describe.skipIf(!sharedData)('Silero on recorded people (needs the shared data)', () => {
  it('hears a voice in a recording and none in running water', async () => {
    const voice = await readSpeech(`${sharedData}/speech/an4/fash_an251-fash-b.flac`);
    expect(await loudest(createSileroDetector({ model }), voice)).toBeGreaterThan(0.9);
    const water = await readSpeech(`${sharedData}/noise/gsc-background_running_tap.flac`);
    expect(await loudest(createSileroDetector({ model }), water.subarray(0, 160_000))).toBeLessThan(0.5);
  });
});
