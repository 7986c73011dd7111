"""An untrained ear with the final interface: real int8 encoder, random head. For trying the line early."""
from __future__ import annotations

import numpy as np

from . import ct2, packages
from .config import CACHE, ENCODER_DIM, SEED, TEXT_DIM, WEIGHTS
from .graph import FLOAT, INT64, Graph
from .quantise import quantise
from .whisper_graph import add_encoder

INPUTS = [("mel", FLOAT, ["batch", 80, "m"]), ("frames", INT64, ["batch"])]
OUTPUTS = [("vector", FLOAT, ["batch", TEXT_DIM]), ("features", FLOAT, ["batch", "t", ENCODER_DIM])]


def frame_mask(g: Graph, x: str, frames: str) -> str:
    """1.0 where the step of x [b, t, d] is below frames [b], as [b, t]."""
    steps = g.op("Squeeze", g.op("Slice", g.op("Shape", x), g.ints(1), g.ints(2), g.ints(0)), g.ints(0))
    row = g.op("Unsqueeze", g.op("Range", g.int0(0), steps, g.int0(1)), g.ints(0))
    return g.op("Cast", g.op("Less", row, g.op("Unsqueeze", frames, g.ints(1))), to=1)


def main() -> None:
    """Write models/weights/ear.onnx."""
    g = Graph()
    x = add_encoder(g, ct2.load(packages.paths()["whisper"]))
    mask = g.op("Unsqueeze", frame_mask(g, x, "frames"), g.ints(2))
    total = g.op("ReduceSum", g.op("Mul", x, mask), g.ints(1), keepdims=0)
    mean = g.op("Div", total, g.op("ReduceSum", mask, g.ints(1), keepdims=0))
    head = np.random.default_rng(SEED).normal(size=(TEXT_DIM, ENCODER_DIM)) / ENCODER_DIM ** 0.5
    y = g.linear(mean, head, None, "head")
    g.alias(g.op("LpNormalization", y, axis=-1, p=2), "vector")
    g.alias(x, "features")
    float_path = CACHE / "placeholder.onnx"
    g.save(float_path, INPUTS, OUTPUTS)
    quantise(float_path, WEIGHTS / "ear.onnx", keep_float=("head",))


if __name__ == "__main__":
    main()
