import { LIMITS } from '../../shared/limits.js';
import type { AudioFormat } from '../../shared/protocol.js';
import { AuscultError } from '../errors.js';
import { aLawToPcm, g711Table, muLawToPcm } from './g711.js';
import { openOpusStream } from './opus-packets.js';

/** Bytes of one stream → mono samples at the declared rate. State is kept between calls: chunk borders are invisible. */
export interface AudioDecoder {
  /**
   * Mono samples, −1 … 1, at `format.rateHz`; channels are averaged. For Opus `bytes` is one packet; for the others any
   * number of bytes, and an incomplete sample at the end waits for the next call.
   * Errors: `decode_failed` (retryable: leave this packet out; not retryable: LIMITS.consecutiveDecodeErrors in a row, give
   * up), `unsupported_audio` for a container where raw sound was declared.
   */
  decode(bytes: Uint8Array): Float32Array;
  /** Samples that were NaN or infinite and became 0, so far. */
  readonly repairedSamples: number;
  /** Undecodable packets so far. */
  readonly failedPackets: number;
  close(): void;
}

/** A decoder for one stream. `unsupported_audio` for what the format cannot be: rates, channels, packet lengths. */
export function createDecoder(format: AudioFormat): AudioDecoder {
  if (![1, 2].includes(format.channels)) {
    throw new AuscultError('unsupported_audio', {
      message: `${format.channels} channels cannot be decoded: send one or two.`,
    });
  }
  return format.codec === 'opus' ? createOpusDecoder(format) : createSampleDecoder(format);
}

function createOpusDecoder(format: AudioFormat): AudioDecoder {
  const stream = openOpusStream(format.rateHz, format.frameMs);
  let failed = 0;
  let inARow = 0;
  return {
    repairedSamples: 0,
    get failedPackets() {
      return failed;
    },
    decode(bytes) {
      refuseContainer(bytes);
      try {
        const samples = toFloat(stream.decode(bytes));
        inARow = 0;
        return samples;
      } catch (error) {
        if (!(error instanceof AuscultError) || error.code !== 'decode_failed') throw error;
        failed += 1;
        inARow += 1;
        throw inARow < LIMITS.consecutiveDecodeErrors ? error : hopeless(error);
      }
    },
    close: () => stream.close(),
  };
}

function toFloat(pcm: Int16Array): Float32Array {
  const samples = new Float32Array(pcm.length);
  for (let at = 0; at < pcm.length; at += 1) samples[at] = (pcm[at] ?? 0) / 32_768;
  return samples;
}

function hopeless(cause: AuscultError): AuscultError {
  return new AuscultError('decode_failed', {
    message: `${LIMITS.consecutiveDecodeErrors} packets in a row could not be decoded. ${cause.message}`,
    cause,
  });
}

type ReadSample = (view: DataView, byteOffset: number) => number;

/** Codecs whose samples have a fixed size: how many bytes, and how one is read at any (even odd) offset. */
function sampleReader(codec: 'pcm16' | 'float32' | 'mulaw' | 'alaw'): { bytes: number; read: ReadSample } {
  switch (codec) {
    case 'pcm16':
      return { bytes: 2, read: (view, at) => view.getInt16(at, true) / 32_768 };
    case 'float32':
      return { bytes: 4, read: (view, at) => view.getFloat32(at, true) };
    case 'mulaw':
    case 'alaw': {
      const table = g711Table(codec === 'mulaw' ? muLawToPcm : aLawToPcm);
      return { bytes: 1, read: (view, at) => table[view.getUint8(at)] ?? 0 };
    }
  }
}

function createSampleDecoder(format: AudioFormat): AudioDecoder {
  const { bytes: sampleBytes, read } = sampleReader(format.codec as 'pcm16');
  const frameBytes = sampleBytes * format.channels;
  let carried = new Uint8Array(0);
  let repaired = 0;
  let started = false;
  let closed = false;

  const readFrame = (view: DataView, at: number): number => {
    let sum = 0;
    for (let channel = 0; channel < format.channels; channel += 1) {
      const sample = read(view, at + channel * sampleBytes);
      if (Number.isFinite(sample)) sum += sample;
      else repaired += 1;
    }
    return sum / format.channels;
  };
  return {
    get repairedSamples() {
      return repaired;
    },
    failedPackets: 0,
    decode(bytes) {
      if (closed) throw new AuscultError('wrong_state', { message: 'This decoder is closed.' });
      const all = carried.byteLength === 0 ? bytes : concat(carried, bytes);
      if (!started && all.byteLength < 4) {
        // Too little to tell a container from sound; nothing is lost, it waits.
        carried = Uint8Array.from(all);
        return new Float32Array(0);
      }
      if (!started) refuseContainer(all);
      started = true;
      const frames = Math.floor(all.byteLength / frameBytes);
      carried = all.slice(frames * frameBytes);
      const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
      const samples = new Float32Array(frames);
      for (let frame = 0; frame < frames; frame += 1) samples[frame] = readFrame(view, frame * frameBytes);
      return samples;
    },
    close() {
      closed = true;
      carried = new Uint8Array(0);
    },
  };
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.byteLength + second.byteLength);
  all.set(first);
  all.set(second, first.byteLength);
  return all;
}

const CONTAINERS: ReadonlyArray<{ readonly name: string; readonly magic: readonly number[] }> = [
  { name: 'an Ogg file', magic: [0x4f, 0x67, 0x67, 0x53] },
  { name: 'a WebM or Matroska file', magic: [0x1a, 0x45, 0xdf, 0xa3] },
  { name: 'a WAV file', magic: [0x52, 0x49, 0x46, 0x46] },
  { name: 'a FLAC file', magic: [0x66, 0x4c, 0x61, 0x43] },
];

/** What a recorder writes to files is no stream of samples or packets; decoded as one it would be noise. */
function refuseContainer(bytes: Uint8Array): void {
  const found = CONTAINERS.find(({ magic }) => magic.every((byte, at) => bytes[at] === byte));
  if (!found) return;
  throw new AuscultError('unsupported_audio', {
    message: `The stream begins like ${found.name}: send raw samples or raw Opus packets without a container.`,
  });
}
