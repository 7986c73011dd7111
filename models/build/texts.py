"""Choose the texts to be spoken and who speaks them: writes <cache>/plan.json.

Texts come from data/train and from carrier questions; each utterance is (text index, voice, seed).
The plan is shuffled once, so that any prefix of it is a fair sample and training may start early.
"""
from __future__ import annotations

import json
import random
from collections import Counter

from .carriers import carriers
from .config import CACHE, DATA, SEED
from .leak import LeakCheck, protected_queries
from .normalise import words
from .spelled import sentences, spoken

# share of each voice; cheap engines get the second readings
VOICES = {"espeak": 0.30, "flite:slt": 0.13, "flite:rms": 0.13, "flite:kal16": 0.06, "flite:kal": 0.03,
          "festival:cmu_us_slt_arctic_hts": 0.12, "festival:kal_diphone": 0.08, "piper:joe": 0.15}
DEV_VOICES = ("festival:ked_diphone",)
MEDQUAD_TEXTS = 9_000
MAX_WORDS = 19
SPELLED_TEXTS = 2_600


def novel(texts: list[str], count: int) -> list[str]:
    """Greedy choice: texts ordered by how many of their words have been chosen seldom so far."""
    heard: Counter = Counter()
    scored = sorted(texts, key=lambda t: (-len(set(words(t))), t))
    pool = [(t, set(words(t))) for t in scored]
    chosen = []
    for threshold in (1, 2, 3, 5, 8, 13, 30, 10 ** 9):
        rest = []
        for text, ws in pool:
            if len(chosen) < count and any(heard[w] < threshold for w in ws):
                heard.update(ws)
                chosen.append(text)
            else:
                rest.append((text, ws))
        pool = rest
    return chosen


def sources() -> dict[str, list[str]]:
    """Candidate texts by source, after length limits."""
    by: dict[str, list[str]] = {}
    for line in (DATA / "train" / "texts.jsonl").open():
        row = json.loads(line)
        if 3 <= len(words(row["text"])) <= MAX_WORDS:
            by.setdefault(row["source"], []).append(row["text"])
    by["medquad"] = novel(by["medquad"], MEDQUAD_TEXTS)
    by["carrier"] = carriers(SEED, passes=1)
    return by


def build() -> None:
    """Write plan.json: {texts: [{text, source}], train: [[text, voice, seed]], dev: [...]}."""
    rng = random.Random(SEED)
    index = LeakCheck(protected_queries())
    texts, seen = [], set()
    dropped = Counter()
    for source, found in sorted(sources().items()):
        for text in found:
            key = " ".join(words(text))
            if key in seen:
                continue
            seen.add(key)
            if index.near(text):
                dropped[source] += 1
            else:
                texts.append({"text": text, "source": source})
    train = []
    names, shares = zip(*VOICES.items())
    for i, row in enumerate(texts):
        times = 3 if row["source"] == "pubmedqa-dev-abstracts" else 1
        for _ in range(times):
            train.append([i, rng.choices(names, shares)[0], rng.randrange(2 ** 31)])
    rng.shuffle(train)
    second = [[i, rng.choices(names, shares)[0], rng.randrange(2 ** 31)] for i, row in enumerate(texts) if row["source"] != "nq-open"]
    rng.shuffle(second)
    spelled = []
    for text in sentences(SEED, SPELLED_TEXTS):
        spelled.append([len(texts), rng.choices(names, shares)[0], rng.randrange(2 ** 31)])
        texts.append({"text": text, "source": "spelled", "say": spoken(text)})
    dev_texts = [json.loads(line) for line in (DATA / "retrieval" / "pubmedqa" / "queries.jsonl").open()]
    dev = [[row["text"], DEV_VOICES[0], n] for n, row in enumerate(dev_texts) if row["split"] == "dev"]
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / "plan.json").write_text(json.dumps({"texts": texts, "train": train + second, "spelled": spelled, "dev": dev}))
    print("texts", Counter(t["source"] for t in texts), "utterances", len(train), "+", len(second), "dropped as leaks", dict(dropped))


if __name__ == "__main__":
    build()
