"""Stage "export": encoder and trained modules as one graph, int8, with parity against the float graph.

Usage: python -m build.export [CHECKPOINT NAME]
Writes models/weights/ear.onnx and ear-units.json, and ear-text-encoder.onnx where stage "text" has made one.
"""
from __future__ import annotations

import json
import sys

import numpy as np
import torch

from . import ct2, packages, units
from .config import CACHE, ENCODER_DIM, TEXT_DIM, WEIGHTS
from .ear_graph import CANDIDATES, add_head
from .graph import FLOAT, INT64, Graph
from .make_speech import people, read_person, stats
from .mel import window_mel
from .quantise import quantise
from .whisper_graph import add_encoder

FRAMES = ("frames", INT64, ["batch"])
MEL, FEATURES = ("mel", FLOAT, ["batch", 80, "m"]), ("features", FLOAT, ["batch", "t", ENCODER_DIM])
OUTPUTS = [("vector", FLOAT, ["batch", TEXT_DIM]), ("units", INT64, ["batch", "steps"]),
           ("candidates", INT64, ["batch", "steps", CANDIDATES]), ("scores", FLOAT, ["batch", "steps", CANDIDATES])]
KEEP_FLOAT = ("bridge.unit_out", "bridge.phone", "direct")
PARITY = 0.99


def build(name: str) -> None:
    """Write the float graph to the cache, the int8 graph to models/weights, and the head alone (features in) to the cache."""
    modules = torch.load(CACHE / f"{name}.pt", map_location="cpu")["modules"]
    whole, head = Graph(), Graph()
    features = add_encoder(whole, ct2.load(packages.paths()["whisper"]))
    for g, source in ((whole, features), (head, "features")):
        for key, value in add_head(g, modules, source, "frames", *stats()).items():
            g.alias(value, key)
    whole.alias(features, "features")
    whole.save(CACHE / "ear-float.onnx", [MEL, FRAMES], [OUTPUTS[0], FEATURES, *OUTPUTS[1:]])
    head.save(CACHE / "head-float.onnx", [FEATURES, FRAMES], OUTPUTS)
    quantise(CACHE / "ear-float.onnx", WEIGHTS / "ear.onnx", KEEP_FLOAT)
    quantise(CACHE / "head-float.onnx", CACHE / "head.onnx", KEEP_FLOAT)
    (WEIGHTS / "ear-units.json").write_text(json.dumps(list(units.table()), separators=(",", ":")) + "\n")
    if (CACHE / "ear-text-encoder.onnx").exists():
        (WEIGHTS / "ear-text-encoder.onnx").write_bytes((CACHE / "ear-text-encoder.onnx").read_bytes())


def parity(count: int = 60) -> float:
    """Mean cosine of the int8 and the float ear's vectors on recorded people kept out of training; prints equal steps too."""
    import onnxruntime as ort
    sessions = [ort.InferenceSession(str(p)) for p in (CACHE / "ear-float.onnx", WEIGHTS / "ear.onnx")]
    found, equal = [], []
    for row in [r for r in people(True) if len(r["text"].split()) >= 4][:count]:
        mel, frames = window_mel(read_person(row))
        (a, ua), (b, ub) = (s.run(["vector", "units"], {"mel": mel[None], "frames": np.array([frames], "i8")}) for s in sessions)
        found.append(float(a[0] @ b[0]))
        equal.append(float((ua == ub).mean()))
    print(f"int8 against float: mean cosine {np.mean(found):.4f}, least {np.min(found):.4f}, equal units {np.mean(equal):.3f}, "
          f"{(WEIGHTS / 'ear.onnx').stat().st_size / 2**20:.1f} MiB")
    return float(np.mean(found))


if __name__ == "__main__":
    build(sys.argv[1] if len(sys.argv) > 1 else "bridge")
    if parity() < PARITY:
        print("warning: parity below", PARITY)
