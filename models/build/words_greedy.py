"""Greedy decoding with the exported graphs, in Python: for parity checks only (serving is server/encode)."""
from __future__ import annotations

import json
import os

import numpy as np

from .config import WEIGHTS
from .words_graphs import ENCODER_DIM, HEADS, LAYERS, PARTS, WIDTH

EMPTY_PAST = np.zeros((2 * LAYERS, HEADS, 0, WIDTH), "f4")
NO_FEATURES = np.zeros((1, 0, ENCODER_DIM), "f4")
TOKENS_PER_FRAME = 8 / 50  # eight tokens a second of sound; English speech stays below five


class Greedy:
    """An exported decoder and Whisper's suppression rules."""

    def __init__(self, path, threads: int = 2) -> None:
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("AUSCULT_THREADS", threads))
        self.session = ort.InferenceSession(str(path), options)
        self.vocabulary = json.loads((WEIGHTS / "words-tokenizer.json").read_text())

    def hear(self, features: np.ndarray) -> dict[str, np.ndarray]:
        """features [f, 512] -> the cross-attention feeds of every step."""
        shapes = {"k": (1, HEADS, WIDTH, 1), "v": (1, HEADS, 1, WIDTH), "bias": (1,)}
        nothing = {f"cross_{part}": np.zeros(shapes[part.split("_")[0]], "f4") for part in PARTS}
        heard = self.session.run([f"heard_{part}" for part in PARTS], {
            "features": features[None].astype("f4"), "tokens": np.zeros((1, 0), "i8"), "past": EMPTY_PAST, **nothing})
        return {f"cross_{part}": value for part, value in zip(PARTS, heard)} | {"features": NO_FEATURES}

    def decode(self, features: np.ndarray) -> tuple[list[int], list[float], float]:
        """features [f, 512] -> token ids, their probabilities, probability of no speech."""
        v = self.vocabulary
        heard, past = self.hear(features), EMPTY_PAST
        new, ids, probabilities, no_speech = np.array([v["prompt"]], "i8"), [], [], 0.0
        for _ in range(int(8 + features.shape[0] * TOKENS_PER_FRAME)):
            logits, past = self.session.run(["logits", "present"], {"tokens": new, "past": past, **heard})
            if not ids:
                first = np.exp(logits[0, 0] - logits[0, 0].max())
                no_speech = float(first[v["noSpeech"]] / first.sum())
            last = logits[0, -1].copy()
            last[v["suppress"]] = last[v["endOfText"] + 1:] = -np.inf
            if not ids:
                last[v["suppressAtBegin"]] = -np.inf
            weights = np.exp(last - last.max())
            best = int(last.argmax())
            if best == v["endOfText"]:
                break
            ids.append(best)
            probabilities.append(float(weights[best] / weights.sum()))
            new = np.array([[best]], "i8")
        return ids, probabilities, no_speech

    def text(self, ids: list[int]) -> str:
        """The words of token ids."""
        return b"".join(self.vocabulary["tokens"][i].encode("latin-1") for i in ids).decode("utf-8", "replace").strip()
