"""Leak check: no training text may be, or nearly be, a benchmark's question.

Two tests against every query of retrieval/*/queries.jsonl (except PubMedQA's development split) and every
spoken question: the normalised texts are equal, or the training text holds most of the query's word shingles.
"""
from __future__ import annotations

import json
import sys
from pathlib import Path

from .config import CACHE, DATA
from .normalise import words

SHINGLE = 4
CONTAINED = 0.6


def shingles(text: str) -> set[tuple[str, ...]]:
    """Every run of four words (the whole text when it is shorter)."""
    w = words(text)
    return {tuple(w[i:i + SHINGLE]) for i in range(max(1, len(w) - SHINGLE + 1))}


def protected_queries(data: Path = DATA) -> list[str]:
    """Every question that a benchmark asks."""
    found = []
    for path in sorted((data / "retrieval").glob("*/queries.jsonl")):
        for line in path.open():
            row = json.loads(line)
            if not (path.parent.name == "pubmedqa" and row.get("split") == "dev"):
                found.append(row["text"])
    for path in sorted((data / "spoken").glob("*/questions.jsonl")):
        found += [json.loads(line)["text"] for line in path.open()]
    return found


class LeakCheck:
    """Index of protected queries; near(text) gives the query that a text leaks, or None."""

    def __init__(self, queries: list[str]) -> None:
        self.exact = {" ".join(words(q)): q for q in queries}
        self.grams = [shingles(q) for q in queries]
        self.queries = queries
        self.index: dict[tuple[str, ...], list[int]] = {}
        for i, grams in enumerate(self.grams):
            for gram in grams:
                self.index.setdefault(gram, []).append(i)

    def near(self, text: str) -> str | None:
        """The protected query contained in text to CONTAINED or more of its shingles."""
        hit = self.exact.get(" ".join(words(text)))
        if hit is not None:
            return hit
        counts: dict[int, int] = {}
        for gram in shingles(text):
            for i in self.index.get(gram, ()):
                counts[i] = counts.get(i, 0) + 1
        for i, count in counts.items():
            if count / len(self.grams[i]) >= CONTAINED:
                return self.queries[i]
        return None


def check(texts: list[str], data: Path = DATA) -> list[tuple[str, str]]:
    """Every (training text, leaked query) pair; empty when clean."""
    index = LeakCheck(protected_queries(data))
    return [(t, q) for t in texts if (q := index.near(t)) is not None]


def main() -> None:
    """Fail when the plan leaks, or when a planted leak goes unnoticed."""
    plan = json.loads((CACHE / "plan.json").read_text())
    texts = [t["text"] for t in plan["texts"]]
    leaks = check(texts)
    planted = protected_queries()[0]
    if not check([planted]) or not check(["In short, " + planted]):
        sys.exit("leak check is blind: a planted benchmark question was not noticed")
    if leaks:
        sys.exit(f"{len(leaks)} training texts leak benchmark questions")
    print(f"leak check: {len(texts)} texts clean; planted leaks noticed")


if __name__ == "__main__":
    main()
