import { aLawToPcm, g711Table, muLawToPcm } from './g711.js';

/** Kinds of samples, as the format chunk numbers them. */
const PCM = 1;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;
const EXTENSIBLE = 0xfffe;

interface WavFormat {
  readonly kind: number;
  readonly channels: number;
  readonly rateHz: number;
  readonly bits: number;
}

/**
 * A RIFF/WAVE file → mono samples, or null when it is none or damaged. A data chunk that is longer than the file (a recorder
 * that was cut off, or a stream of unknown length) is read to the end of the file; one without a single sample is damaged.
 */
export function parseWav(bytes: Uint8Array): { samples: Float32Array; rateHz: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 12 || text(view, 0) !== 'RIFF' || text(view, 8) !== 'WAVE') return null;
  let format: WavFormat | null = null;
  for (let at = 12; at + 8 <= bytes.byteLength;) {
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    const available = Math.min(size, bytes.byteLength - body);
    const name = text(view, at);
    if (name === 'fmt ' && available >= 16) format = readFormat(view, body, available);
    if (name === 'data') return format ? readData(view, { body, available }, format) : null;
    at = body + size + (size % 2);
  }
  return null;
}

function readFormat(view: DataView, at: number, size: number): WavFormat | null {
  const declared = view.getUint16(at, true);
  const format = {
    // The extensible form names the real kind in the first two bytes of a GUID.
    kind: declared === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : declared,
    channels: view.getUint16(at + 2, true),
    rateHz: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
  };
  const sensible =
    format.channels >= 1 && format.channels <= 32 && format.rateHz >= 8_000 && format.rateHz <= 384_000;
  return sensible ? format : null;
}

function readData(
  view: DataView,
  { body, available }: { body: number; available: number },
  format: WavFormat,
): { samples: Float32Array; rateHz: number } | null {
  const read = readerOf(format);
  if (!read) return null;
  const sampleBytes = format.bits / 8;
  const frames = Math.floor(available / (sampleBytes * format.channels));
  const samples = new Float32Array(frames);
  let at = body;
  for (let frame = 0; frame < frames; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < format.channels; channel += 1) {
      sum += read(view, at);
      at += sampleBytes;
    }
    samples[frame] = Number.isFinite(sum) ? sum / format.channels : 0;
  }
  return frames > 0 ? { samples, rateHz: format.rateHz } : null;
}

/** How one sample is read; null for kinds that are not. */
function readerOf({ kind, bits }: WavFormat): ((view: DataView, at: number) => number) | null {
  switch (`${kind}/${bits}`) {
    case `${PCM}/8`:
      return (view, at) => (view.getUint8(at) - 128) / 128;
    case `${PCM}/16`:
      return (view, at) => view.getInt16(at, true) / 32_768;
    case `${PCM}/24`:
      return (view, at) => (view.getUint8(at) + view.getInt16(at + 1, true) * 256) / 8_388_608;
    case `${PCM}/32`:
      return (view, at) => view.getInt32(at, true) / 2_147_483_648;
    case `${FLOAT}/32`:
      return (view, at) => view.getFloat32(at, true);
    case `${FLOAT}/64`:
      return (view, at) => view.getFloat64(at, true);
    case `${A_LAW}/8`:
    case `${MU_LAW}/8`: {
      const table = g711Table(kind === A_LAW ? aLawToPcm : muLawToPcm);
      return (view, at) => table[view.getUint8(at)] ?? 0;
    }
    default:
      return null;
  }
}

function text(view: DataView, at: number): string {
  return String.fromCharCode(
    view.getUint8(at),
    view.getUint8(at + 1),
    view.getUint8(at + 2),
    view.getUint8(at + 3),
  );
}
