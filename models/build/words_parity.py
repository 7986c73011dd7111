"""Parity of the exported word decoder with CTranslate2's: the same greedy tokens, float and int8.

Run: python -m models.build.words_parity [recordings]   (needs ../shared/data/speech and ctranslate2)
"""
from __future__ import annotations

import json
import sys

import numpy as np

from . import packages
from .config import CACHE, DATA, ENCODER_DIM, MAX_SAMPLES, RATE, SEED
from .mel import log_mel
from .words_decoder import export
from .words_greedy import Greedy
from .words_silence import FULL_SAMPLES


def recordings(count: int) -> list[tuple[str, np.ndarray]]:
    """A seeded choice of recordings of at most one window, as 16 kHz samples."""
    from faster_whisper.audio import decode_audio
    rows = [json.loads(line) for line in (DATA / "speech" / "recordings.jsonl").read_text().splitlines()]
    rows = [r for r in rows if 1.5 < r["seconds"] < MAX_SAMPLES / RATE and len(r["text"].split()) >= 4]
    chosen = np.random.default_rng(SEED).permutation(len(rows))[:count]
    return [(rows[i]["id"], decode_audio(str(DATA / rows[i]["audio"]), sampling_rate=RATE)) for i in chosen]


def plain_decoder(int8: bool) -> Greedy:
    """The decoder without its silence memory, which CTranslate2's has not."""
    path = CACHE / f"words-plain-{'int8' if int8 else 'float'}.onnx"
    export(np.zeros((0, ENCODER_DIM), "f4"), int8, path)
    return Greedy(path)


def main(count: int) -> None:
    """Print how many recordings give the same tokens; fail when float differs."""
    import ctranslate2
    whisper = ctranslate2.models.Whisper(str(packages.paths()["whisper"].parent), device="cpu", compute_type="float32")
    decoders = {"float": plain_decoder(False), "int8": plain_decoder(True)}
    same, edits, tokens = {"float": 0, "int8": 0}, 0, 0
    for name, samples in recordings(count):
        mel = log_mel(np.pad(samples, (0, FULL_SAMPLES - len(samples))))
        encoded = whisper.encode(ctranslate2.StorageView.from_array(np.ascontiguousarray(mel[None])))
        wanted = whisper.generate(encoded, [decoders["float"].vocabulary["prompt"]], beam_size=1)[0].sequences_ids[0]
        for kind, decoder in decoders.items():
            found = decoder.decode(np.array(encoded)[0])[0]
            same[kind] += found == wanted
            if kind == "int8":
                edits += sum(a != b for a, b in zip(found, wanted)) + abs(len(found) - len(wanted))
            elif found != wanted:
                print(name, found, wanted)
        tokens += len(wanted)
    print(f"same greedy tokens as CTranslate2 float32: float {same['float']}/{count}, int8 {same['int8']}/{count}; "
          f"int8 tokens that differ, place by place: {edits}/{tokens}")
    if same["float"] < count:
        raise SystemExit("the float export differs from CTranslate2")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
