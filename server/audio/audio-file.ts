import { readFile } from 'node:fs/promises';
import { AuscultError } from '../errors.js';
import { createResampler } from './resample.js';
import { EAR_RATE_HZ } from './windower.js';
import { parseWav } from './wav-reader.js';

/** A recording as one channel. */
export interface Recording {
  /** Mono, −1 … 1; channels averaged. */
  readonly samples: Float32Array;
  readonly rateHz: number;
}

const FORMATS = 'WAV, FLAC, MP3, Ogg Vorbis and Opus';

/**
 * Reads a recording: wav (8, 16, 24, 32-bit, float, A-law, µ-law), flac, mp3, ogg, opus. Only the bytes decide, not the name.
 * Errors: `file_unreadable` (not there, a folder, no permission), `not_audio` (another kind of file, or damaged).
 */
export async function readAudioFile(path: string): Promise<Recording> {
  const bytes = await readBytes(path);
  if (bytes.byteLength === 0) throw notAudio(path, 'it is empty');
  const recording = startsWith(bytes, 'RIFF') ? parseWav(bytes) : await decodeCompressed(bytes, path);
  if (!recording) throw notAudio(path, 'it is damaged or of a kind that is not read');
  if (recording.samples.length === 0) throw notAudio(path, 'it holds no sound');
  return recording;
}

/** The same at 16 kHz, by the resampler that live sound goes through. */
export async function readSpeech(path: string): Promise<Float32Array> {
  const { samples, rateHz } = await readAudioFile(path);
  return toEarRate(samples, rateHz);
}

/** A whole recording at 16 kHz. Above 48 kHz every second sample pair is averaged first, as live sound has no such rates. */
export async function toEarRate(samples: Float32Array, rateHz: number): Promise<Float32Array> {
  if (rateHz > 48_000) return toEarRate(halved(samples), rateHz / 2);
  const resampler = await createResampler(rateHz);
  try {
    const [body, tail] = [resampler.push(samples), resampler.flush()];
    const all = new Float32Array(Math.round((samples.length * EAR_RATE_HZ) / rateHz));
    all.set(body.subarray(0, all.length));
    all.set(tail.subarray(0, Math.max(0, all.length - body.length)), body.length);
    return all;
  } finally {
    resampler.close();
  }
}

function halved(samples: Float32Array): Float32Array {
  return Float32Array.from(
    { length: Math.floor(samples.length / 2) },
    (_, at) => ((samples[2 * at] ?? 0) + (samples[2 * at + 1] ?? 0)) / 2,
  );
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new AuscultError('file_unreadable', {
      message: `${path} cannot be read: check the path and its permissions.`,
      cause,
    });
  }
}

async function decodeCompressed(bytes: Uint8Array, path: string): Promise<Recording | null> {
  if (!looksCompressed(bytes)) return null;
  try {
    const { default: decode } = await import('audio-decode');
    const { channelData, sampleRate } = await decode(bytes);
    return { samples: averaged(channelData), rateHz: sampleRate };
  } catch (cause) {
    throw notAudio(path, 'it is damaged or breaks off too early', cause);
  }
}

/** Signatures of the kinds that are read; others are refused before a decoder sees them. */
function looksCompressed(bytes: Uint8Array): boolean {
  const isMp3Frame = bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0;
  return isMp3Frame || ['fLaC', 'OggS', 'ID3'].some((magic) => startsWith(bytes, magic));
}

function averaged(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels;
  if (!first || channels.length === 1) return finite(first ?? new Float32Array(0));
  const mix = new Float32Array(first.length);
  for (const channel of channels) {
    for (let at = 0; at < mix.length; at += 1)
      mix[at] = (mix[at] ?? 0) + (channel[at] ?? 0) / channels.length;
  }
  return finite(mix);
}

function finite(samples: Float32Array): Float32Array {
  return samples.map((x) => (Number.isFinite(x) ? x : 0));
}

function startsWith(bytes: Uint8Array, magic: string): boolean {
  return [...magic].every((character, at) => bytes[at] === character.charCodeAt(0));
}

function notAudio(path: string, why: string, cause?: unknown): AuscultError {
  return new AuscultError('not_audio', {
    message: `${path} is no recording that can be read (${why}): give ${FORMATS}.`,
    cause,
  });
}
