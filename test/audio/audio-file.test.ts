import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAudioFile, readSpeech } from '../../server/audio/audio-file.js';
import { sharedData } from '../fixtures/shared-data.js';

const folder = mkdtempSync(join(tmpdir(), 'audio-'));
function file(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

interface WavSpec {
  readonly kind?: number;
  readonly bits: number;
  readonly channels?: number;
  readonly rateHz?: number;
  readonly data: Uint8Array;
  readonly declared?: number;
}
function wav({ kind = 1, bits, channels = 1, rateHz = 16_000, data, declared }: WavSpec): Uint8Array {
  const bytes = new Uint8Array(54 + data.length);
  const view = new DataView(bytes.buffer);
  const put = (at: number, text: string): void =>
    [...text].forEach((c, n) => view.setUint8(at + n, c.charCodeAt(0)));
  put(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  put(8, 'WAVELIST');
  view.setUint32(16, 1, true); // an odd chunk that is skipped with its padding byte
  put(22, 'fmt ');
  view.setUint32(26, 16, true);
  view.setUint16(30, kind, true);
  view.setUint16(32, channels, true);
  view.setUint32(34, rateHz, true);
  view.setUint16(44, bits, true);
  put(46, 'data');
  view.setUint32(50, declared ?? data.length, true);
  bytes.set(data, 54);
  return bytes;
}
const bytesOf = (array: Int16Array | Int32Array | Float32Array | Float64Array): Uint8Array =>
  new Uint8Array(array.buffer);

describe('reading a WAV file', () => {
  it.each([
    ['8-bit', { bits: 8, data: Uint8Array.of(128, 192, 0) }, [0, 0.5, -1]],
    ['16-bit', { bits: 16, data: bytesOf(Int16Array.of(0, 16_384, -32_768)) }, [0, 0.5, -1]],
    ['24-bit', { bits: 24, data: Uint8Array.of(0, 0, 0, 0, 0, 0x40, 0, 0, 0x80) }, [0, 0.5, -1]],
    ['32-bit', { bits: 32, data: bytesOf(Int32Array.of(0, 2 ** 30, -(2 ** 31))) }, [0, 0.5, -1]],
    ['float', { kind: 3, bits: 32, data: bytesOf(Float32Array.of(0, 0.5, Number.NaN)) }, [0, 0.5, 0]],
    ['double', { kind: 3, bits: 64, data: bytesOf(Float64Array.of(0, 0.5, -1)) }, [0, 0.5, -1]],
    ['µ-law', { kind: 7, bits: 8, data: Uint8Array.of(0xff, 0x80) }, [0, 32_124 / 32_768]],
    ['stereo', { bits: 16, channels: 2, data: bytesOf(Int16Array.of(16_384, 0, 0, -16_384)) }, [0.25, -0.25]],
    ['cut off', { bits: 16, data: bytesOf(Int16Array.of(16_384)), declared: 0xffffffff }, [0.5]],
  ] as const)('%s', async (name, spec, expected) => {
    const { samples, rateHz } = await readAudioFile(file(`${name}.wav`, wav(spec)));
    expect(rateHz).toBe(16_000);
    expect([...samples].map((x) => Math.round(x * 1e6) / 1e6)).toEqual(
      expected.map((x) => Math.round(x * 1e6) / 1e6),
    );
  });

  it('is brought to 16 kHz with its length kept', async () => {
    for (const rateHz of [8_000, 44_100, 48_000, 96_000]) {
      const tone = Int16Array.from(
        { length: rateHz },
        (_, n) => 9_000 * Math.sin((2 * Math.PI * 440 * n) / rateHz),
      );
      const speech = await readSpeech(file(`${rateHz}.wav`, wav({ bits: 16, rateHz, data: bytesOf(tone) })));
      expect(speech).toHaveLength(16_000);
      const rising = speech.filter((x, n) => n > 0 && x >= 0 && (speech[n - 1] ?? 0) < 0).length;
      expect(Math.abs(rising - 440)).toBeLessThanOrEqual(2);
    }
  });
});

describe('what is no recording', () => {
  it.each([
    ['an empty file', ''],
    ['a text', 'This is a text, not a sound. '.repeat(50)],
    ['a picture', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13)],
    ['a WAV header without data', wav({ bits: 16, data: new Uint8Array(0) })],
    ['a WAV file cut in its header', wav({ bits: 16, data: new Uint8Array(0) }).subarray(0, 30)],
    ['a WAV file of an unknown kind', wav({ kind: 85, bits: 16, data: new Uint8Array(64) })],
    ['a FLAC file cut in its header', 'fLaC\0\0\0'],
    ['an Ogg file of nothing', 'OggS\0\0\0\0'],
  ])('%s is refused with not_audio and says what to give', async (name, bytes) => {
    const reading = readAudioFile(file(`${name}.bin`, bytes));
    await expect(reading).rejects.toMatchObject({
      code: 'not_audio',
      message: expect.stringContaining('WAV') as string,
    });
  });

  it('says file_unreadable for a missing file and for a folder', async () => {
    for (const path of [join(folder, 'missing.wav'), folder]) {
      await expect(readAudioFile(path)).rejects.toMatchObject({ code: 'file_unreadable' });
    }
  });
});

describe.skipIf(!sharedData)('reading FLAC (needs the shared data)', () => {
  it('reads a recording whole, and refuses or shortens one that breaks off', async () => {
    const path = `${sharedData}/speech/an4/fash_an251-fash-b.flac`;
    const { samples, rateHz } = await readAudioFile(path);
    expect(rateHz).toBe(16_000);
    expect(samples.length).toBeGreaterThan(8_000);
    const bytes = readFileSync(path);
    const broken = file('broken.flac', bytes.subarray(0, bytes.length >> 1));
    const outcome = await readAudioFile(broken).then(
      (recording) => recording.samples.length < samples.length,
      (error: { code: string }) => error.code === 'not_audio',
    );
    expect(outcome).toBe(true);
  });
});
