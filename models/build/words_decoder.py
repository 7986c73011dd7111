"""The word decoder: Whisper-base's decoder in int8 with a key-value cache, and its tokenizer's vocabulary.

Writes models/weights/words-decoder.onnx and words-tokenizer.json.
Run: python -m models.build.words_decoder   (then words_parity compares it with CTranslate2).
"""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from . import ct2, packages
from .config import CACHE, WEIGHTS
from .quantise import quantise
from .words_graphs import Decoder
from .words_silence import REPEAT, silence_memory

SIZE_LIMIT = 70_000_000
TARGET = WEIGHTS / "words-decoder.onnx"


def byte_of_letter() -> dict[str, int]:
    """GPT-2's reversible alphabet: printable bytes stand for themselves, the others for letters from U+0100 on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(0x100 + i): b for i, b in enumerate(others)}


def token_bytes(vocabulary: dict[str, int]) -> list[str]:
    """Token bytes in id order, written as Latin-1 text (one letter a byte), so that JSON can hold split characters."""
    letters = byte_of_letter()
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[t] for t in ordered] != list(range(len(ordered))):
        raise SystemExit("the vocabulary has gaps; the decoder's ids would not match")
    return ["".join(chr(letters[c]) for c in token) for token in ordered]


def write_tokenizer() -> None:
    """What decoding needs of the tokenizer: bytes of each token, special ids and the ids that are never emitted."""
    folder = packages.paths()["whisper"].parent
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    config = json.loads((folder / "config.json").read_text())
    special = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    text = {t: i for t, i in tokenizer["model"]["vocab"].items() if i not in special.values()}
    out = {"model": "whisper-base (multilingual)", "tokens": token_bytes(text),
           "endOfText": special["<|endoftext|>"], "noSpeech": special["<|nocaptions|>"],
           "prompt": [special[t] for t in ("<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>")],
           "suppress": config["suppress_ids"], "suppressAtBegin": config["suppress_ids_begin"]}
    (WEIGHTS / "words-tokenizer.json").write_text(json.dumps(out, ensure_ascii=True, separators=(",", ":")) + "\n")


def export(silence: np.ndarray, int8: bool, path: Path) -> None:
    """Write one decoder; silence [0, 512] leaves the silence memory out."""
    decoder = Decoder(ct2.load(packages.paths()["whisper"]), silence, REPEAT, int8_embedding=int8)
    if not int8:
        return decoder.save(path)
    mixed = CACHE / "words-mixed.onnx"
    decoder.save(mixed)
    return quantise(mixed, path)


def main() -> None:
    """Write the int8 decoder and the vocabulary into models/weights."""
    export(silence_memory(), True, TARGET)
    write_tokenizer()
    size = TARGET.stat().st_size
    print(TARGET.name, size, "bytes")
    if size >= SIZE_LIMIT:
        raise SystemExit(f"the decoder takes {size} bytes; the limit is {SIZE_LIMIT}")


if __name__ == "__main__":
    main()
