import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { readSpeech } from '../../server/audio/audio-file.js';
import { createDecoder } from '../../server/audio/decode.js';
import { pcmToMuLaw } from '../../server/audio/g711.js';
import { effectiveVad } from '../../server/audio/profiles.js';
import { createResampler } from '../../server/audio/resample.js';
import { createSampleRing } from '../../server/audio/sample-ring.js';
import { createSegmenter, type SegmentEvent } from '../../server/audio/segmenter.js';
import { createSileroDetector } from '../../server/audio/silero-detector.js';
import type { VoiceDetector } from '../../server/audio/voice-detector.js';
import { createOnnxSession, type OnnxSession } from '../../server/encode/onnx-session.js';
import { openWeights } from '../../server/encode/weights.js';
import { audioFormat, type AudioFormat, type VadSettings } from '../../shared/protocol.js';
import { createFakeVoiceDetector } from '../fakes/fake-voice-detector.js';
import { sharedData } from '../fixtures/shared-data.js';

interface Setup {
  readonly format?: Partial<AudioFormat>;
  readonly vad?: Partial<VadSettings>;
  readonly detector?: VoiceDetector;
}

/** The folder's own chain (decode → resample → detect → segment) on messages, without session, clock or socket. */
async function hear(messages: readonly Uint8Array[], setup: Setup = {}): Promise<SegmentEvent[]> {
  const format = audioFormat.parse(setup.format ?? {});
  const decoder = createDecoder(format);
  const resampler = await createResampler(format.rateHz);
  const detector = setup.detector ?? createFakeVoiceDetector();
  const segmenter = createSegmenter(effectiveVad('browser', setup.vad));
  const events: SegmentEvent[] = [];
  const ring = createSampleRing(ms(60_000));
  let sampleIndex = 0;
  for (const message of messages) {
    ring.write(resampler.push(decoder.decode(message)));
    for (; sampleIndex + 512 <= ring.endSample; sampleIndex += 512) {
      const probability = await detector.detect(ring.read(sampleIndex, sampleIndex + 512).samples);
      events.push(...segmenter.push({ sampleIndex, probability }));
    }
  }
  decoder.close();
  resampler.close();
  return events;
}

const ms = (value: number): number => value * 16;
const silence = (length: number): Float32Array => new Float32Array(ms(length));
const voice = (length: number, level = 0.3): Float32Array =>
  Float32Array.from({ length: ms(length) }, (_, n) => level * Math.sin((2 * Math.PI * 200 * n) / 16_000));
const join = (...parts: readonly Float32Array[]): Float32Array =>
  Float32Array.from(parts.flatMap((part) => Array.from(part)));
const pcm = (samples: Float32Array): Uint8Array =>
  new Uint8Array(Int16Array.from(samples, (x) => Math.round(x * 32_767)).buffer);
function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
}
const of = <T extends SegmentEvent['type']>(events: readonly SegmentEvent[], type: T) =>
  events.filter((event): event is Extract<SegmentEvent, { type: T }> => event.type === type);

describe('Listening (cases of voice systems)', () => {
  it('the segment starts at or before the true onset, whatever the start delay', async () => {
    for (const delay of [1_000, 1_200, 1_600]) {
      const [started] = of(await hear([pcm(join(silence(delay), voice(400), silence(900)))]), 'started');
      expect(started?.sampleIndex).toBeLessThanOrEqual(ms(delay));
      expect(Math.abs((started?.onsetSample ?? 0) - ms(delay))).toBeLessThanOrEqual(512);
    }
  });

  it('a 150 ms quiet fricative before a vowel is inside the segment, and outside it without pre-roll', async () => {
    const sound = pcm(join(silence(1_000), voice(150, 0.02), voice(400), silence(900)));
    expect(of(await hear([sound]), 'ended')[0]?.startSample).toBeLessThanOrEqual(ms(1_000));
    expect(of(await hear([sound], { vad: { preRollMs: 0 } }), 'ended')[0]?.startSample).toBeGreaterThan(
      ms(1_100),
    );
  });

  it('a 200 ms "yes" is one turn', async () => {
    const events = await hear([pcm(join(silence(500), voice(200), silence(900)))]);
    expect([of(events, 'ended').length, of(events, 'rejected').length]).toEqual([1, 0]);
  });

  it('a detector that says −1, NaN or nothing for 24 windows: the turn still ends well under 2 s', async () => {
    for (const unknown of [-1, Number.NaN]) {
      const detector = createFakeVoiceDetector({ script: Array.from({ length: 24 }, () => unknown) });
      const events = await hear([pcm(join(voice(1_200), silence(800)))], { detector });
      expect(of(events, 'ended')[0]).toMatchObject({ startSample: 0, reason: 'silence' });
    }
  });

  it('ten 250 ms bursts 600 ms apart: one turn with digits, ten without', async () => {
    const number = pcm(
      join(...Array.from({ length: 10 }, () => join(voice(250), silence(600))), silence(1_000)),
    );
    expect(of(await hear([number], { vad: { digits: true } }), 'ended')).toHaveLength(1);
    expect(of(await hear([number]), 'ended')).toHaveLength(10);
  });

  it('the same 2 s in one message, in 20 ms frames, in pieces of 1, 3, 4063, 1697 and 641 bytes: identical events', async () => {
    const bytes = pcm(join(silence(300), voice(700), silence(1_000)));
    const whole = await hear([bytes]);
    expect(of(whole, 'ended')).toHaveLength(1);
    for (const size of [640, 1, 3, 4_063, 1_697, 641]) expect(await hear(cut(bytes, size))).toEqual(whole);
  });

  it('the same in pieces at 44.1 kHz in two channels', async () => {
    const samples = voice(2_000);
    const stereo = Float32Array.from(
      { length: 88_200 * 2 },
      (_, n) => samples[Math.floor(n / 2) % 32_000] ?? 0,
    );
    const bytes = pcm(join(stereo, new Float32Array(88_200)));
    const format = { rateHz: 44_100, channels: 2 };
    const whole = await hear([bytes], { format });
    expect(of(whole, 'ended')).toHaveLength(1);
    for (const size of [4_063, 1_697]) expect(await hear(cut(bytes, size), { format })).toEqual(whole);
  });
});

describe('Listening with Silero', () => {
  let model: OnnxSession;
  beforeAll(async () => {
    model = await createOnnxSession({ path: openWeights('models').pathOf('silero_vad.onnx') });
  });
  afterAll(() => model.close());
  const silero = (): VoiceDetector => createSileroDetector({ model });

  /** Deterministic noise in −1 … 1. */
  function noise(length: number, level: number): Float32Array {
    let state = 12_345;
    return Float32Array.from({ length: ms(length) }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      return (level * state) / 2 ** 31;
    });
  }
  /** Noise that falls by 3 dB an octave, by summing generators that change at halving rates (Voss). */
  function pinkNoise(length: number, level: number): Float32Array {
    const white = noise(length * 8, 1);
    return Float32Array.from({ length: ms(length) }, (_, n) => {
      let sum = 0;
      for (let octave = 0; octave < 8; octave += 1) sum += white[octave * ms(length) + (n >> octave)] ?? 0;
      return (level * sum) / 8;
    });
  }

  it('30 s of exact zeros and of dither of one bit: no turn, no event', async () => {
    expect(await hear([pcm(silence(30_000))], { detector: silero() })).toEqual([]);
    expect(await hear([pcm(noise(30_000, 1.4 / 32_767))], { detector: silero() })).toEqual([]);
  });

  it('an 80 ms click at −3 dBFS and 400 ms of pink noise: a rejection at most', async () => {
    for (const sound of [noise(80, 0.7), pinkNoise(400, 0.7)]) {
      const events = await hear([pcm(join(silence(500), sound, silence(1_500)))], { detector: silero() });
      expect(of(events, 'ended')).toEqual([]);
    }
  });

  describe.skipIf(!sharedData)('on recorded people (needs the shared data)', () => {
    const recording = (): Promise<Float32Array> =>
      readSpeech(`${sharedData}/speech/an4/fash_an251-fash-b.flac`);
    const padded = async (): Promise<Float32Array> => join(silence(500), await recording(), silence(1_200));

    it('the same question through PCM at 16 kHz and µ-law at 8 kHz has the same boundaries within 100 ms', async () => {
      const samples = await padded();
      const [wide] = of(await hear([pcm(samples)], { detector: silero() }), 'ended');
      const narrow = Uint8Array.from({ length: samples.length >> 1 }, (_, n) =>
        pcmToMuLaw((((samples[2 * n] ?? 0) + (samples[2 * n + 1] ?? 0)) / 2) * 32_767),
      );
      const format = { codec: 'mulaw', rateHz: 8_000 } as const;
      const [phone] = of(await hear([narrow], { format, detector: silero() }), 'ended');
      expect(Math.abs((wide?.startSample ?? 0) - (phone?.startSample ?? 1e9))).toBeLessThanOrEqual(ms(100));
      expect(Math.abs((wide?.lastVoicedSample ?? 0) - (phone?.lastVoicedSample ?? 1e9))).toBeLessThanOrEqual(
        ms(100),
      );
    });

    it('a sentence is one turn that holds all of its loud sound', async () => {
      const events = await hear([pcm(await padded())], { detector: silero() });
      expect(of(events, 'ended')).toHaveLength(1);
      expect(of(events, 'rejected')).toHaveLength(0);
    });
  });
});
