"""Log-mel spectrogram exactly as Whisper's feature extractor computes it, and the fixture that proves it.

Convention (serving must match): the window's samples (float32, -1..1) are zero-padded at the end to
their bucket (2, 3, 4, 6 or 8 s); reflect-padded by 200 samples on both sides of that padded buffer;
Hann window of 400 (periodic), hop 160, power spectrum of a 400-point DFT; the last frame is dropped,
so a bucket of n samples gives n/160 frames; 80 Slaney mel bands 0-8 kHz with area normalisation;
log10(max(p, 1e-10)); clamp from below at (maximum over the whole padded window) - 8; (x + 4) / 4.
"""
from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from .config import HOP, N_MELS, RATE, REPO, bucket_samples, valid_frames

N_FFT = 400


@lru_cache(maxsize=1)
def filters() -> np.ndarray:
    """Slaney-style mel filter bank [80, 201] (linear below 1 kHz, logarithmic above)."""
    step, knee = 200.0 / 3, 1000.0
    knee_mel, log_step = knee / step, np.log(6.4) / 27.0
    mels = np.linspace(0, knee_mel + np.log(RATE / 2 / knee) / log_step, N_MELS + 2)
    hz = np.where(mels < knee_mel, mels * step, knee * np.exp(log_step * (mels - knee_mel)))
    ramps = hz[:, None] - np.linspace(0, RATE / 2, N_FFT // 2 + 1)[None]
    width = np.diff(hz)
    bank = np.maximum(0, np.minimum(-ramps[:-2] / width[:-1, None], ramps[2:] / width[1:, None]))
    return (bank * (2.0 / (hz[2:] - hz[:-2]))[:, None]).astype("f4")


def log_mel(padded: np.ndarray) -> np.ndarray:
    """Samples [n], already padded to a bucket -> log-mel [80, n/160] float32."""
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype("f4")
    x = np.pad(padded.astype("f4"), N_FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(x, N_FFT)[::HOP][:-1]
    power = np.abs(np.fft.rfft(frames * window, axis=1)).astype("f4") ** 2
    spec = np.log10(np.maximum(filters() @ power.T, 1e-10))
    return ((np.maximum(spec, spec.max() - 8.0) + 4.0) / 4.0).astype("f4")


def window_mel(samples: np.ndarray) -> tuple[np.ndarray, int]:
    """Samples of one window (at most 8 s) -> (log-mel of its bucket, valid encoder frames)."""
    size = bucket_samples(len(samples))
    padded = np.zeros(size, "f4")
    padded[:min(size, len(samples))] = samples[:size]
    return log_mel(padded), valid_frames(len(samples))


def fixture_signal(spec: dict) -> np.ndarray:
    """The fixture's formula: a linear chirp plus a steady tone, with a silent gap."""
    n = np.arange(spec["samples"])
    t = n / RATE
    phase = 2 * np.pi * (spec["f0"] * t + (spec["f1"] - spec["f0"]) * t * t / (2 * spec["sweepSeconds"]))
    x = spec["chirpAmplitude"] * np.sin(phase) + spec["toneAmplitude"] * np.sin(2 * np.pi * spec["toneHz"] * t)
    x[spec["gapStart"]:spec["gapEnd"]] = 0
    return x.astype("f4")


def write_fixture(path: Path = REPO / "test" / "fixtures" / "log-mel.json") -> None:
    """Expected values by Whisper's own feature extractor, so that this file and TypeScript are both checked."""
    from faster_whisper.feature_extractor import FeatureExtractor
    cases = []
    for samples in (27_123, 48_000, 101_001):
        spec = {"samples": samples, "rate": RATE, "f0": 110.0, "f1": 6_900.0, "sweepSeconds": 6.0, "chirpAmplitude": 0.4,
                "toneHz": 523.25, "toneAmplitude": 0.05, "gapStart": 9_000, "gapEnd": 12_500}
        signal = fixture_signal(spec)
        size = bucket_samples(samples)
        padded = np.pad(signal, (0, size - samples))
        mel = FeatureExtractor()(padded, padding=0)[:, :size // HOP]
        assert mel.shape == (N_MELS, size // HOP) and np.abs(mel - log_mel(padded)).max() < 2e-3
        rng = np.random.default_rng(samples)
        bands, frames = rng.integers(0, N_MELS, 160), rng.integers(0, size // HOP, 160)
        last = samples // HOP
        bands = np.r_[bands, np.tile([0, 20, 40, 79], 5)]
        frames = np.r_[frames, np.repeat([0, 1, last - 1, last, size // HOP - 1], 4).clip(0, size // HOP - 1)]
        cases.append({"signal": spec, "bucketSamples": size, "melFrames": size // HOP, "validFrames": valid_frames(samples),
                      "values": [[int(b), int(f), round(float(mel[b, f]), 5)] for b, f in zip(bands, frames)]})
    note = (__doc__ or "").split("\n\n")[1].replace("\n", " ")
    formula = ("x[n] = chirpAmplitude*sin(2*pi*(f0*t + (f1-f0)*t^2/(2*sweepSeconds))) + toneAmplitude*sin(2*pi*toneHz*t), "
               "t = n/rate, zero for gapStart <= n < gapEnd")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"convention": note, "formula": formula, "values": "[band, frame, expected]; tolerance 0.005",
                                "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    write_fixture()
