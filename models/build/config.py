"""Paths, seeds and the constants that training and serving must share.

Paths come from the environment, so that nothing here depends on one machine:
AUSCULT_SHARED (data; default ../shared beside the repository), AUSCULT_BUILD
(cache; default ~/.cache/auscult-build), AUSCULT_PACKAGES (downloaded weight
packages, unzipped; default <cache>/packages).
"""
from __future__ import annotations

import os
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("AUSCULT_SHARED", REPO.parent / "shared"))
DATA = SHARED / "data"
CACHE = Path(os.environ.get("AUSCULT_BUILD", Path.home() / ".cache" / "auscult-build"))
PACKAGES = Path(os.environ.get("AUSCULT_PACKAGES", CACHE / "packages"))
WEIGHTS = REPO / "models" / "weights"

SEED = 20_260
RATE = 16_000              # samples a second
HOP = 160                  # samples between mel frames (10 ms)
N_MELS = 80
BUCKETS_S = (2, 3, 4, 6, 8)  # a window is zero-padded up to one of these lengths
MAX_SAMPLES = BUCKETS_S[-1] * RATE
FRAME_SAMPLES = 320        # one encoder frame is 20 ms
ENCODER_DIM = 512
TEXT_DIM = 384

FORBIDDEN_VOICE = "awb"    # the benchmark's voice: never trained on
DEV_VOICES = ("flite:rms",)  # kept out of training as a development voice


def bucket_samples(n: int) -> int:
    """Samples of the smallest bucket that holds n samples (the largest when none does)."""
    for seconds in BUCKETS_S:
        if n <= seconds * RATE:
            return seconds * RATE
    return MAX_SAMPLES


def valid_frames(n: int) -> int:
    """Encoder frames (20 ms) that hold sound, for a window of n samples before padding."""
    return max(1, min(MAX_SAMPLES // FRAME_SAMPLES, -(-n // FRAME_SAMPLES)))
