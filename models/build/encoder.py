"""The encoder alone, in int8, as <cache>/encoder.onnx: makes the cached features that the heads are trained on."""
from __future__ import annotations

from . import ct2, packages
from .config import CACHE, ENCODER_DIM
from .graph import FLOAT, Graph
from .quantise import quantise
from .whisper_graph import add_encoder


def main() -> None:
    """Write the float and the int8 encoder."""
    g = Graph()
    g.alias(add_encoder(g, ct2.load(packages.paths()["whisper"])), "features")
    g.save(CACHE / "encoder-float.onnx", [("mel", FLOAT, ["batch", 80, "m"])], [("features", FLOAT, ["batch", "t", ENCODER_DIM])])
    quantise(CACHE / "encoder-float.onnx", CACHE / "encoder.onnx")


if __name__ == "__main__":
    main()
