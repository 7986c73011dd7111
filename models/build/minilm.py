"""all-MiniLM-L6-v2 (Wang et al. 2020) in PyTorch, and its graph: the copy that learns to read the bridge's spelling."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import packages
from .config import TEXT_DIM
from .model import attend

LAYERS, HEADS, HIDDEN, LONGEST = 6, 12, 1536, 256


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


class MiniLM(nn.Module):
    """Word-piece ids -> mean-pooled vector. The embedding table is kept as it is and never trained."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table)                              # [30522, 384]
        self.positions = nn.Parameter(torch.zeros(LONGEST, TEXT_DIM))     # with the token-type embedding added
        self.norm = nn.LayerNorm(TEXT_DIM, eps=1e-12)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """ids [b, n] with [CLS] and [SEP], zero-padded, lengths [b] -> [b, 384], not normalised."""
        n = ids.shape[1]
        keep = torch.arange(n, device=ids.device)[None] < lengths[:, None]
        x = self.norm(self.table[ids].to(self.positions.dtype) + self.positions[:n])
        bias = torch.zeros(len(ids), 1, 1, n, device=ids.device).masked_fill(~keep[:, None, None], -1e4)
        for block in self.blocks:
            x = block(x, bias)
        weight = keep[..., None].to(x.dtype)
        return (x * weight).sum(1) / weight.sum(1)


def from_package() -> MiniLM:
    """The published weights."""
    from safetensors.torch import load_file
    w = {k.removeprefix("bert."): v.float() for k, v in load_file(str(packages.paths()["minilm"])).items()}
    model = MiniLM(w["embeddings.word_embeddings.weight"])
    with torch.no_grad():
        model.positions.copy_(w["embeddings.position_embeddings.weight"][:LONGEST] + w["embeddings.token_type_embeddings.weight"][0])
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


def export(weights: dict[str, Tensor], path: Path) -> None:
    """Weights of a MiniLM -> float graph with the inputs and the output of text-encoder.onnx.

    The embedding table is kept in int8 with one scale a row; the products are left for quantise.py.
    """
    from .ear_graph import Weights, score_bias, size
    from .graph import FLOAT, INT64, Graph
    g, w = Graph(), Weights(weights, "text")
    table = from_package().table.numpy()
    scale = np.abs(table).max(1, keepdims=True) / 127 + 1e-9
    rows = g.op("Cast", g.op("Gather", g.const(np.round(table / scale).astype("i1"), "text.table"), "input_ids", axis=0), to=1)
    x = g.op("Mul", rows, g.op("Gather", g.const(scale.astype("f4"), "text.scales"), "input_ids", axis=0))
    types = g.op("Mul", g.op("Cast", g.op("Unsqueeze", "token_type_ids", g.ints(2)), to=1), g.num(0.0))  # read, and of no effect
    x = g.op("Add", g.op("Add", x, types), g.op("Slice", g.const(w("positions"), "text.positions"), g.ints(0), size(g, x, 1), g.ints(0)))
    x = w.norm(g, x, "norm", 1e-12)
    bias = score_bias(g, g.op("Cast", "attention_mask", to=9))
    for i in range(LAYERS):
        key = f"blocks.{i}"
        q, k, v = g.op("Split", w.linear(g, x, key + ".qkv"), outputs=3, axis=-1, num_outputs=3)
        mixed = w.linear(g, g.attend(q, k, v, HEADS, TEXT_DIM // HEADS, bias), key + ".out")
        x = w.norm(g, g.op("Add", x, mixed), key + ".norm1", 1e-12)
        hidden = w.linear(g, g.op("Gelu", w.linear(g, x, key + ".up")), key + ".down")
        x = w.norm(g, g.op("Add", x, hidden), key + ".norm2", 1e-12)
    g.alias(x, "last_hidden_state")
    inputs = [(name, INT64, ["batch", "sequence"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
    g.save(path, inputs, [("last_hidden_state", FLOAT, ["batch", "sequence", TEXT_DIM])])
