"""The trained modules as graph nodes, in the same arithmetic as model.py."""
from __future__ import annotations

import numpy as np

from .config import ENCODER_DIM
from .graph import Graph
from . import model
from .train import BLANK

FAR = -1e4
CANDIDATES = 8


class Weights:
    """A state dict read by dotted prefix."""

    def __init__(self, arrays: dict, prefix: str) -> None:
        self.arrays, self.prefix = arrays, prefix

    def __call__(self, key: str) -> np.ndarray:
        return self.arrays[key].detach().float().numpy()

    def linear(self, g: Graph, x: str, key: str) -> str:
        """x [..., i] -> [..., o]."""
        return g.linear(x, self(key + ".weight"), self(key + ".bias"), f"{self.prefix}.{key}")

    def norm(self, g: Graph, x: str, key: str, eps: float = 1e-5) -> str:
        """Layer normalisation."""
        return g.norm(x, self(key + ".weight"), self(key + ".bias"), eps, f"{self.prefix}.{key}")

    def conv(self, g: Graph, x: str, key: str) -> str:
        """Kernel 3, stride 2, GELU."""
        y = g.op("Conv", x, g.const(self(key + ".weight"), f"{self.prefix}.{key}.weight"), g.const(self(key + ".bias"), f"{self.prefix}.{key}.bias"),
                 kernel_shape=[3], pads=[1, 1], strides=[2])
        return g.op("Gelu", y)


def size(g: Graph, x: str, axis: int) -> str:
    """One dimension as an int64 vector of length 1."""
    return g.op("Slice", g.op("Shape", x), g.ints(axis), g.ints(axis + 1), g.ints(0))


def count_to(g: Graph, n: str) -> str:
    """[1, n] of 0..n-1, for n an int64 vector of length 1."""
    return g.op("Unsqueeze", g.op("Range", g.int0(0), g.op("Squeeze", n, g.ints(0)), g.int0(1)), g.ints(0))


def below(g: Graph, place: str, limit: str) -> str:
    """place [1, t] < limit [b] as bool [b, t]."""
    return g.op("Less", place, g.op("Unsqueeze", limit, g.ints(1)))


def as_float(g: Graph, x: str) -> str:
    """Cast to float32."""
    return g.op("Cast", x, to=1)


def score_bias(g: Graph, keep: str) -> str:
    """bool [b, t] -> [b, 1, 1, t], far below zero where masked."""
    return g.op("Unsqueeze", g.op("Mul", g.op("Sub", g.num(1.0), as_float(g, keep)), g.num(FAR)), g.ints(1, 2))


def standardise(g: Graph, features: str, frames: str, mean: np.ndarray, std: np.ndarray) -> str:
    """features [b, t, 512] -> standardised, zero beyond frames, t padded to a multiple of 4."""
    x = g.op("Mul", g.op("Sub", features, g.const(mean.astype("f4"), "stats.mean")), g.const((1 / std).astype("f4"), "stats.scale"))
    x = g.op("Clip", x, g.num(-6.35), g.num(6.35))
    t = size(g, x, 1)
    x = g.op("Mul", x, g.op("Unsqueeze", as_float(g, below(g, count_to(g, t), frames)), g.ints(2)))
    extra = g.op("Mod", g.op("Sub", g.ints(4), g.op("Mod", t, g.ints(4))), g.ints(4))
    return g.op("Pad", x, g.op("Concat", g.ints(0, 0, 0, 0), extra, g.ints(0), axis=0))


def add_bridge(g: Graph, arrays: dict, x: str, frames: str) -> tuple[str, str, str]:
    """Standardised features [b, T, 512] -> unit logits [b, T/2, K], states [b, T/4, d], state mask bool [b, T/4]."""
    w, d = Weights(arrays, "bridge"), model.WIDTH
    fine = w.conv(g, g.op("Transpose", x, perm=[0, 2, 1]), "conv1")
    x = g.op("Transpose", w.conv(g, fine, "conv2"), perm=[0, 2, 1])
    steps = size(g, x, 1)
    mask = below(g, g.op("Mul", count_to(g, steps), g.int0(4)), frames)
    bias = score_bias(g, mask)
    x = g.op("Add", x, g.op("Slice", g.const(w("positions"), "bridge.positions"), g.ints(0), steps, g.ints(0)))
    for i in range(model.LAYERS):
        key = f"layers.{i}"
        q, k, v = g.op("Split", w.linear(g, w.norm(g, x, key + ".norm1"), key + ".qkv"), outputs=3, axis=-1, num_outputs=3)
        x = g.op("Add", x, w.linear(g, g.attend(q, k, v, model.HEADS, d // model.HEADS, bias), key + ".out"))
        up = g.op("Gelu", w.linear(g, w.norm(g, x, key + ".norm2"), key + ".up"))
        x = g.op("Add", x, w.linear(g, up, key + ".down"))
        if i == model.LAYERS // 2 - 1:
            phones = w.linear(g, w.norm(g, x, "phone_norm"), "phone_out")
            width = w("phone_out.weight").shape[0]
            split = g.op("Softmax", g.op("Reshape", phones, g.ints(0, 0, 2, width // 2)), axis=-1)
            x = g.op("Add", x, w.linear(g, g.op("Reshape", split, g.ints(0, 0, width)), "phone_back"))
    states = w.norm(g, x, "norm")
    spread = g.op("Reshape", w.linear(g, states, "spread"), g.ints(0, -1, d))
    y = g.op("Gelu", g.op("Add", spread, w.linear(g, g.op("Transpose", fine, perm=[0, 2, 1]), "skip")))
    return w.linear(g, w.norm(g, y, "out_norm"), "unit_out"), states, mask


def add_path(g: Graph, logits: str, frames: str) -> dict[str, str]:
    """Unit logits [b, t, K] -> units, the best of each 40 ms step after train.BLANK, int64 [b, t]; candidates, the likeliest
    of each step, int64 [b, t, CANDIDATES], and their log-probabilities (without that bias). 0 where blank or beyond frames."""
    steps = g.op("Div", g.op("Add", frames, g.int0(1)), g.int0(2))
    live = below(g, count_to(g, size(g, logits, 1)), steps)
    blank = np.zeros(g.consts["bridge.unit_out.bias"].dims[0], "f4")
    blank[0] = BLANK
    best = g.op("ArgMax", g.op("Add", logits, g.const(blank, "bridge.blank")), axis=-1, keepdims=0)
    scores, candidates = g.op("TopK", g.op("LogSoftmax", logits, axis=-1), g.ints(CANDIDATES), outputs=2, axis=-1)
    return {"units": g.op("Mul", best, g.op("Cast", live, to=7)),
            "candidates": g.op("Mul", candidates, g.op("Unsqueeze", g.op("Cast", live, to=7), g.ints(2))),
            "scores": g.op("Mul", scores, g.op("Unsqueeze", as_float(g, live), g.ints(2)))}


def add_direct(g: Graph, arrays: dict, states: str, mask: str) -> str:
    """States [b, t, d] -> [b, 384], not normalised."""
    w = Weights(arrays, "direct")
    keys = g.op("Transpose", w.linear(g, states, "key"), perm=[0, 2, 1])
    scores = g.op("MatMul", g.const(w("queries"), "direct.queries"), keys)
    scores = g.op("Add", scores, g.op("Squeeze", score_bias(g, mask), g.ints(1)))
    pooled = g.op("MatMul", g.op("Softmax", scores, axis=-1), g.op("Gelu", w.linear(g, states, "value")))
    return w.linear(g, g.op("Reshape", pooled, g.ints(0, model.QUERIES * model.WIDTH)), "out")


def add_head(g: Graph, modules: dict, features: str, frames: str, mean: np.ndarray, std: np.ndarray) -> dict[str, str]:
    """Everything after the encoder; returns the names of vector [b, 384] (the direct head's), units, candidates and scores."""
    x = standardise(g, features, frames, mean, std)
    logits, states, mask = add_bridge(g, modules["bridge"], x, frames)
    vector = g.op("LpNormalization", add_direct(g, modules["direct"], states, mask), axis=-1, p=2)
    return {"vector": vector} | add_path(g, logits, frames)


assert ENCODER_DIM == 512
