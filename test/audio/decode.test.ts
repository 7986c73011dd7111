import opus from '@discordjs/opus';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDecoder } from '../../server/audio/decode.js';
import { pcmToMuLaw } from '../../server/audio/g711.js';
import { opusPacketMs } from '../../server/audio/opus-packets.js';
import type { AudioFormat } from '../../shared/protocol.js';

const format = (changes: Partial<AudioFormat>): AudioFormat => ({
  codec: 'pcm16',
  rateHz: 16_000,
  channels: 1,
  frameMs: 20,
  framing: 'auto',
  ...changes,
});
const pcm = (...samples: number[]): Uint8Array => new Uint8Array(Int16Array.from(samples).buffer);

/** G.711 by its table of segments, unlike the formula under test: 8 segments of 16 steps, written out. */
function muLawOracle(code: number): number {
  const ends = [0, 33, 99, 231, 495, 1_023, 2_079, 4_191];
  const steps = [2, 4, 8, 16, 32, 64, 128, 256];
  const bits = 255 - code;
  const segment = Math.floor((bits % 128) / 16);
  const step = bits % 16;
  const base = segment === 0 ? 0 : (ends[segment] ?? 0);
  const magnitude = segment === 0 ? step * 2 : base + step * (steps[segment] ?? 0);
  return (bits >= 128 ? -1 : 1) * magnitude * 4;
}
function aLawOracle(code: number): number {
  const bits = code ^ 0x55;
  const segment = Math.floor((bits % 128) / 16);
  const step = bits % 16;
  const size = segment < 2 ? 2 : 2 ** segment;
  const base = segment === 0 ? 0 : 32 * 2 ** (segment - 1);
  return (bits >= 128 ? 1 : -1) * (base + step * size + size / 2) * 8;
}

describe('telephone codes', () => {
  it.each([
    ['mulaw', muLawOracle],
    ['alaw', aLawOracle],
  ] as const)('decodes all 256 %s codes to the G.711 table', (codec, oracle) => {
    const samples = createDecoder(format({ codec, rateHz: 8_000 })).decode(
      Uint8Array.from({ length: 256 }, (_, code) => code),
    );
    for (let code = 0; code < 256; code += 1) expect((samples[code] ?? 9) * 32_768).toBe(oracle(code) + 0);
  });

  it('knows the corners of µ-law', () => {
    const samples = createDecoder(format({ codec: 'mulaw', rateHz: 8_000 })).decode(
      Uint8Array.of(0x00, 0x80, 0x7f, 0xff),
    );
    expect([...samples].map((x) => x * 32_768)).toEqual([-32_124, 32_124, 0, 0]);
  });

  it('codes every µ-law value back to itself, and any sample to within its step', () => {
    for (let code = 0; code < 256; code += 1) {
      if (code !== 0x7f) expect(pcmToMuLaw(muLawOracle(code))).toBe(code);
    }
    fc.assert(
      fc.property(fc.integer({ min: -32_124, max: 32_124 }), (sample) => {
        const back = muLawOracle(pcmToMuLaw(sample));
        expect(Math.abs(back - sample)).toBeLessThanOrEqual(Math.max(4, Math.abs(sample) / 16 + 4));
      }),
    );
  });
});

describe('decoding PCM', () => {
  it('reads little-endian samples and scales them to −1 … 1', () => {
    expect([...createDecoder(format({})).decode(pcm(0, 16_384, -32_768, 32_767))]).toEqual([
      0,
      0.5,
      -1,
      32_767 / 32_768,
    ]);
  });

  it('averages two channels', () => {
    expect([...createDecoder(format({ channels: 2 })).decode(pcm(16_384, 0, -16_384, 16_384))]).toEqual([
      0.25, 0,
    ]);
  });

  it('loses no frame of 641-byte messages and carries the odd byte to the next chunk', () => {
    const all = pcm(...Array.from({ length: 641 }, (_, n) => n * 51 - 16_000));
    const decoder = createDecoder(format({}));
    const pieces = [all.subarray(0, 641), all.subarray(641, 1_282)];
    const out = pieces.flatMap((piece) => [...decoder.decode(piece)]);
    expect(out).toEqual([...createDecoder(format({})).decode(all)]);
    expect(out).toHaveLength(641);
  });

  it('gives the same samples for any cutting, codec, channel count and buffer offset', () => {
    fc.assert(
      fc.property(
        fc.record({
          codec: fc.constantFrom('pcm16', 'float32', 'mulaw', 'alaw'),
          channels: fc.constantFrom(1, 2),
          bytes: fc.uint8Array({ minLength: 4, maxLength: 400 }),
          cuts: fc.array(fc.integer({ min: 0, max: 17 }), { minLength: 1 }),
          offset: fc.integer({ min: 0, max: 7 }),
        }),
        ({ codec, channels, bytes, cuts, offset }) => {
          fc.pre(bytes[0] !== 0x52 && bytes[0] !== 0x4f && bytes[0] !== 0x1a && bytes[0] !== 0x66);
          const one = createDecoder(format({ codec, channels })).decode(bytes);
          const shifted = new Uint8Array(bytes.length + offset);
          shifted.set(bytes, offset);
          const decoder = createDecoder(format({ codec, channels }));
          const many: number[] = [];
          for (let at = offset, turn = 0; at < shifted.length; turn += 1) {
            const length = turn > 500 ? shifted.length : (cuts[turn % cuts.length] ?? 1);
            many.push(...decoder.decode(shifted.subarray(at, at + length)));
            at += length;
          }
          expect(many).toEqual([...one]);
        },
      ),
    );
  });

  it('turns NaN and infinite floats into silence and counts them', () => {
    const decoder = createDecoder(format({ codec: 'float32' }));
    const bytes = new Uint8Array(
      Float32Array.of(Number.NaN, 0.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY).buffer,
    );
    expect([...decoder.decode(bytes)]).toEqual([0, 0.5, 0, 0]);
    expect(decoder.repairedSamples).toBe(3);
  });

  it('refuses a container where raw samples were declared', () => {
    for (const magic of ['RIFF', 'OggS', 'fLaC', '\x1a\x45\xdf\xa3']) {
      const bytes = Uint8Array.from(Buffer.from(`${magic}\0\0\0\0`, 'latin1'));
      expect(() => createDecoder(format({})).decode(bytes)).toThrow(
        expect.objectContaining({ code: 'unsupported_audio' }),
      );
    }
  });

  it('refuses three channels and anything after it was closed', () => {
    expect(() => createDecoder(format({ channels: 3 }))).toThrow(
      expect.objectContaining({ code: 'unsupported_audio' }),
    );
    const decoder = createDecoder(format({}));
    decoder.close();
    expect(() => decoder.decode(pcm(1, 2))).toThrow(expect.objectContaining({ code: 'wrong_state' }));
  });
});

describe('decoding Opus', () => {
  const encode = (rateHz: number, channels: number, ms: number, hz = 440): Buffer => {
    const samples = (rateHz * ms) / 1_000;
    const data = Int16Array.from({ length: samples * channels }, (_, n) =>
      Math.round(9_000 * Math.sin((2 * Math.PI * hz * Math.floor(n / channels)) / rateHz)),
    );
    return new opus.OpusEncoder(rateHz, channels).encode(Buffer.from(data.buffer));
  };
  const decoder = (changes: Partial<AudioFormat> = {}) =>
    createDecoder(format({ codec: 'opus', rateHz: 48_000, ...changes }));

  it('decodes 20 ms packets at every Opus rate, mono and stereo, to mono of the declared length', () => {
    for (const rateHz of [8_000, 12_000, 16_000, 24_000, 48_000]) {
      for (const channels of [1, 2]) {
        const stream = decoder({ rateHz, channels });
        expect(stream.decode(encode(48_000, channels, 20))).toHaveLength(rateHz / 50);
        stream.close();
      }
    }
  });

  it('hears the tone that was sent', () => {
    const stream = decoder();
    const encoder = new opus.OpusEncoder(48_000, 1);
    let last = new Float32Array(0);
    for (let frame = 0; frame < 20; frame += 1) {
      const data = Int16Array.from({ length: 960 }, (_, n) =>
        Math.round(16_000 * Math.sin((2 * Math.PI * 500 * (frame * 960 + n)) / 48_000)),
      );
      last = Float32Array.from(stream.decode(encoder.encode(Buffer.from(data.buffer))));
    }
    const crossings = last.filter((x, n) => n > 0 && x >= 0 && (last[n - 1] ?? 0) < 0).length;
    expect(crossings).toBe(10);
    stream.close();
  });

  it('refuses empty packets, wrong durations and oversized ones with decode_failed and goes on', () => {
    const stream = decoder();
    for (const packet of [
      new Uint8Array(0),
      encode(48_000, 1, 40),
      encode(48_000, 1, 10),
      new Uint8Array(9_000),
    ]) {
      expect(() => stream.decode(packet)).toThrow(
        expect.objectContaining({ code: 'decode_failed', retryable: true }),
      );
    }
    expect(stream.failedPackets).toBe(4);
    expect(stream.decode(encode(48_000, 1, 20))).toHaveLength(960);
    stream.close();
  });

  it('takes a DTX packet of one byte as 20 ms', () => {
    const stream = decoder();
    const packet = encode(48_000, 1, 20);
    stream.decode(packet);
    expect(stream.decode(packet.subarray(0, 1))).toHaveLength(960);
    stream.close();
  });

  it('refuses OggS and EBML with unsupported_audio', () => {
    for (const magic of ['OggS', '\x1a\x45\xdf\xa3']) {
      expect(() => decoder().decode(Uint8Array.from(Buffer.from(`${magic}\0\x02\0\0`, 'latin1')))).toThrow(
        expect.objectContaining({ code: 'unsupported_audio' }),
      );
    }
  });

  it('refuses 44.1 kHz, three channels and 15 ms packets before anything is decoded', () => {
    for (const changes of [{ rateHz: 44_100 }, { channels: 3 }, { frameMs: 15 }]) {
      expect(() => decoder(changes)).toThrow(expect.objectContaining({ code: 'unsupported_audio' }));
    }
  });

  it('gives up after fifty undecodable packets in a row, and only in a row', () => {
    const stream = decoder();
    const failures: boolean[] = [];
    const fail = (): void => {
      try {
        stream.decode(new Uint8Array(0));
      } catch (error) {
        failures.push((error as { retryable: boolean }).retryable);
      }
    };
    for (let n = 0; n < 49; n += 1) fail();
    stream.decode(encode(48_000, 1, 20));
    for (let n = 0; n < 50; n += 1) fail();
    expect(failures.filter((retryable) => !retryable)).toHaveLength(1);
    expect(failures.at(-1)).toBe(false);
    stream.close();
  });

  it('survives random bytes: every packet is decoded to the declared length or refused', () => {
    const stream = decoder();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          expect(stream.decode(bytes)).toHaveLength(960);
        } catch (error) {
          expect(['decode_failed', 'unsupported_audio']).toContain((error as { code: string }).code);
        }
      }),
      { numRuns: 2_000 },
    );
    stream.close();
  });

  it('starts every stream clean, though decoders are used again', () => {
    const packet = encode(48_000, 1, 20);
    const first = decoder();
    const fresh = first.decode(packet);
    for (let n = 0; n < 10; n += 1) first.decode(encode(48_000, 1, 20, 3_000));
    first.close();
    first.close();
    expect(() => first.decode(packet)).toThrow(expect.objectContaining({ code: 'wrong_state' }));
    const second = decoder();
    expect([...second.decode(packet)]).toEqual([...fresh]);
    second.close();
  });

  it('reads packet lengths from the first bytes alone', () => {
    expect(opusPacketMs(Uint8Array.of(0b00011_0_00))).toBe(60);
    expect(opusPacketMs(Uint8Array.of(0b01100_0_00))).toBe(10);
    expect(opusPacketMs(Uint8Array.of(0b10000_0_00))).toBe(2.5);
    expect(opusPacketMs(Uint8Array.of(0b11111_0_11, 3))).toBe(60);
    expect(opusPacketMs(Uint8Array.of(0b11111_0_11, 7))).toBe(null);
    expect(opusPacketMs(Uint8Array.of(0b11111_0_11))).toBe(null);
    expect(opusPacketMs(new Uint8Array(0))).toBe(null);
  });
});
