"""The silence memory: what Whisper's encoder gives for the silence that follows speech in a 30 s window.

The word decoder was trained on windows padded to 30 s. Given only the frames of the speech it misses the silence that
tells it to stop, and goes on: it says the sentence again. So a few frames of encoded silence are put behind every window,
each with the weight of REPEAT frames (log REPEAT is added to its attention score). They are constants of the graph:
neither the encoder nor the ear hears any padding. They come from made-up voices, hence from no recording.
"""
from __future__ import annotations

import numpy as np

from . import ct2, packages, whisper_graph
from .config import CACHE, ENCODER_DIM, FRAME_SAMPLES, MAX_SAMPLES, RATE, SEED
from .graph import FLOAT, Graph
from .mel import log_mel

FULL_SAMPLES = 30 * RATE
REPEAT = 16
VOICES = 5


def hum(index: int) -> np.ndarray:
    """30 s of sound: a few seconds of a pulsing harmonic tone with faint noise, then zeros."""
    rng = np.random.default_rng(SEED + index)
    size = int((2 + 1.3 * index) * RATE)
    t = np.arange(size) / RATE
    phase = 2 * np.pi * np.cumsum(120 + 40 * np.sin(2 * np.pi * 0.7 * t + index)) / RATE
    tone = sum(np.sin(k * phase) / k ** 1.2 for k in range(1, 25))
    syllables = np.sqrt(np.clip(np.sin(2 * np.pi * 3.1 * t + index), 0, 1))
    return np.pad(0.08 * tone * syllables + 8e-4 * rng.normal(size=size), (0, FULL_SAMPLES - size)).astype("f4")


def full_encoder() -> Graph:
    """Whisper's encoder with all its 1,500 positions."""
    g = Graph()
    shipped = whisper_graph.MAX_SAMPLES
    whisper_graph.MAX_SAMPLES = FULL_SAMPLES
    g.alias(whisper_graph.add_encoder(g, ct2.load(packages.paths()["whisper"])), "features")
    whisper_graph.MAX_SAMPLES = shipped
    return g


def silence_memory() -> np.ndarray:
    """Features [s, 512]: one of every REPEAT frames behind the longest window, averaged over the voices."""
    import onnxruntime as ort
    path = CACHE / "words-full-encoder.onnx"
    full_encoder().save(path, [("mel", FLOAT, ["batch", 80, "m"])], [("features", FLOAT, ["batch", "t", ENCODER_DIM])])
    session = ort.InferenceSession(str(path))
    heard = [session.run(None, {"mel": log_mel(hum(i))[None]})[0][0] for i in range(VOICES)]
    return np.mean(heard, axis=0)[MAX_SAMPLES // FRAME_SAMPLES:][REPEAT // 2::REPEAT].astype("f4")
