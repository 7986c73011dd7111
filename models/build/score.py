"""Development scores of a checkpoint: questions by a voice kept out of training, clean and in noise, over PubMedQA's sections.

Arms: A the direct head, B the best path's text through the text encoder, A+B their weighted sum. Every choice is made here;
the benchmark's own voice is for evaluate.py alone. Usage: python -m build.score [CHECKPOINT NAME] [--text ONNX]
"""
from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from . import beam, units
from .config import CACHE, DATA, WEIGHTS
from .data import Labels, Speech
from .evaluate import cached, recall, rows_of, unit
from .model import Bridge, Direct
from .teacher import TextEncoder
from .train import BLANK, best_path

WEIGHTS_OF_A = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)



class Heads:
    """The trained modules of a checkpoint, for listening only."""

    def __init__(self, name: str, labels: Labels) -> None:
        modules = torch.load(CACHE / f"{name}.pt")["modules"]
        self.bridge, self.direct = Bridge(len(units.table()), labels.phone_count).eval(), Direct().eval()
        self.bridge.load_state_dict(modules["bridge"])
        self.direct.load_state_dict(modules["direct"])
        self.bridge.to(torch.bfloat16), self.direct.to(torch.bfloat16)

    @torch.no_grad()
    def __call__(self, speech: Speech, chosen: list[int], blank: float | tuple[float, ...] = BLANK, rng: np.random.Generator | None = None,
                 spans: int = 0, lm: beam.Trigram | None = None) -> tuple[list[list[int]], np.ndarray]:
        """Units of each chosen utterance's best path, and head A's vectors [n, 384]. Of several blank biases each batch draws one.
        With lm the units are those of beam.search instead."""
        paths: list[list[int]] = [[] for _ in chosen]
        vectors = np.zeros((len(chosen), 384), "f4")
        order = sorted(range(len(chosen)), key=lambda i: len(speech.items[chosen[i]][0]))
        for a in range(0, len(order), 40):
            group = order[a:a + 40]
            b = speech.batch([chosen[i] for i in group], rng, spans)
            bias = blank if rng is None else float(rng.choice(blank))
            logits, _, states, mask = self.bridge(b.features, b.frames)
            z = F.normalize(self.direct(states, mask).float(), dim=-1).numpy()
            if lm is not None:
                top, steps = logits.float().log_softmax(-1).topk(8, -1), ((b.frames + 1) // 2).tolist()
                found = [beam.search(c[:n].numpy(), v[:n].numpy(), lm) for v, c, n in zip(*top, steps)]
                for i, path, v in zip(group, found, z):
                    paths[i], vectors[i] = path, v
                continue
            for i, path, v in zip(group, best_path(logits, (b.frames + 1) // 2, bias), z):
                paths[i], vectors[i] = path, v
        return paths, vectors


def pubmedqa() -> tuple[np.ndarray, list[str]]:
    """Section vectors and their documents."""
    corpus = rows_of(DATA / "retrieval" / "pubmedqa" / "corpus.jsonl")
    return cached("pubmedqa", [c["text"] for c in corpus]), [c["doc"] for c in corpus]


def main() -> None:
    """Command line."""
    p = argparse.ArgumentParser()
    p.add_argument("name", nargs="?", default="bridge")
    p.add_argument("--text", type=Path, default=WEIGHTS / "text-encoder.onnx")
    p.add_argument("--trigram", action="store_true", help="spell by beam.search")
    p.add_argument("--blank", type=float, default=BLANK)
    args = p.parse_args()
    labels, encode = Labels(), TextEncoder(path=args.text)
    heads, (passages, docs) = Heads(args.name, labels), pubmedqa()
    questions = json.loads((CACHE / "plan.json").read_text())["dev"]
    queries = {r["text"]: r["relevantDocs"] for r in rows_of(DATA / "retrieval" / "pubmedqa" / "queries.jsonl")}
    for kind in ("dev", "devnoise"):
        speech = Speech(labels, (kind,))
        if not speech.items:
            continue
        rows = [row for _, row in speech.items]
        paths, a = heads(speech, list(range(len(rows))), args.blank, lm=beam.Trigram() if args.trigram else None)
        texts = [units.decode(path) for path in paths]
        b, table = encode(texts), np.load(CACHE / "targets.npz")["dev"]
        arms = {"A": a, "B": b} | {f"B+{w}A": unit(b + w * a) for w in WEIGHTS_OF_A} | {"written": table[rows]}
        for arm, z in arms.items():
            own = float(((z @ table.T).argmax(1) == rows).mean())
            cosine = float((z * table[rows]).sum(1).mean())
            found = recall(z, passages, docs, [queries[questions[r][0]] for r in rows])
            print(json.dumps({"set": kind, "n": len(rows), "arm": arm, **found, "own": round(own, 3), "cosine": round(cosine, 3)}), flush=True)
        for t, r in list(zip(texts, rows))[:6]:
            print("   ", questions[r][0], "->", t)


if __name__ == "__main__":
    main()
