"""The written side: MiniLM vectors of texts by the text encoder that is shipped."""
from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from .carriers import carriers
from .config import CACHE, DATA, SEED, TEXT_DIM, WEIGHTS
from .leak import LeakCheck, protected_queries
from .make_speech import people


class TextEncoder:
    """text-encoder.onnx with mean pooling and normalisation."""

    def __init__(self, threads: int = 1, path: Path = WEIGHTS / "text-encoder.onnx") -> None:
        import onnxruntime as ort
        from tokenizers import Tokenizer
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = ort.InferenceSession(str(path), options)
        self.names = {i.name for i in self.session.get_inputs()}
        self.tokenizer = Tokenizer.from_file(str(WEIGHTS / "text-tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def __call__(self, texts: list[str], batch: int = 8) -> np.ndarray:
        """Unit vectors [n, 384]; texts of one length share a batch, so that nothing is padded."""
        ids = [e.ids for e in self.tokenizer.encode_batch(texts)]
        out = np.zeros((len(texts), TEXT_DIM), "f4")
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        at = 0
        while at < len(order):
            end = at + 1
            while end < min(at + batch, len(order)) and len(ids[order[end]]) == len(ids[order[at]]):
                end += 1
            block = np.array([ids[i] for i in order[at:end]], "i8")
            feed = {"input_ids": block, "attention_mask": np.ones_like(block), "token_type_ids": np.zeros_like(block)}
            y = self.session.run(None, {k: v for k, v in feed.items() if k in self.names})[0].mean(1)
            out[order[at:end]] = y / np.linalg.norm(y, axis=1, keepdims=True)
            at = end
        return out


def extra_texts() -> list[str]:
    """Texts for the unit text encoder beyond those spoken: the rest of data/train and further carrier sentences."""
    index = LeakCheck(protected_queries())
    found = [json.loads(line)["text"] for line in (DATA / "train" / "texts.jsonl").open()] + carriers(SEED + 1, passes=2)
    return [t for t in dict.fromkeys(found) if len(t.split()) <= 30 and not index.near(t)]


def build() -> None:
    """Write targets.npz: vectors of plan texts, recorded people's transcripts, development questions and extra texts."""
    encode = TextEncoder()
    plan = json.loads((CACHE / "plan.json").read_text())
    dev = [row[0] for row in plan["dev"]]
    sets = {"plan": [t["text"] for t in plan["texts"]], "people": [r["text"].lower() for r in people(False)], "dev": dev}
    old = dict(np.load(CACHE / "targets.npz")) if (CACHE / "targets.npz").exists() else {}
    made = {}
    for name, texts in sets.items():  # a plan that has grown at its end keeps the vectors it has
        kept = old.get(name, np.zeros((0, TEXT_DIM), "f4"))[:len(texts)]
        made[name] = np.concatenate([kept, encode(texts[len(kept):])]) if len(kept) < len(texts) else kept
    np.savez(CACHE / "targets.npz", **made)
    print({k: len(v) for k, v in sets.items()}, flush=True)
    if (CACHE / "extra.npy").exists():
        return
    extra = extra_texts()
    (CACHE / "extra.json").write_text(json.dumps(extra))
    np.save(CACHE / "extra.npy", encode(extra).astype("f2"))
    print("extra", len(extra))


if __name__ == "__main__":
    sys.exit(build())
