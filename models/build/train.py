"""Stages "bridge" (CTC alone) and "joint" (CTC, compaction, unit text encoder and direct head end to end).

Usage: python -m build.train bridge|joint --passes N [--minutes M] [--limit N] [--clean] [--name NAME] [--from NAME]
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

from . import minilm, units
from .config import CACHE, SEED
from .data import Batch, Labels, Speech
from .model import Bridge, Direct, compact
from .optim import Trainer, state

BATCH = 32
PHONE_WEIGHT, COSINE, CONTRAST, TEMPERATURE = 0.3, 4.0, 0.5, 0.05
RATES = {"bridge": (1.2e-3, 0.0, 0.0), "joint": (4e-4, 1.5e-4, 1e-3)}  # bridge, unit text encoder, direct head


def ctc(logits: Tensor, steps: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
    """Mean CTC loss per label (Graves et al. 2006); utterances without labels do not count."""
    keep = lengths > 0
    logp = logits.float().log_softmax(-1).transpose(0, 1)
    each = F.ctc_loss(logp, labels, steps, lengths.clamp(min=1), reduction="none", zero_infinity=True) / lengths.clamp(min=1)
    return each[keep].mean() if keep.any() else logits.sum() * 0


class Ear:
    """The three trained modules and their losses."""

    def __init__(self, labels: Labels) -> None:
        self.bridge = Bridge(len(units.table()), labels.phone_count)
        self.text = minilm.from_minilm()
        self.direct = Direct()
        with torch.no_grad():
            self.direct.out.weight.mul_(0.1)

    def modules(self) -> dict[str, torch.nn.Module]:
        """By name in the checkpoint."""
        return {"bridge": self.bridge, "text": self.text, "direct": self.direct}

    def load(self, name: str) -> None:
        """Take whatever modules a checkpoint holds."""
        found = torch.load(CACHE / f"{name}.pt")
        found = found.get("modules", {"text": found})
        for key, weights in found.items():
            self.modules()[key].load_state_dict(weights)

    def vectors(self, b: Batch, logits: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(C, D): the bridge's vector, and its sum with the direct head's; both [b, 384], normalised."""
        soft, counts = compact(logits, (b.frames + 1) // 2, self.text.units)
        c = F.normalize(self.text(soft[:, :150], counts.clamp(max=150)).float(), dim=-1)
        return c, F.normalize(c + self.direct(states, mask).float(), dim=-1)

    def loss(self, b: Batch, table: Tensor, joint: bool) -> tuple[Tensor, dict[str, float]]:
        """Total loss and its parts."""
        logits, phones, states, mask = self.bridge(b.features, b.frames)
        steps = (b.frames + 1) // 2
        unit_loss, phone_loss = ctc(logits, steps, b.units, b.unit_lengths), ctc(phones, steps, b.phones, b.phone_lengths)
        total = unit_loss + PHONE_WEIGHT * phone_loss
        parts = {"units": float(unit_loss.detach()), "phones": float(phone_loss.detach())}
        if joint:
            c, d = self.vectors(b, logits, states, mask)
            goal = table[b.targets].float()
            cos_c, cos_d = (c * goal).sum(-1).mean(), (d * goal).sum(-1).mean()
            contrast = F.cross_entropy((d.to(table.dtype) @ table.T).float() / TEMPERATURE, b.targets)
            total = total + COSINE * (1 - cos_d + 0.5 * (1 - cos_c)) + CONTRAST * contrast
            parts |= {"C": float(cos_c.detach()), "D": float(cos_d.detach()), "contrast": float(contrast.detach())}
        return total, parts


def edits(a: list[int], b: list[int]) -> int:
    """Levenshtein distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return row[-1]


def best_path(logits: Tensor, steps: Tensor) -> list[list[int]]:
    """Collapsed labels."""
    out = []
    for row, n in zip(logits.argmax(-1).tolist(), steps.tolist()):
        row = row[:n]
        out.append([u for i, u in enumerate(row) if u and (i == 0 or u != row[i - 1])])
    return out


class Dev:
    """Development questions by a voice kept out of training: unit error and, jointly, cosine and own-text rank."""

    def __init__(self, labels: Labels, count: int = 160) -> None:
        self.speech = Speech(labels, ("dev",))
        self.texts = [row[0] for row in json.loads((CACHE / "plan.json").read_text())["dev"]]
        self.table = torch.from_numpy(np.load(CACHE / "targets.npz")["dev"])
        self.chosen = list(range(min(count, len(self.speech.items))))

    @torch.no_grad()
    def __call__(self, ear: Ear, joint: bool) -> dict[str, float]:
        """Scores over the chosen questions."""
        for m in ear.modules().values():
            m.eval()
        wrong = total = 0
        found: dict[str, list[Tensor]] = {"C": [], "D": []}
        order = sorted(self.chosen, key=lambda i: len(self.speech.items[i][0]))
        for a in range(0, len(order), 40):
            group = order[a:a + 40]
            b = self.speech.batch(group, None)
            logits, _, states, mask = ear.bridge(b.features, b.frames)
            for i, hyp in zip(group, best_path(logits, (b.frames + 1) // 2)):
                ref = units.labels(self.texts[self.speech.items[i][1]])
                wrong, total = wrong + edits(hyp, ref), total + len(ref)
            if joint:
                for k, v in zip("CD", ear.vectors(b, logits, states, mask)):
                    found[k].append(v)
        for m in ear.modules().values():
            m.train()
        out = {"unitError": round(wrong / total, 4)}
        rows = torch.tensor([self.speech.items[i][1] for i in order])
        for k, vs in found.items():
            if vs:
                z = torch.cat(vs)
                out[k + "cos"] = round(float((z * self.table[rows]).sum(-1).mean()), 4)
                out[k + "own"] = round(float(((z @ self.table.T).argmax(-1) == rows).float().mean()), 4)
        return out


def run(args: argparse.Namespace) -> None:
    """One training stage, resumable at the start of a pass."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    labels, joint = Labels(), args.stage == "joint"
    speech, ear = Speech(labels, limit=args.limit, clean_only=args.clean), Ear(labels)
    for name in args.start or []:
        ear.load(name)
    used = ear.modules() if joint else {"bridge": ear.bridge}
    trainer = Trainer([(m, r) for m, r in zip(used.values(), RATES[args.stage])])
    ear.text.to(torch.bfloat16), ear.direct.to(torch.bfloat16)
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
            loss, parts = ear.loss(speech.batch(group, rng), table, joint)
            loss.backward()
            parts["norm"] = trainer.step(progress)
            parts_seen.append(parts)
            if n % 50 == 49:
                mean = {k: round(float(np.mean([p[k] for p in parts_seen[-50:]])), 3) for k in parts}
                print(f"{number}:{n + 1}/{len(groups)} {time.time() - start:.0f} s", json.dumps(mean), flush=True)
        number += 1
        line = {"stage": args.name, "pass": number, "utterances": count, "seconds": round(time.time() - start),
                **{k: round(float(np.mean([p[k] for p in parts_seen])), 4) for k in parts_seen[-1]}, **dev(ear, joint)}
        with (CACHE / "curve.jsonl").open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)
        torch.save({"modules": {k: state(m, trainer) for k, m in used.items()}, "masters": trainer.masters, "optimiser": trainer.optimiser.state_dict(),
                    "pass": number, "seconds": time.time() - start}, path)


def main() -> None:
    """Command line."""
    p = argparse.ArgumentParser()
    p.add_argument("stage", choices=("bridge", "joint"))
    p.add_argument("--passes", type=int, default=8)
    p.add_argument("--minutes", type=float, default=0)
    p.add_argument("--limit", type=int)
    p.add_argument("--clean", action="store_true")
    p.add_argument("--name")
    p.add_argument("--from", dest="start", nargs="*")
    p.add_argument("--threads", type=int, default=2)
    args = p.parse_args()
    args.name = args.name or args.stage
    torch.set_num_threads(args.threads)
    run(args)


if __name__ == "__main__":
    main()
