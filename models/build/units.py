"""Sub-word units: a subset of MiniLM's own WordPiece vocabulary, so that their meaning is known from the start.

All single characters are kept (plain and ## forms); the rarest longer pieces are dropped in rounds, and words are
segmented greedily by the longest piece, as WordPiece does. Label 0 is the CTC blank; unit i has label i + 1.
"""
from __future__ import annotations

import json
import random
from collections import Counter
from functools import lru_cache

from . import packages
from .config import CACHE
from .normalise import words

UNITS = 2_400
ROUNDS = (12_000, 6_000, 4_200, 3_200, 2_700, UNITS)
LONGEST = 14


def split(word: str, allowed: dict[str, int], rng: random.Random | None = None, drop: float = 0.0) -> list[str]:
    """Greedy longest-match pieces of one word; with drop, a longer piece is skipped now and then (Provilkov et al. 2020)."""
    out, at = [], 0
    while at < len(word):
        prefix = "##" if at else ""
        for end in range(min(len(word), at + LONGEST), at, -1):
            piece = prefix + word[at:end]
            if piece in allowed and (end == at + 1 or rng is None or rng.random() >= drop):
                out.append(piece)
                break
        at = end
    return out


def choose(counts: Counter, vocabulary: list[str]) -> list[str]:
    """The restricted set of pieces, in vocabulary order."""
    letters = set("abcdefghijklmnopqrstuvwxyz0123456789")
    usable = [p for p in vocabulary if p and set(p.removeprefix("##")) <= letters and not (p.startswith("##") and len(p) == 2)]
    allowed = {p: 0 for p in usable}
    single = lambda p: len(p.removeprefix("##")) == 1
    for size in ROUNDS:
        used: Counter = Counter()
        for word, n in counts.items():
            for piece in split(word, allowed):
                used[piece] += n
        longer = [p for p, _ in used.most_common() if not single(p)]
        room = size - sum(single(p) for p in usable)
        allowed = {p: 0 for p in usable if single(p)} | {p: 0 for p in longer[:room]}
    return [p for p in usable if p in allowed]


def build() -> None:
    """Write units.json: pieces and their rows in MiniLM's embedding."""
    vocab = json.loads(packages.paths()["minilm_tokenizer"].read_text())["model"]["vocab"]
    plan = json.loads((CACHE / "plan.json").read_text())
    counts = Counter(w for t in plan["texts"] for w in words(t["text"]))
    pieces = choose(counts, sorted(vocab, key=vocab.get))
    (CACHE / "units.json").write_text(json.dumps({"pieces": pieces, "rows": [vocab[p] for p in pieces], "cls": vocab["[CLS]"], "sep": vocab["[SEP]"]}))
    used = [p for w, n in counts.items() for p in split(w, {p: 0 for p in pieces}) * n]
    print("units", len(pieces), "pieces a word", round(len(used) / sum(counts.values()), 2))


@lru_cache(maxsize=1)
def table() -> dict[str, int]:
    """Piece -> label (1 and up)."""
    return {p: i + 1 for i, p in enumerate(json.loads((CACHE / "units.json").read_text())["pieces"])}


@lru_cache(maxsize=200_000)
def word_labels(word: str) -> tuple[int, ...]:
    """Labels of one word, unperturbed."""
    return tuple(table()[p] for p in split(word, table()))


def labels(text: str) -> list[int]:
    """Labels of a text."""
    return [u for w in words(text) for u in word_labels(w)]


def decode(found: list[int]) -> str:
    """Labels -> text."""
    pieces = list(table())
    return "".join(pieces[u - 1][2:] if pieces[u - 1].startswith("##") else " " + pieces[u - 1] for u in found).strip()


if __name__ == "__main__":
    build()
