"""Stage "text": MiniLM's copy learns, on text alone, to read damaged unit sequences as MiniLM reads the clean text."""
from __future__ import annotations

import json
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from . import minilm, units
from .config import CACHE, SEED
from .normalise import words
from .optim import Trainer, state

BATCH, RATE_PEAK = 48, 1.2e-4


def damage(text: str, rng: random.Random, strength: float) -> list[int]:
    """Units of a text after re-segmentation, deletions, wrong units and words glued or cut; strength 0..1."""
    table, names = units.table(), list(units.table())
    out: list[int] = []
    for word in words(text):
        pieces = units.split(word, table, rng, 0.25 * strength)
        if out and rng.random() < 0.08 * strength and "##" + pieces[0] in table:
            pieces[0] = "##" + pieces[0]
        for piece in pieces:
            draw = rng.random()
            if draw < 0.07 * strength:
                continue
            if draw < 0.16 * strength:
                bare = piece.removeprefix("##")
                similar = units.split(bare[:-1] or bare, table, rng, 0.5) if rng.random() < 0.5 else [rng.choice(names)]
                piece = similar[0] if similar else piece
            if draw > 1 - 0.03 * strength and piece.startswith("##") and piece[2:] in table:
                piece = piece[2:]
            out.append(table[piece])
    return out[:100] or [1]


def pad(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """[b, n] zero-padded labels and lengths."""
    n = max(map(len, rows))
    return torch.tensor([r + [0] * (n - len(r)) for r in rows]), torch.tensor([len(r) for r in rows])


def corpus() -> tuple[list[str], np.ndarray]:
    """Plan texts and the extra ones with their vectors, as far as they have been made."""
    texts = [t["text"] for t in json.loads((CACHE / "plan.json").read_text())["texts"]]
    table = np.load(CACHE / "targets.npz")["plan"]
    if (CACHE / "extra.npy").exists():
        texts += json.loads((CACHE / "extra.json").read_text())
        table = np.concatenate([table, np.load(CACHE / "extra.npy").astype("f4")])
    return texts, table


def main(steps: int) -> None:
    """Train and write text.pt; prints the cosine on damaged and on clean development texts."""
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    model = minilm.from_minilm()
    trainer = Trainer([(model, RATE_PEAK)])
    texts, table = corpus()
    table = torch.from_numpy(table)
    dev = [t for t, _, _ in json.loads((CACHE / "plan.json").read_text())["dev"]][:100]
    dev_table = torch.from_numpy(np.load(CACHE / "targets.npz")["dev"][:100])

    def score(strength: float) -> float:
        with torch.no_grad():
            labels, n = pad([damage(t, random.Random(i), strength) for i, t in enumerate(dev)])
            return float(F.cosine_similarity(model(model.embed(labels), n).float(), dev_table).mean())

    print("before: clean %.3f damaged %.3f" % (score(0), score(1)), "texts", len(texts), flush=True)
    start, seen = time.time(), []
    for step in range(steps):
        chosen = rng.sample(range(len(texts)), BATCH)
        labels, n = pad([damage(texts[i], rng, rng.random() * 1.3) for i in chosen])
        goal = table[chosen]
        z = F.normalize(model(model.embed(labels), n).float(), dim=-1)
        cosine = (z * goal).sum(-1)
        loss = (1 - cosine).mean() * 2 + 0.2 * F.cross_entropy(z @ goal.T / 0.05, torch.arange(BATCH))
        loss.backward()
        trainer.step(step / steps)
        seen.append(float(cosine.detach().mean()))
        if step % 100 == 99:
            print(step + 1, "train cosine %.3f dev clean %.3f damaged %.3f" % (np.mean(seen[-100:]), score(0), score(1)), round(time.time() - start), "s", flush=True)
            torch.save(state(model, trainer), CACHE / "text.pt")
    torch.save(state(model, trainer), CACHE / "text.pt")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_200)
