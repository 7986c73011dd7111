"""A unit trigram and a prefix beam search: the spelling that is likeliest by sound and by what people write.

The reference for a server that wants it; the plain best path needs neither. `python -m build.beam` writes ear-units-lm.bin:
little endian; uint32 K (labels), then float32 [K] log p(c) and float32 [K] log back-off of context b, then three tables, each
uint32 n, float64 [n] ascending keys, float32 [n] values: bigrams b·K + c -> log p(c|b); trigrams (a·K + b)·K + c -> log p(c|a, b);
back-offs of contexts a·K + b. Label 0 stands for both ends of a sentence. Smoothing is Witten and Bell's (1991), interpolated.
"""
from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from . import units
from .config import CACHE, WEIGHTS

LEAST = 2                        # trigrams seen less often are left to the bigram
LEFT_OUT = "pubmedqa-dev-abstracts"  # so that development questions stay unread
SHARE, BONUS, WIDTH, LOWEST = 0.4, 4.0, 12, -7.0   # chosen on the development voice
FILE = WEIGHTS / "ear-units-lm.bin"


def sentences() -> list[list[int]]:
    """Units of the spoken plan's texts, with the ends."""
    plan = json.loads((CACHE / "plan.json").read_text())["texts"]
    return [[0, 0, *units.labels(t["text"]), 0] for t in plan if t["source"] != LEFT_OUT]


def build(path: Path = FILE) -> None:
    """Count and write."""
    k, one, two, three = len(units.table()) + 1, Counter(), defaultdict(Counter), defaultdict(Counter)
    for s in sentences():
        for a, b, c in zip(s, s[1:], s[2:]):
            one[c] += 1
            two[b][c] += 1
            three[a, b][c] += 1
    total = sum(one.values())
    p1 = np.array([(one[c] + 0.5) / (total + 0.5 * k) for c in range(k)])
    back1, p2, p3, back2 = np.zeros(k), {}, {}, {}
    for b, seen in two.items():
        n, kinds = sum(seen.values()), len(seen)
        back1[b] = math.log(kinds / (n + kinds))
        p2 |= {b * k + c: (m + kinds * p1[c]) / (n + kinds) for c, m in seen.items()}
    for (a, b), seen in three.items():
        n, kept = sum(seen.values()), {c: m for c, m in seen.items() if m >= LEAST}
        if kept:
            rest = n - sum(kept.values()) + len(kept)    # what is left out goes to the lower order
            back2[a * k + b] = math.log(rest / (n + len(kept)))
            p3 |= {(a * k + b) * k + c: (m + rest * p2[b * k + c]) / (n + len(kept)) for c, m in kept.items()}
    with path.open("wb") as out:
        out.write(np.array([k], "<u4").tobytes() + np.log(p1).astype("<f4").tobytes() + back1.astype("<f4").tobytes())
        for table in ({q: math.log(p) for q, p in p2.items()}, {q: math.log(p) for q, p in p3.items()}, back2):
            keys = np.array(sorted(table), "<f8")
            out.write(np.array([len(keys)], "<u4").tobytes() + keys.tobytes() + np.array([table[int(q)] for q in keys], "<f4").tobytes())
    print("bigrams", len(p2), "trigrams", len(p3), path.stat().st_size, "bytes")


class Trigram:
    """The file, read back."""

    def __init__(self, path: Path = FILE) -> None:
        raw, at = path.read_bytes(), 4
        self.k = k = int.from_bytes(raw[:4], "little")
        self.one, self.back1 = np.frombuffer(raw, "<f4", 2 * k, at).reshape(2, k).tolist()
        at += 8 * k
        tables = []
        for _ in range(3):
            n = int.from_bytes(raw[at:at + 4], "little")
            keys, values = np.frombuffer(raw[at + 4:at + 4 + 8 * n], "<f8"), np.frombuffer(raw[at + 4 + 8 * n:at + 4 + 12 * n], "<f4")
            tables.append(dict(zip(keys.astype("i8").tolist(), values.tolist())))
            at += 4 + 12 * n
        self.two, self.three, self.back2 = tables

    def __call__(self, a: int, b: int, c: int) -> float:
        """log p(c | a, b)."""
        k = self.k
        found = self.three.get((a * k + b) * k + c)
        if found is not None:
            return found
        low = self.two.get(b * k + c)
        return self.back2.get(a * k + b, 0.0) + (self.back1[b] + self.one[c] if low is None else low)


def add(x: float, y: float) -> float:
    """log(exp x + exp y)."""
    low, high = min(x, y), max(x, y)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def search(candidates: np.ndarray, scores: np.ndarray, lm: Trigram, share: float = SHARE, bonus: float = BONUS) -> list[int]:
    """candidates [t, n] units of each step (0 = blank), best first, scores [t, n] their log-probabilities -> units.

    Prefix search (Hannun et al. 2014): each prefix keeps the log-probabilities of ending in blank and in its last unit.
    A blank that is not among a step's candidates gets the last one's score.
    """
    beam = {(0, 0): (0.0, -math.inf, 0.0)}
    for step, logs in zip(candidates.tolist(), scores.tolist()):
        blank = logs[step.index(0)] if 0 in step else logs[-1]
        new: dict[tuple[int, ...], tuple[float, float, float]] = {}

        def put(prefix: tuple[int, ...], in_blank: float, in_unit: float, text: float) -> None:
            old = new.get(prefix)
            new[prefix] = (in_blank, in_unit, text) if old is None else (add(old[0], in_blank), add(old[1], in_unit), text)

        for prefix, (in_blank, in_unit, text) in beam.items():
            either = add(in_blank, in_unit)
            put(prefix, either + blank, -math.inf, text)
            for unit, log in zip(step, logs):
                if unit == 0 or log < LOWEST:
                    continue
                same = unit == prefix[-1]
                if same:
                    put(prefix, -math.inf, in_unit + log, text)
                before = in_blank if same else either
                if before > -math.inf:
                    put((*prefix, unit), -math.inf, before + log, text + share * lm(prefix[-2], prefix[-1], unit) + bonus)
        beam = dict(sorted(new.items(), key=lambda e: -(add(e[1][0], e[1][1]) + e[1][2]))[:WIDTH])
    best = max(beam, key=lambda p: add(beam[p][0], beam[p][1]) + beam[p][2] + share * lm(p[-2], p[-1], 0))
    return list(best[2:])


if __name__ == "__main__":
    build()
