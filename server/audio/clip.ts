import { readAudioFile } from './audio-file.js';
import { encodeWav } from './wav-writer.js';

/** A part of a recording as a WAV file of its own. Errors: `file_unreadable` when the recording is gone. */
export async function readClip(clip: {
  readonly audioPath: string;
  readonly startMs: number;
  readonly endMs: number;
}): Promise<Uint8Array> {
  const { samples, rateHz } = await readAudioFile(clip.audioPath);
  const at = (ms: number) => Math.round((ms * rateHz) / 1_000);
  return encodeWav(samples.subarray(at(clip.startMs), at(clip.endMs)), rateHz);
}
