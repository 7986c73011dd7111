"""Cached features and labels in memory; batches of like lengths."""
from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from . import units
from .config import CACHE, ENCODER_DIM
from .make_speech import STEP, people
from .normalise import plain

SPANS, SPAN = 3, 14          # SpecAugment-like masking (Park et al. 2019) on cached features: spans of 20 ms frames
DIMENSIONS = 0.15            # share of utterances in which a tenth of the dimensions is silenced


@dataclass
class Batch:
    """One padded batch; T is a multiple of 4."""
    features: Tensor         # [b, T, 512] bfloat16
    frames: Tensor           # [b]
    units: Tensor            # [b, U], 0-padded
    unit_lengths: Tensor
    phones: Tensor           # [b, P], 0-padded
    phone_lengths: Tensor
    targets: Tensor          # [b] row of the target table


class Labels:
    """Unit labels, phoneme labels and target rows of plan texts, then of recorded people's transcripts."""

    def __init__(self) -> None:
        texts = [t["text"] for t in json.loads((CACHE / "plan.json").read_text())["texts"]]
        spoken = [r["text"].lower() for r in people(False)]
        self.people_at = len(texts)
        self.texts = texts + spoken
        self.units = [units.labels(t) for t in self.texts]
        z = np.load(CACHE / "phones.npz")
        flat, offsets = z["flat"], z["offsets"]
        self.phones = [flat[offsets[i]:offsets[i + 1]] for i in range(len(texts))] + [np.zeros(0, "i2")] * len(spoken)
        self.phone_count = len(z["symbols"])
        targets = np.load(CACHE / "targets.npz")
        first: dict[str, int] = {}
        rows = [first.setdefault(plain(t), i) for i, t in enumerate(self.texts)]   # equal texts share one target
        kept, self.target_of = np.unique(rows, return_inverse=True)
        self.table = torch.from_numpy(np.concatenate([targets["plan"], targets["people"]])[kept])


class Speech:
    """All shards of some kinds; refresh() takes in those written since."""

    def __init__(self, labels: Labels, kinds: tuple[str, ...] = ("train", "people", "spelled"), limit: int | None = None, clean_only: bool = False) -> None:
        self.labels, self.kinds, self.limit, self.clean_only = labels, kinds, limit, clean_only
        self.seen: set[str] = set()
        self.items: list[tuple[np.ndarray, int]] = []
        self.voices: list[str] = []
        self.refresh()

    def refresh(self) -> int:
        """Load new shards; returns the number of utterances."""
        for path in sorted((CACHE / "shards").glob("*.npz")):
            kind = path.name.split("-")[0]
            if path.name in self.seen or kind not in self.kinds or ".tmp." in path.name:
                continue
            self.seen.add(path.name)
            z = np.load(path)
            ends = np.cumsum(z["lengths"])
            feats = z["features"]
            for end, n, text, voice, what in zip(ends, z["lengths"], z["texts"], z["voices"], z["augmented"]):
                row = int(text) + (self.labels.people_at if kind == "people" else 0)
                if self.limit and kind == "train" and len(self.items) >= self.limit or self.clean_only and what:
                    continue
                if kind.startswith("dev") or 0 < len(self.labels.units[row]) <= n // 2:
                    self.items.append((feats[end - n:end], row))
                    self.voices.append(str(voice))
        return len(self.items)

    def batch(self, chosen: list[int], rng: np.random.Generator | None, spans: int = SPANS) -> Batch:
        """Assemble items; with rng, features are masked at random in up to `spans` places."""
        rows = [self.items[i][1] for i in chosen]
        frames = np.array([len(self.items[i][0]) for i in chosen])
        width = -(-int(frames.max()) // 4) * 4
        x = np.zeros((len(chosen), width, ENCODER_DIM), "i1")
        for j, i in enumerate(chosen):
            f = self.items[i][0]
            x[j, :len(f)] = f
            if rng is not None:
                for _ in range(int(rng.integers(0, spans + 1))):
                    a = int(rng.integers(0, len(f)))
                    x[j, a:a + int(rng.integers(1, SPAN))] = 0
                if rng.random() < DIMENSIONS:
                    x[j, :, rng.random(ENCODER_DIM) < 0.1] = 0
        known = [r if r < len(self.labels.units) else 0 for r in rows]
        u, p = [self.labels.units[r] for r in known], [self.labels.phones[r] for r in known]
        pad = lambda seqs: torch.from_numpy(np.array([np.pad(np.asarray(s, "i8"), (0, max(1, max(map(len, seqs))) - len(s))) for s in seqs]))
        lengths = lambda seqs: torch.tensor([len(s) for s in seqs])
        return Batch(torch.from_numpy(x).to(torch.bfloat16) / STEP, torch.from_numpy(frames), pad(u), lengths(u), pad(p), lengths(p),
                     torch.tensor([int(self.labels.target_of[r]) for r in known]))

    def batches(self, size: int, rng: np.random.Generator):
        """One pass: items sorted by length within a jitter, cut into batches, in random order."""
        lengths = np.array([len(f) for f, _ in self.items], "f4")
        order = np.argsort(lengths + rng.uniform(0, 16, len(lengths)))
        groups = [order[a:a + size] for a in range(0, len(order), size)]
        for g in rng.permutation(len(groups)):
            yield [int(i) for i in groups[g]]
