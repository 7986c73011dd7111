"""Phoneme labels of every text (espeak-ng's IPA, stress removed): targets of the intermediate CTC."""
from __future__ import annotations

import json
import subprocess
import unicodedata
from collections import Counter

import numpy as np

from .config import CACHE
from .normalise import plain

CHUNK = 400
DROPPED = set("ˈˌ\u200d͡ːˑ ̩-_()")


def phonemise(texts: list[str]) -> list[str]:
    """One line of phonemes for each text (punctuation removed first, so that a text stays one clause)."""
    raw = subprocess.run(["espeak-ng", "-q", "-v", "en-us", "--ipa"], input="\n\n".join(plain(t) or "a" for t in texts).encode(),
                         capture_output=True).stdout.decode()
    lines = [line.strip() for line in raw.split("\n") if line.strip()]
    if len(lines) == len(texts):
        return lines
    if len(texts) == 1:
        return [" ".join(lines)]
    half = len(texts) // 2
    return phonemise(texts[:half]) + phonemise(texts[half:])


def build() -> None:
    """Write phones.npz: symbols, flat labels (1 and up; 0 is the blank) and offsets by text."""
    texts = [t.get("say", t["text"]) for t in json.loads((CACHE / "plan.json").read_text())["texts"]]
    lines = [line for a in range(0, len(texts), CHUNK) for line in phonemise(texts[a:a + CHUNK])]
    clean = [[c for c in unicodedata.normalize("NFD", line) if c not in DROPPED] for line in lines]
    counts = Counter(c for line in clean for c in line)
    symbols = sorted(c for c, n in counts.items() if n >= 200)
    index = {c: i + 1 for i, c in enumerate(symbols)}
    coded = [[index[c] for c in line if c in index] for line in clean]
    np.savez(CACHE / "phones.npz", symbols=np.array(symbols), flat=np.array([c for line in coded for c in line], "i2"),
             offsets=np.cumsum([0] + [len(line) for line in coded]))
    print("phonemes", len(symbols), "".join(symbols), "a text", round(float(np.mean([len(c) for c in coded])), 1))


if __name__ == "__main__":
    build()
