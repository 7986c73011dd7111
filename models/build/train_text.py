"""Stage "text": a copy of MiniLM learns to read the bridge's own misspellings as MiniLM reads the true text.

Hypotheses are best paths of the training utterances (with their noise views) by a checkpoint, with features masked
at random, so that they are about as wrong as those of an unheard voice.
Usage: python -m build.train_text hypotheses CHECKPOINT [CHECKPOINT ...] [trigram] | 
python -m build.train_text train [PASSES [MINUTES [START [RATE]]]]
"""
from __future__ import annotations

import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from . import beam, minilm, units
from .config import CACHE, SEED, WEIGHTS
from .data import Labels, Speech
from .optim import Trainer, state
from .quantise import quantise
from .score import Heads
from .train import BLANK, edits

BATCH, PEAK = 64, 6e-5
BLANKS = (0.0, BLANK / 2, BLANK, BLANK, 1.5 * BLANK)
SPANS = 8                       # masks an utterance, so that the unit error is that of an unheard voice
PART = 2                        # one utterance in so many is also spelled by the trigram's beams
CLEAN = 0.15                    # share of rows that show the true text, as the anchor
CONTRAST, TEMPERATURE = 0.25, 0.05


def hypotheses(names: list[str], trigram: bool) -> None:
    """Write hypotheses.json: [[text, label row], ...], one row for each training utterance; checkpoints take turns.
    With trigram, beams of a part of the utterances are added to what is there."""
    labels, lm = Labels(), beam.Trigram() if trigram else None
    speech, rng = Speech(labels), np.random.default_rng(SEED)
    out, wrong, total = [], 0, 0
    for n, name in enumerate(names):
        heads, chosen = Heads(name, labels), list(range(n, len(speech.items), len(names) * (PART if trigram else 1)))
        for i, path in zip(chosen, heads(speech, chosen, BLANKS, rng, SPANS, lm)[0]):
            row = speech.items[i][1]
            out.append([units.decode(path), row])
            if len(out) % 5 == 0:
                wrong, total = wrong + edits(path, labels.units[row]), total + len(labels.units[row])
    target = CACHE / "hypotheses.json"
    old = json.loads(target.read_text()) if trigram and target.exists() else []
    target.write_text(json.dumps(old + out))
    print("hypotheses", len(out), "unit error", round(wrong / total, 3))


def train(passes: float, minutes: float = 1e9, start_from: str = "", rate: float = 1.0) -> None:
    """Train MiniLM's copy (or go on from an earlier one, at a part of the rate), then write text.pt and the int8 graph ear-text-encoder.onnx."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    labels, rows = Labels(), json.loads((CACHE / "hypotheses.json").read_text())
    tokenizer = Tokenizer.from_file(str(WEIGHTS / "text-tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(64)
    rows = [(text, labels.texts[row], int(labels.target_of[row])) for text, row in rows if text]
    ids = [[e.ids for e in tokenizer.encode_batch([r[k] for r in rows])] for k in (0, 1)]
    model, table = minilm.from_package(), labels.table.float()
    if start_from:
        model.load_state_dict(torch.load(CACHE / f"{start_from}.pt"), strict=False)  # the table is not in it
    trainer = Trainer([(model, rate * PEAK)])
    start, seen, number, done = time.time(), [], 0, 0
    while done < 1:
        order = np.argsort(np.array([len(i) for i in ids[0]]) + rng.uniform(0, 6, len(rows)))
        groups = [order[a:a + BATCH] for a in range(0, len(order), BATCH)]
        for g in rng.permutation(len(groups)):
            done = max((time.time() - start) / 60 / minutes, number / len(groups) / passes)
            if done >= 1:
                break
            chosen = [int(i) for i in groups[g]]
            texts = [ids[int(rng.random() < CLEAN)][i] for i in chosen]
            n = torch.tensor([len(t) for t in texts])
            block = torch.tensor([t + [0] * (int(n.max()) - len(t)) for t in texts])
            goal = torch.tensor([rows[i][2] for i in chosen])
            z = F.normalize(model(block, n).float(), dim=-1)
            cosine = (z * table[goal]).sum(-1).mean()
            loss = 1 - cosine + CONTRAST * F.cross_entropy(z @ table.T / TEMPERATURE, goal)
            loss.backward()
            trainer.step(done, floor=0.02)
            seen.append((float(cosine.detach()), float(loss.detach())))
            number += 1
            if number % 50 == 0:
                mean = np.mean(seen[-50:], axis=0)
                print(f"{number} ({number / len(groups):.2f} passes) {time.time() - start:.0f} s cosine {mean[0]:.3f} loss {mean[1]:.3f}", flush=True)
    torch.save(state(model, trainer), CACHE / "text.pt")
    minilm.export(torch.load(CACHE / "text.pt"), CACHE / "text-float.onnx")
    quantise(CACHE / "text-float.onnx", CACHE / "ear-text-encoder.onnx")


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("THREADS", "2")))
    if sys.argv[1] == "hypotheses":
        hypotheses([a for a in sys.argv[2:] if a != "trigram"], "trigram" in sys.argv)
    else:
        numbers = [float(a) for a in sys.argv[2:4]]
        train(*numbers or [3.0], *sys.argv[4:5], **({"rate": float(sys.argv[5])} if len(sys.argv) > 5 else {}))
