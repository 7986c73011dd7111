"""Whisper-base encoder (Radford et al. 2022) as graph nodes, from CTranslate2's arrays."""
from __future__ import annotations

import numpy as np

from .config import ENCODER_DIM, MAX_SAMPLES, FRAME_SAMPLES
from .graph import Graph

LAYERS, HEADS = 6, 8


def add_encoder(g: Graph, arrays: dict[str, np.ndarray], mel: str = "mel") -> str:
    """mel [b, 80, m] -> features [b, m/2, 512]; positions are cut to the frames given."""
    w = lambda key: arrays[key].astype("f4")

    def lin(x: str, key: str) -> str:
        return g.linear(x, w(key + "/weight"), w(key + "/bias"), key)

    def norm(x: str, key: str) -> str:
        return g.norm(x, w(key + "/gamma"), w(key + "/beta"), 1e-5, key)

    def conv(x: str, key: str, stride: int) -> str:
        y = g.op("Conv", x, g.const(w(key + "/weight"), key + ".weight"), g.const(w(key + "/bias"), key + ".bias"),
                 kernel_shape=[3], pads=[1, 1], strides=[stride])
        return g.op("Gelu", y)

    x = conv(conv(mel, "encoder/conv1", 1), "encoder/conv2", 2)
    x = g.op("Transpose", x, perm=[0, 2, 1])
    frames = g.op("Slice", g.op("Shape", x), g.ints(1), g.ints(2), g.ints(0))
    table = w("encoder/position_encodings/encodings")[:MAX_SAMPLES // FRAME_SAMPLES]
    x = g.op("Add", x, g.op("Slice", g.const(table, "encoder.positions"), g.ints(0), frames, g.ints(0)))
    for layer in range(LAYERS):
        key = f"encoder/layer_{layer}"
        fused = lin(norm(x, key + "/self_attention/layer_norm"), key + "/self_attention/linear_0")
        q, k, v = g.op("Split", fused, outputs=3, axis=-1, num_outputs=3)
        x = g.op("Add", x, lin(g.attend(q, k, v, HEADS, ENCODER_DIM // HEADS), key + "/self_attention/linear_1"))
        hidden = g.op("Gelu", lin(norm(x, key + "/ffn/layer_norm"), key + "/ffn/linear_0"))
        x = g.op("Add", x, lin(hidden, key + "/ffn/linear_1"))
    return norm(x, "encoder/layer_norm")
