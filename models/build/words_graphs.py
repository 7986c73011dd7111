"""Whisper-base's decoder (Radford et al. 2022, section 2.2) as one ONNX graph with a key-value cache.

Two uses of one file, so that nothing large ever leaves the thread that holds the model:
hear: features [1, f, 512], no tokens -> heard_k_L [1, 8, 64, f + s], heard_v_L [1, 8, f + s, 64] of layers L = 0..5 and
      heard_bias [f + s]. Once a window. The s extra places are the silence memory, see words_silence.
step: tokens [1, n], past [12, 8, p, 64] (key and value of each layer), cross_k_L, cross_v_L, cross_bias as heard, no
      features -> logits [1, n, 51865], present [12, 8, p + n, 64]. Once for the prompt, then once a token.

The embedding serves twice, as a table of rows and as the last product (tied weights). It is kept once, as
int8 columns [512, 51865] with one scale a token: reading a column is a strided copy of 512 bytes.
"""
from __future__ import annotations

import numpy as np

from .config import ENCODER_DIM
from .graph import FLOAT, INT64, Graph

LAYERS, HEADS, WIDTH = 6, 8, 64
VOCABULARY = 51_865
PARTS = [f"{part}_{layer}" for layer in range(LAYERS) for part in ("k", "v")] + ["bias"]
SPLIT, JOIN, KEYS = (0, 2, 1, 3), [0, 2, 1, 3], (0, 2, 3, 1)


def cross_infos(prefix: str, length: str) -> list:
    """Names, types and shapes of the cross-attention tensors."""
    shapes = {"k": [1, HEADS, WIDTH, length], "v": [1, HEADS, length, WIDTH], "bias": [length]}
    return [(f"{prefix}_{part}", FLOAT, shapes[part.split("_")[0]]) for part in PARTS]


class Decoder:
    """Builder of the graph. silence: features [s, 512] of the silence memory; each stands for `repeat` frames."""

    def __init__(self, arrays: dict[str, np.ndarray], silence: np.ndarray, repeat: int, int8_embedding: bool) -> None:
        self.arrays, self.g, self.int8 = arrays, Graph(), int8_embedding
        self.silence, self.repeat = silence, repeat
        table = self.weight("decoder/embeddings/weight").T  # [512, vocabulary]
        if self.int8:
            scale = np.maximum(np.abs(table).max(0), 1e-9) / 127
            table = np.clip(np.round(table / scale), -127, 127).astype("i1")
            self.scale = self.g.const(scale.astype("f4"), "embedding.scale")
        self.table = self.g.const(table, "embedding")

    def weight(self, key: str) -> np.ndarray:
        return self.arrays[key].astype("f4")

    def linear(self, x: str, key: str) -> str:
        return self.g.linear(x, self.weight(key + "/weight"), self.weight(key + "/bias"), key)

    def norm(self, x: str, key: str) -> str:
        return self.g.norm(x, self.weight(key + "/gamma"), self.weight(key + "/beta"), 1e-5, key)

    def size(self, of: str, axis: int) -> str:
        """Length of one axis, as a vector of one."""
        return self.g.op("Slice", self.g.op("Shape", of), self.g.ints(axis), self.g.ints(axis + 1), self.g.ints(0))

    def embed(self, tokens: str) -> str:
        """tokens [1, n] -> rows [1, n, 512]."""
        g = self.g
        rows = g.op("Transpose", g.op("Gather", self.table, tokens, axis=1), perm=[1, 2, 0])
        if not self.int8:
            return rows
        scale = g.op("Unsqueeze", g.op("Gather", self.scale, tokens, axis=0), g.ints(2))
        return g.op("Mul", g.op("Cast", rows, to=FLOAT), scale)

    def logits(self, x: str) -> str:
        """hidden [1, n, 512] -> logits [1, n, vocabulary] by the same table."""
        g = self.g
        if not self.int8:
            return g.op("MatMul", x, self.table, name="logits")
        x8, x_scale, x_zero = g.op("DynamicQuantizeLinear", x, outputs=3)
        zero = g.const(np.zeros((), "i1"), "embedding.zero")
        sums = g.op("Cast", g.op("MatMulInteger", x8, self.table, x_zero, zero), to=FLOAT)
        return g.op("Mul", sums, g.op("Mul", x_scale, self.scale))

    def place(self) -> tuple[str, str]:
        """Positions [n, 512] of the new tokens and the causal bias [n, p + n]."""
        g = self.g
        past = self.size("past", 2)
        total = g.op("Add", past, self.size("tokens", 1))
        positions = g.const(self.weight("decoder/position_encodings/encodings"), "positions")
        scalar = lambda x: g.op("Squeeze", x, g.ints(0))
        asked = g.op("Range", scalar(past), scalar(total), g.int0(1))
        seen = g.op("Range", g.int0(0), scalar(total), g.int0(1))
        later = g.op("Less", g.op("Unsqueeze", asked, g.ints(1)), g.op("Unsqueeze", seen, g.ints(0)))
        bias = g.op("Mul", g.op("Cast", later, to=FLOAT), g.num(-1e9))
        return g.op("Gather", positions, asked, axis=0), bias

    def attend(self, q: str, keys: str, values: str, bias: str) -> str:
        """Queries [1, n, 512] over keys [1, 8, 64, t] and values [1, 8, t, 64]."""
        g = self.g
        scores = g.op("MatMul", g.op("Mul", g.heads(q, HEADS, WIDTH, SPLIT), g.num(WIDTH ** -0.5)), keys)
        mixed = g.op("MatMul", g.op("Softmax", g.op("Add", scores, bias), axis=-1), values)
        return g.op("Reshape", g.op("Transpose", mixed, perm=JOIN), g.ints(0, 0, ENCODER_DIM))

    def remember(self, past: str, new: str) -> str:
        """The cache [1, 8, p, 64] of one layer with the new tokens [1, n, 512] behind it."""
        return self.g.op("Concat", past, self.g.heads(new, HEADS, WIDTH, SPLIT), axis=2)

    def hear(self) -> None:
        """Every layer's keys and values of the features, the silence memory behind them."""
        g = self.g
        for layer in range(LAYERS):
            key = f"decoder/layer_{layer}/attention/linear_1"
            k, v = g.op("Split", self.linear("features", key), outputs=2, axis=-1, num_outputs=2)
            rest = self.silence @ self.weight(key + "/weight").T + self.weight(key + "/bias")
            rest_k, rest_v = (rest.reshape(1, -1, 2, HEADS, WIDTH)[:, :, i] for i in (0, 1))
            rest_k, rest_v = rest_k.transpose(0, 2, 3, 1), rest_v.transpose(0, 2, 1, 3)
            g.alias(g.op("Concat", g.heads(k, HEADS, WIDTH, KEYS), g.const(rest_k), axis=3), f"heard_k_{layer}")
            g.alias(g.op("Concat", g.heads(v, HEADS, WIDTH, SPLIT), g.const(rest_v), axis=2), f"heard_v_{layer}")
        rest_bias = g.const(np.full(len(self.silence), np.log(self.repeat), "f4"))
        g.alias(g.op("Concat", g.op("ConstantOfShape", self.size("features", 1)), rest_bias, axis=0), "heard_bias")

    def step(self) -> None:
        """The decoder's layers over the new tokens."""
        g = self.g
        positions, bias = self.place()
        x = g.op("Add", self.embed("tokens"), positions)
        past = g.op("Split", "past", outputs=2 * LAYERS, axis=0, num_outputs=2 * LAYERS)
        present = []
        for layer in range(LAYERS):
            key = f"decoder/layer_{layer}"
            fused = self.linear(self.norm(x, key + "/self_attention/layer_norm"), key + "/self_attention/linear_0")
            q, k, v = g.op("Split", fused, outputs=3, axis=-1, num_outputs=3)
            k, v = self.remember(past[2 * layer], k), self.remember(past[2 * layer + 1], v)
            present += [k, v]
            mixed = self.attend(q, g.op("Transpose", k, perm=[0, 1, 3, 2]), v, bias)
            x = g.op("Add", x, self.linear(mixed, key + "/self_attention/linear_1"))
            q = self.linear(self.norm(x, key + "/attention/layer_norm"), key + "/attention/linear_0")
            mixed = self.attend(q, f"cross_k_{layer}", f"cross_v_{layer}", "cross_bias")
            x = g.op("Add", x, self.linear(mixed, key + "/attention/linear_2"))
            hidden = g.op("Gelu", self.linear(self.norm(x, key + "/ffn/layer_norm"), key + "/ffn/linear_0"))
            x = g.op("Add", x, self.linear(hidden, key + "/ffn/linear_1"))
        g.alias(self.logits(self.norm(x, "decoder/layer_norm")), "logits")
        g.alias(g.op("Concat", *present, axis=0), "present")

    def save(self, path) -> None:
        """Write both uses into one file."""
        self.hear()
        self.step()
        cache = lambda length: [2 * LAYERS, HEADS, length, WIDTH]
        inputs = [("features", FLOAT, [1, "f", ENCODER_DIM]), ("tokens", INT64, [1, "n"]), ("past", FLOAT, cache("p"))]
        outputs = [("logits", FLOAT, [1, "n", VOCABULARY]), ("present", FLOAT, cache("t"))]
        self.g.save(path, inputs + cross_infos("cross", "c"), outputs + cross_infos("heard", "h"))
