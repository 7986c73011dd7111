/**
 * Header of every binary message, 16 bytes, little-endian, so that a payload of 16-bit or 32-bit samples stays aligned:
 * magic u8 · kind u8 · flags u16 · sequence u32 · sampleIndex u64.
 */
export const AUDIO_FRAME_MAGIC = 0xa5;
export const AUDIO_FRAME_HEADER_BYTES = 16;
export const AUDIO_FRAME_KINDS = { inputAudio: 1, speechAudio: 2 } as const;
export type AudioFrameKind = (typeof AUDIO_FRAME_KINDS)[keyof typeof AUDIO_FRAME_KINDS];

export interface AudioFrame {
  readonly kind: AudioFrameKind;
  readonly flags: number;
  /** Counts messages of one direction; wraps at 2^32. */
  readonly sequence: number;
  /** Index of the first sample in the stream at the declared rate. */
  readonly sampleIndex: number;
  readonly payload: Uint8Array;
}

/** Writes header and payload into one new buffer. */
export function encodeAudioFrame(frame: AudioFrame): Uint8Array {
  const bytes = new Uint8Array(AUDIO_FRAME_HEADER_BYTES + frame.payload.byteLength);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, AUDIO_FRAME_MAGIC);
  view.setUint8(1, frame.kind);
  view.setUint16(2, frame.flags, true);
  view.setUint32(4, frame.sequence >>> 0, true);
  view.setBigUint64(8, BigInt(frame.sampleIndex), true);
  bytes.set(frame.payload, AUDIO_FRAME_HEADER_BYTES);
  return bytes;
}

/** Reads a frame, or null when the bytes are none. The payload is a copy at offset 0, hence aligned. */
export function decodeAudioFrame(bytes: Uint8Array): AudioFrame | null {
  if (bytes.byteLength < AUDIO_FRAME_HEADER_BYTES || bytes[0] !== AUDIO_FRAME_MAGIC) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = view.getUint8(1);
  if (kind !== AUDIO_FRAME_KINDS.inputAudio && kind !== AUDIO_FRAME_KINDS.speechAudio) return null;
  const sampleIndex = view.getBigUint64(8, true);
  if (sampleIndex > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return {
    kind,
    flags: view.getUint16(2, true),
    sequence: view.getUint32(4, true),
    sampleIndex: Number(sampleIndex),
    payload: bytes.slice(AUDIO_FRAME_HEADER_BYTES),
  };
}
