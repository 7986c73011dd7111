import opus from '@discordjs/opus';
import { AuscultError } from '../errors.js';

/** Decoder rates that libopus knows, Hz. */
export const OPUS_RATES_HZ = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
/** Packet lengths that a stream may declare, milliseconds (RFC 6716, section 3.2; up to three 20 ms frames). */
export const OPUS_PACKET_MS = [2.5, 5, 10, 20, 40, 60] as const;

type Decoder = InstanceType<typeof opus.OpusEncoder>;

/** OPUS_RESET_STATE of libopus. */
const RESET_STATE = 4028;
const MAX_PACKET_MS = 120;
/** Larger packets are no speech: RFC 6716 allows 1,275 bytes a frame and six frames stay below this. */
const MAX_PACKET_BYTES = 8_192;

/**
 * Length of a packet by its first bytes (RFC 6716, sections 3.1 and 3.2), milliseconds; null when they are no legal start.
 * libopus is never asked: it decodes a good part of random bytes "successfully".
 */
export function opusPacketMs(packet: Uint8Array): number | null {
  const toc = packet[0];
  if (toc === undefined) return null;
  const frames = framesOf(packet, toc & 0x03);
  if (frames === null) return null;
  const durationMs = frames * frameMsOf(toc >> 3);
  return durationMs <= MAX_PACKET_MS ? durationMs : null;
}

function frameMsOf(config: number): number {
  if (config < 12) return [10, 20, 40, 60][config & 0x03] ?? 0;
  if (config < 16) return (config & 0x01) === 0 ? 10 : 20;
  return [2.5, 5, 10, 20][config & 0x03] ?? 0;
}

function framesOf(packet: Uint8Array, code: number): number | null {
  if (code === 0) return 1;
  if (code === 1) return packet.byteLength % 2 === 1 ? 2 : null;
  if (code === 2) return packet.byteLength >= 2 ? 2 : null;
  const count = (packet[1] ?? 0) & 0x3f;
  return count > 0 ? count : null;
}

export interface OpusStream {
  /** One packet → mono 16-bit samples; `decode_failed` for a packet that is none. Nothing unchecked reaches libopus. */
  decode(packet: Uint8Array): Int16Array;
  close(): void;
}

/**
 * Decoders hold native memory that the garbage collector cannot see, so they are reset and used again, never dropped.
 * Keyed by rate; what is in here belongs to no stream.
 */
const idleDecoders = new Map<number, Decoder[]>();

/**
 * One Opus stream with a decoder of its own. libopus mixes stereo packets down to mono itself.
 * `unsupported_audio` when the rate or the packet length is none that Opus has.
 */
export function openOpusStream(rateHz: number, packetMs: number): OpusStream {
  if (!(OPUS_RATES_HZ as readonly number[]).includes(rateHz)) {
    throw new AuscultError('unsupported_audio', {
      message: `Opus has no rate of ${rateHz} Hz: declare one of ${OPUS_RATES_HZ.join(', ')}.`,
    });
  }
  if (!(OPUS_PACKET_MS as readonly number[]).includes(packetMs)) {
    throw new AuscultError('unsupported_audio', {
      message: `Opus has no packets of ${packetMs} ms: declare one of ${OPUS_PACKET_MS.join(', ')}.`,
    });
  }
  const pool = idleDecoders.get(rateHz) ?? [];
  idleDecoders.set(rateHz, pool);
  // Null once closed: the stream must not keep a decoder that another one may be using.
  let decoder: Decoder | null = pool.pop() ?? new opus.OpusEncoder(rateHz, 1);
  return {
    decode(packet) {
      if (!decoder) throw new AuscultError('wrong_state', { message: 'This Opus stream is closed.' });
      checkPacket(packet, packetMs);
      return decodeChecked(decoder, packet);
    },
    close() {
      if (!decoder) return;
      decoder.applyDecoderCTL(RESET_STATE, 0);
      pool.push(decoder);
      decoder = null;
    },
  };
}

function checkPacket(packet: Uint8Array, packetMs: number): void {
  const durationMs = packet.byteLength > MAX_PACKET_BYTES ? null : opusPacketMs(packet);
  if (durationMs === null) throw bad('The message is no Opus packet: send one raw packet a message.');
  if (durationMs !== packetMs) {
    throw bad(
      `The Opus packet lasts ${durationMs} ms, but frames of ${packetMs} ms were declared: set audio.frameMs to match.`,
    );
  }
}

function decodeChecked(decoder: Decoder, packet: Uint8Array): Int16Array {
  try {
    const bytes = decoder.decode(Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength));
    // The library's buffer may start at any address; a copy starts at 0 and is aligned.
    return new Int16Array(Uint8Array.from(bytes).buffer);
  } catch (cause) {
    throw bad('The Opus packet is damaged and was left out.', cause);
  }
}

function bad(message: string, cause?: unknown): AuscultError {
  return new AuscultError('decode_failed', { message, cause, retryable: true });
}
