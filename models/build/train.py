"""Stage "bridge": CTC over units and phonemes, and the direct head that listens to the same states.

Usage: python -m build.train --passes N [--minutes M] [--limit N] [--clean] [--name NAME] [--from NAME --rate R] [--spans N]
With --minutes the schedule follows the clock instead of the passes, for data that still grow while training runs.
"""
from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from . import units
from .config import CACHE, SEED
from .data import SPANS, Batch, Labels, Speech
from .model import Bridge, Direct
from .optim import Trainer, state

BATCH = 32
PHONE_WEIGHT, COSINE, CONTRAST, TEMPERATURE = 0.3, 1.0, 0.15, 0.05
BLANK = -1.4  # added to the blank's logit when listening: CTC leaves units out when it doubts (chosen on the development voice)
SNAPSHOTS = (3, 4)  # passes whose weights are kept: they misspell as train_text.py needs it
RATES = {"bridge": 1.2e-3, "direct": 1e-3}


def ctc(logits: Tensor, steps: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
    """Mean CTC loss per label (Graves et al. 2006); utterances without labels do not count."""
    keep = lengths > 0
    logp = logits.float().log_softmax(-1).transpose(0, 1)
    each = F.ctc_loss(logp, labels, steps, lengths.clamp(min=1), reduction="none", zero_infinity=True) / lengths.clamp(min=1)
    return each[keep].mean() if keep.any() else logits.sum() * 0


class Ear:
    """The two trained modules and their losses."""

    def __init__(self, labels: Labels) -> None:
        self.bridge = Bridge(len(units.table()), labels.phone_count)
        self.direct = Direct()
        with torch.no_grad():
            self.direct.out.weight.mul_(0.1)

    def modules(self) -> dict[str, torch.nn.Module]:
        """By name in the checkpoint."""
        return {"bridge": self.bridge, "direct": self.direct}

    def loss(self, b: Batch, table: Tensor) -> tuple[Tensor, dict[str, float]]:
        """Total loss and its parts; table [texts, 384] holds every text's vector, all but one of them negatives."""
        logits, phones, states, mask = self.bridge(b.features, b.frames)
        steps = (b.frames + 1) // 2
        unit_loss, phone_loss = ctc(logits, steps, b.units, b.unit_lengths), ctc(phones, steps, b.phones, b.phone_lengths)
        a = F.normalize(self.direct(states, mask).float(), dim=-1)
        cosine = (a * table[b.targets].float()).sum(-1).mean()
        contrast = F.cross_entropy((a.to(table.dtype) @ table.T).float() / TEMPERATURE, b.targets)
        total = unit_loss + PHONE_WEIGHT * phone_loss + COSINE * (1 - cosine + CONTRAST * contrast)
        return total, {"units": float(unit_loss.detach()), "phones": float(phone_loss.detach()),
                       "A": float(cosine.detach()), "contrast": float(contrast.detach())}


def edits(a: list[int], b: list[int]) -> int:
    """Levenshtein distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return row[-1]


def best_path(logits: Tensor, steps: Tensor, blank: float = 0.0) -> list[list[int]]:
    """Collapsed labels of the best path, `blank` added to the blank's logits."""
    if blank:
        logits = torch.cat([logits[..., :1] + blank, logits[..., 1:]], -1)
    out = []
    for row, n in zip(logits.argmax(-1).tolist(), steps.tolist()):
        row = row[:n]
        out.append([u for i, u in enumerate(row) if u and (i == 0 or u != row[i - 1])])
    return out


class Dev:
    """Development questions by a voice kept out of training: unit error, and the direct head's cosine and own-text rank."""

    def __init__(self, labels: Labels, count: int = 160) -> None:
        self.speech = Speech(labels, ("dev",))
        self.texts = [row[0] for row in json.loads((CACHE / "plan.json").read_text())["dev"]]
        self.table = torch.from_numpy(np.load(CACHE / "targets.npz")["dev"])
        self.chosen = list(range(min(count, len(self.speech.items))))

    @torch.no_grad()
    def __call__(self, ear: Ear) -> dict[str, float]:
        """Scores over the chosen questions."""
        for m in ear.modules().values():
            m.eval()
        wrong = total = 0
        found: list[Tensor] = []
        order = sorted(self.chosen, key=lambda i: len(self.speech.items[i][0]))
        for a in range(0, len(order), 40):
            group = order[a:a + 40]
            b = self.speech.batch(group, None)
            logits, _, states, mask = ear.bridge(b.features, b.frames)
            for i, hyp in zip(group, best_path(logits, (b.frames + 1) // 2)):
                ref = units.labels(self.texts[self.speech.items[i][1]])
                wrong, total = wrong + edits(hyp, ref), total + len(ref)
            found.append(F.normalize(ear.direct(states, mask).float(), dim=-1))
        for m in ear.modules().values():
            m.train()
        rows, z = torch.tensor([self.speech.items[i][1] for i in order]), torch.cat(found)
        return {"unitError": round(wrong / total, 4), "Acos": round(float((z * self.table[rows]).sum(-1).mean()), 4),
                "Aown": round(float(((z @ self.table.T).argmax(-1) == rows).float().mean()), 4)}


def run(args: argparse.Namespace) -> None:
    """One training stage, resumable at the start of a pass."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    labels = Labels()
    speech, ear = Speech(labels, limit=args.limit, clean_only=args.clean), Ear(labels)
    used = ear.modules()
    if args.start:
        for name, weights in torch.load(CACHE / f"{args.start}.pt")["modules"].items():
            used[name].load_state_dict(weights)
    trainer = Trainer([(m, args.rate * RATES[name]) for name, m in used.items()])
    table, dev = labels.table.to(torch.bfloat16), Dev(labels)
    path, first, spent = CACHE / f"{args.name}.pt", 0, 0.0
    if path.exists():
        saved = torch.load(path)
        first, spent = saved["pass"], saved["seconds"]
        for master, old in zip(trainer.masters, saved["masters"]):
            master.data.copy_(old)
        trainer.optimiser.load_state_dict(saved["optimiser"])
        for live, master in zip(trainer.live, trainer.masters):
            live.data.copy_(master.data)
    start = time.time() - spent
    progress, number = first / args.passes, first
    while number < args.passes and not (args.minutes and progress >= 1):
        count, parts_seen, groups = speech.refresh(), [], list(speech.batches(BATCH, rng))
        for n, group in enumerate(groups):
            progress = (time.time() - start) / 60 / args.minutes if args.minutes else (number + n / len(groups)) / args.passes
            if progress >= 1:
                break
            loss, parts = ear.loss(speech.batch(group, rng, args.spans), table)
            loss.backward()
            parts["norm"] = trainer.step(progress)
            parts_seen.append(parts)
            if n % 50 == 49:
                mean = {k: round(float(np.mean([p[k] for p in parts_seen[-50:]])), 3) for k in parts}
                print(f"{number}:{n + 1}/{len(groups)} {time.time() - start:.0f} s", json.dumps(mean), flush=True)
        number += 1
        line = {"stage": args.name, "pass": number, "utterances": count, "seconds": round(time.time() - start),
                **{k: round(float(np.mean([p[k] for p in parts_seen])), 4) for k in parts_seen[-1]}, **dev(ear)}
        with (CACHE / "curve.jsonl").open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)
        modules = {k: state(m, trainer) for k, m in used.items()}
        if number in SNAPSHOTS:
            torch.save({"modules": modules}, CACHE / f"{args.name}-p{number}.pt")
        torch.save({"modules": modules, "masters": trainer.masters, "optimiser": trainer.optimiser.state_dict(),
                    "pass": number, "seconds": time.time() - start}, path)


def main() -> None:
    """Command line."""
    p = argparse.ArgumentParser()
    p.add_argument("--passes", type=int, default=8)
    p.add_argument("--minutes", type=float, default=0)
    p.add_argument("--limit", type=int)
    p.add_argument("--clean", action="store_true")
    p.add_argument("--name", default="bridge")
    p.add_argument("--from", dest="start", help="checkpoint to go on from with a new schedule")
    p.add_argument("--rate", type=float, default=1.0, help="factor on the learning rates")
    p.add_argument("--spans", type=int, default=SPANS, help="most masks an utterance")
    p.add_argument("--threads", type=int, default=2)
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    run(args)


if __name__ == "__main__":
    main()
