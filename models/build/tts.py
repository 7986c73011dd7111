"""Synthetic speech: four engines (espeak-ng, flite, festival, piper), many pseudo-speakers.

A pseudo-speaker is a voice with its own pitch, tempo and size: the engine is asked for another tempo and the
result is resampled, which moves pitch and formants together as another throat would.
"""
from __future__ import annotations

import io
import json
import random
import subprocess
import tempfile
import unicodedata
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.signal as ss
import soundfile as sf

from . import packages
from .config import FORBIDDEN_VOICE, RATE

ACCENTS = ("en-us", "en-us", "en-gb", "en-gb-scotland", "en-gb-scotland", "en-gb-x-rp", "en-029", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-us-nyc")
VARIANTS = ("", "f1", "f2", "f3", "f4", "f5", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "klatt", "klatt2", "klatt3", "klatt4", "klatt6",
            "Alex", "Alicia", "Andrea", "Andy", "Annie", "adam", "belinda", "benjamin", "boris", "caleb", "david", "Ed", "edward", "Gene",
            "Henrique", "Hugo", "iven", "Jacky", "john", "Lee", "linda", "marcelo", "Mario", "max", "michael", "miguel", "Nguyen", "pablo",
            "paul", "pedro", "quincy", "rob", "robert", "steph", "steph2", "travis", "victor", "zac", "shelby", "sandro", "anika", "aunty", "grandma")
TIMEOUT_S = 60


def resample(x: np.ndarray, source: int, target: int = RATE) -> np.ndarray:
    """Polyphase resampling of samples [n]."""
    if source == target:
        return x.astype("f4")
    g = int(np.gcd(source, target))
    return ss.resample_poly(x, target // g, source // g).astype("f4")


def resize(x: np.ndarray, factor: float) -> np.ndarray:
    """Play samples faster by factor (pitch and formants rise with it)."""
    step = 100
    return ss.resample_poly(x, step, max(1, round(step * factor))).astype("f4")


def decode(raw: bytes) -> tuple[np.ndarray, int]:
    """WAV bytes (also streamed ones with a wrong length field) -> samples, rate."""
    try:
        x, rate = sf.read(io.BytesIO(raw), dtype="float32")
    except Exception:
        rate = int.from_bytes(raw[24:28], "little")
        x = np.frombuffer(raw[44:44 + (len(raw) - 44) // 2 * 2], "<i2").astype("f4") / 32768
    return (x if x.ndim == 1 else x.mean(1)), rate


def espeak(text: str, rng: random.Random, tempo: float) -> tuple[np.ndarray, str]:
    """One of some six hundred accent-variant pairs, with its own pitch."""
    variant = rng.choice(VARIANTS)
    voice = rng.choice(ACCENTS) + ("+" + variant if variant else "")
    args = ["espeak-ng", "-v", voice, "-s", str(round(165 / tempo)), "-p", str(rng.randint(25, 75)), "--stdout", text]
    x, rate = decode(subprocess.run(args, capture_output=True, timeout=TIMEOUT_S).stdout)
    return resample(x, rate), "espeak:" + voice


def flite(text: str, voice: str, tempo: float, folder: Path) -> np.ndarray:
    """flite's built-in voices; the benchmark's voice is refused."""
    if FORBIDDEN_VOICE in voice:
        raise ValueError("the benchmark's voice is never used here")
    path = folder / "flite.wav"
    args = ["flite", "-voice", voice, "--setf", f"duration_stretch={tempo:.2f}", "-t", text, "-o", str(path)]
    subprocess.run(args, capture_output=True, timeout=TIMEOUT_S)
    x, rate = decode(path.read_bytes())
    path.unlink()
    return resample(x, rate)


def festival(items: list[tuple[int, str, float]], voice: str, folder: Path) -> dict[int, np.ndarray]:
    """Many (index, text, tempo) by one festival process, whose start-up is the cost."""
    lines = [f"(voice_{voice})"]
    for i, text, tempo in items:
        safe = text.replace("\\", " ").replace('"', " ")
        lines.append(f"(Parameter.set 'Duration_Stretch {tempo:.2f})")
        lines.append(f'(unwind-protect (utt.save.wave (utt.synth (Utterance Text "{safe}")) "{folder}/fest{i}.wav" \'riff) nil)')
    script = folder / "batch.scm"
    script.write_text("\n".join(lines))
    try:
        subprocess.run(["festival", "-b", str(script)], capture_output=True, timeout=TIMEOUT_S * 4)
    except subprocess.TimeoutExpired:
        pass
    out = {}
    for i, _, _ in items:
        path = folder / f"fest{i}.wav"
        if path.exists() and path.stat().st_size > 1_000:
            x, rate = decode(path.read_bytes())
            out[i] = resample(x, rate)
            path.unlink()
    return out


def ipa(text: str) -> str:
    """espeak-ng's phonemes of a text, one line."""
    raw = subprocess.run(["espeak-ng", "-q", "-v", "en-us", "--ipa", text], capture_output=True, timeout=TIMEOUT_S).stdout
    return " ".join(raw.decode().split())


@lru_cache(maxsize=1)
def piper_voice():
    """(session, config) of the piper voice."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    path = packages.paths()["piper"]
    return ort.InferenceSession(str(path), options), json.loads(Path(str(path) + ".json").read_text())


def piper(text: str, rng: random.Random, tempo: float) -> np.ndarray:
    """VITS (Kim et al. 2021) by phoneme ids: start, then each phoneme followed by a pad, then end."""
    session, config = piper_voice()
    table = config["phoneme_id_map"]
    ids = [*table["^"], *table["_"]]
    for char in unicodedata.normalize("NFD", ipa(text)) + ("?" if text.endswith("?") else "."):
        if char in table:
            ids += [*table[char], *table["_"]]
    ids += table["$"]
    scales = np.array([rng.uniform(0.5, 0.9), tempo, rng.uniform(0.6, 1.0)], "f4")
    y = session.run(None, {"input": np.array([ids], "i8"), "input_lengths": np.array([len(ids)], "i8"), "scales": scales})[0]
    return resample(y.squeeze(), config["audio"]["sample_rate"])


def synthesise(items: list[tuple[str, str, int]]) -> list[tuple[np.ndarray | None, str]]:
    """(text, voice, seed) -> (samples at 16 kHz or None, voice label), in order."""
    out: list[tuple[np.ndarray | None, str]] = [(None, v) for _, v, _ in items]
    tempi, sizes, queued = [], [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, (text, voice, seed) in enumerate(items):
            rng = random.Random(seed)
            size = rng.uniform(0.86, 1.18) if rng.random() < 0.6 else 1.0
            tempo = rng.uniform(0.85, 1.15) * size
            tempi.append(tempo)
            sizes.append(size)
            engine, _, which = voice.partition(":")
            try:
                if engine == "espeak":
                    out[i] = espeak(text, rng, tempo)
                elif engine == "flite":
                    out[i] = flite(text, which, tempo, folder), voice
                elif engine == "piper":
                    out[i] = piper(text, rng, tempo), voice
                else:
                    queued.setdefault(which, []).append((i, text, tempo))
            except Exception as error:  # one unspeakable text must not stop a long run
                out[i] = None, f"{voice} failed: {type(error).__name__}"
        for which, batch in queued.items():
            for i, x in festival(batch, which, folder).items():
                out[i] = x, "festival:" + which
    return [(None if x is None or len(x) < RATE // 4 else resize(x, sizes[i]), label) for i, (x, label) in enumerate(out)]
