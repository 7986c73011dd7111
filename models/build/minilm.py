"""all-MiniLM-L6-v2 (Wang et al. 2020) in PyTorch, reading embeddings instead of ids: the unit text encoder."""
from __future__ import annotations

import json

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import packages
from .config import CACHE, TEXT_DIM
from .model import attend

LAYERS, HEADS, HIDDEN = 6, 12, 1536


class Block(nn.Module):
    """One post-norm transformer layer."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(TEXT_DIM, 3 * TEXT_DIM)
        self.out = nn.Linear(TEXT_DIM, TEXT_DIM)
        self.norm1 = nn.LayerNorm(TEXT_DIM, eps=1e-12)
        self.up = nn.Linear(TEXT_DIM, HIDDEN)
        self.down = nn.Linear(HIDDEN, TEXT_DIM)
        self.norm2 = nn.LayerNorm(TEXT_DIM, eps=1e-12)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [b, n, 384], bias [b, 1, 1, n] added to the attention scores."""
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        mixed = attend(q, k, v, bias).transpose(1, 2).reshape(b, n, d)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class UnitTextEncoder(nn.Module):
    """Unit embeddings -> MiniLM space. Starts as MiniLM itself on the units' own pieces."""

    def __init__(self, pieces: int) -> None:
        super().__init__()
        self.units = nn.Parameter(torch.zeros(pieces, TEXT_DIM))   # row u is label u + 1
        self.ends = nn.Parameter(torch.zeros(2, TEXT_DIM))         # [CLS], [SEP]
        self.positions = nn.Parameter(torch.zeros(160, TEXT_DIM))  # with the token-type embedding added
        self.norm = nn.LayerNorm(TEXT_DIM, eps=1e-12)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))

    def forward(self, soft: Tensor, lengths: Tensor) -> Tensor:
        """soft [b, n, 384] embeddings of units, lengths [b] -> mean-pooled vector [b, 384], not normalised."""
        b, n, _ = soft.shape
        place = torch.arange(n + 2, device=soft.device)[None]
        x = torch.cat([self.ends[0].expand(b, 1, -1), soft, self.ends[1].expand(b, 1, -1)], 1)
        # [SEP] stands after the last slot; slots between a text's end and it are masked, and its position is the text's
        keep = (place <= lengths[:, None]) | (place == n + 1)
        where = torch.where(place == n + 1, lengths[:, None] + 1, place.expand(b, -1))
        x = self.norm(x + self.positions[where])
        bias = torch.zeros(b, 1, 1, n + 2, device=soft.device).masked_fill(~keep[:, None, None], -1e4)
        for block in self.blocks:
            x = block(x, bias)
        weight = keep[..., None].to(x.dtype)
        return (x * weight).sum(1) / weight.sum(1)

    def embed(self, labels: Tensor) -> Tensor:
        """Hard labels [b, n] (0 = padding) -> embeddings."""
        return F.embedding((labels - 1).clamp(min=0), self.units)


def from_minilm() -> UnitTextEncoder:
    """Copy MiniLM's weights."""
    from safetensors.torch import load_file
    w = load_file(str(packages.paths()["minilm"]))
    w = {k.removeprefix("bert."): v.float() for k, v in w.items()}
    spec = json.loads((CACHE / "units.json").read_text())
    model = UnitTextEncoder(len(spec["rows"]))
    words = w["embeddings.word_embeddings.weight"]
    with torch.no_grad():
        model.units.copy_(words[spec["rows"]])
        model.ends.copy_(words[[spec["cls"], spec["sep"]]])
        model.positions.copy_(w["embeddings.position_embeddings.weight"][:160] + w["embeddings.token_type_embeddings.weight"][0])
        pairs = {"norm": "embeddings.LayerNorm"}
        for i in range(LAYERS):
            old, new = f"encoder.layer.{i}", f"blocks.{i}"
            pairs |= {f"{new}.out": f"{old}.attention.output.dense", f"{new}.norm1": f"{old}.attention.output.LayerNorm",
                      f"{new}.up": f"{old}.intermediate.dense", f"{new}.down": f"{old}.output.dense", f"{new}.norm2": f"{old}.output.LayerNorm"}
            for part in ("weight", "bias"):
                parts = [w[f"{old}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
                getattr(model.blocks[i].qkv, part).copy_(torch.cat(parts))
        modules = dict(model.named_modules())
        for new, old in pairs.items():
            modules[new].weight.copy_(w[old + ".weight"])
            modules[new].bias.copy_(w[old + ".bias"])
    return model
