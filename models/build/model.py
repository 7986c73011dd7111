"""The trained part of the ear: bridge (CTC over units) and direct head.

features 20 ms -> two strided convolutions -> transformer at 80 ms -> two output steps of 40 ms each -> CTC.
An intermediate CTC over phonemes conditions the upper layers on its own guess (Nozaki and Komatsu 2021).
"""
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .config import ENCODER_DIM, TEXT_DIM

WIDTH, HEADS, LAYERS, QUERIES = 256, 4, 4, 6
MAX_STEPS = 100  # 8 s at 80 ms


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    """Scaled dot-product attention [b, h, t, w]; written out, since it beats the fused kernel on short sequences on CPU."""
    return ((q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2) + bias.to(q.dtype)).softmax(-1) @ v


class Layer(nn.Module):
    """Pre-norm transformer layer."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.dropout = dropout

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [b, t, d], bias [b, 1, 1, t]."""
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        x = x + self.out(attend(q, k, v, bias).transpose(1, 2).reshape(b, t, d))
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)))), self.dropout, self.training)


class Bridge(nn.Module):
    """Standardised encoder features -> unit logits at 40 ms, phoneme logits at 40 ms, states at 80 ms."""

    def __init__(self, units: int, phones: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(ENCODER_DIM, WIDTH, 3, stride=2, padding=1)
        self.conv2 = nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.randn(MAX_STEPS, WIDTH) * 0.02)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS))
        self.phone_norm = nn.LayerNorm(WIDTH)
        self.phone_out = nn.Linear(WIDTH, 2 * (phones + 1))
        self.phone_back = nn.Linear(2 * (phones + 1), WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.spread = nn.Linear(WIDTH, 2 * WIDTH)
        self.skip = nn.Linear(WIDTH, WIDTH)
        self.out_norm = nn.LayerNorm(WIDTH)
        self.unit_out = nn.Linear(WIDTH, units + 1)

    def forward(self, features: Tensor, frames: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """features [b, T, 512] with T a multiple of 4, frames [b] valid ones -> (unit logits [b, T/2, K],
        phoneme logits [b, T/2, P], states [b, T/4, d], state mask [b, T/4])."""
        b, T, _ = features.shape
        place = torch.arange(T, device=features.device)[None]
        x = features * (place < frames[:, None])[..., None].to(features.dtype)
        fine = F.gelu(self.conv1(x.transpose(1, 2)))
        x = F.gelu(self.conv2(fine)).transpose(1, 2)
        mask = place[:, :T // 4] * 4 < frames[:, None]
        bias = torch.zeros(b, 1, 1, T // 4, device=x.device).masked_fill(~mask[:, None, None], -1e4)
        x = x + self.positions[:T // 4]
        for i, layer in enumerate(self.layers):
            x = layer(x, bias)
            if i == LAYERS // 2 - 1:
                phones = self.phone_out(self.phone_norm(x)).view(b, T // 2, -1)
                x = x + self.phone_back(phones.float().softmax(-1).to(x.dtype).view(b, T // 4, -1))
        x = self.norm(x)
        y = F.gelu(self.spread(x).view(b, T // 2, WIDTH) + self.skip(fine.transpose(1, 2)))
        return self.unit_out(self.out_norm(y)), phones, x, mask


class Direct(nn.Module):
    """Multi-query attention pooling of the bridge's states straight into the text space."""

    def __init__(self) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(QUERIES, WIDTH) * 0.05)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(QUERIES * WIDTH, TEXT_DIM)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """states [b, t, d], mask [b, t] -> [b, 384], not normalised."""
        scores = torch.einsum("qd,btd->bqt", self.queries, self.key(states)) + (~mask[:, None]).to(states.dtype) * -1e4
        pooled = scores.float().softmax(-1).to(states.dtype) @ F.gelu(self.value(states))
        return self.out(pooled.flatten(1))
