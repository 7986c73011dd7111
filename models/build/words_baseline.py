"""faster-whisper (Whisper base, greedy, int8) on a list of recordings: the row beside ours in bench/words.ts.

Reads JSON from standard input: {"threads": 2, "audio": [paths]}. Writes one JSON line a recording: {"text", "ms", "cpuMs"};
the times are those of transcription alone, from samples in memory.
"""
from __future__ import annotations

import json
import sys
import time

from . import packages
from .config import RATE


def main() -> None:
    """Transcribe every recording once, after one that warms up."""
    from faster_whisper import WhisperModel
    from faster_whisper.audio import decode_audio
    task = json.load(sys.stdin)
    model = WhisperModel(str(packages.paths()["whisper"].parent), device="cpu", compute_type="int8", cpu_threads=task["threads"])
    sounds = [decode_audio(path, sampling_rate=RATE) for path in task["audio"]]
    for place, samples in enumerate(sounds[:1] + sounds):
        start, cpu = time.perf_counter(), time.process_time()
        segments, _ = model.transcribe(samples, language="en", beam_size=1, without_timestamps=True, condition_on_previous_text=False)
        text = " ".join(s.text.strip() for s in segments)
        if place > 0:
            spent = {"ms": (time.perf_counter() - start) * 1000, "cpuMs": (time.process_time() - cpu) * 1000}
            print(json.dumps({"text": text, **spent}), flush=True)


if __name__ == "__main__":
    main()
