"""Stage "speech": plan -> speech -> augmentation -> encoder features, in shards that can be resumed.

Each shard is one .npz: features int8 [frames, 512] of all its utterances end to end, lengths, text index, voice.
Features are standardised by the fixed per-dimension statistics of <cache>/feature-stats.npz and stored in
steps of 1/STEP. Usage: python -m build.make_speech KIND WORKER WORKERS [MINUTES [FIRST SHARD]]
"""
from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

import numpy as np
import soundfile as sf

from .augment import augment, mix, noises
from .config import CACHE, DATA, ENCODER_DIM, MAX_SAMPLES, SEED
from .mel import window_mel
from .tts import resample, synthesise

STEP = 20.0
SHARD = 200
DEV_NOISY = 200
TEST_EVERY = 4  # every fourth speaker of the recorded corpus is kept for tests


class Encoder:
    """The served int8 encoder on one thread."""

    def __init__(self, path: Path = CACHE / "encoder.onnx") -> None:
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = ort.InferenceSession(str(path), options)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Samples [n] -> valid features [frames, 512]."""
        mel, frames = window_mel(x)
        return self.session.run(["features"], {"mel": mel[None]})[0][0, :frames]


def stats() -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of each feature dimension."""
    z = np.load(CACHE / "feature-stats.npz")
    return z["mean"], z["std"]


def write_stats(encoder: Encoder) -> None:
    """Measure the statistics on sixty clean utterances of the plan."""
    plan = json.loads((CACHE / "plan.json").read_text())
    items = [(plan["texts"][i]["text"], v, s) for i, v, s in plan["train"][:60]]
    found = np.concatenate([encoder(x[:MAX_SAMPLES]) for x, _ in synthesise(items) if x is not None])
    np.savez(CACHE / "feature-stats.npz", mean=found.mean(0), std=found.std(0) + 1e-3)


def pack(features: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """float [t, 512] -> int8."""
    return np.clip(np.round((features - mean) / std * STEP), -127, 127).astype("i1")


def people(test: bool) -> list[dict]:
    """Recorded people of one side of the split: three of four AN4 speakers and the prompts train, the rest test."""
    rows = [json.loads(line) for line in (DATA / "speech" / "recordings.jsonl").open()]
    an4 = sorted({r["speaker"] for r in rows if r["source"] == "an4"})
    held = set(an4[::TEST_EVERY])
    trains = lambda r: (r["source"] == "an4" and r["speaker"] not in held) or r["source"].startswith("asterisk")
    return [r for r in rows if trains(r) != test and r["seconds"] <= 8 and any(c.isalpha() for c in r["text"])]


def read_person(row: dict) -> np.ndarray:
    """Samples at 16 kHz."""
    x, rate = sf.read(DATA / row["audio"], dtype="float32")
    return resample(x if x.ndim == 1 else x.mean(1), rate)


def shard_jobs(kind: str) -> list[list]:
    """Utterances of each shard: (text id, text or row, voice, seed)."""
    plan = json.loads((CACHE / "plan.json").read_text())
    if kind in ("train", "spelled"):
        said = [t.get("say", t["text"]) for t in plan["texts"]]
        rows = [(i, said[i], v, s) for i, v, s in plan[kind]]
    elif kind in ("dev", "devnoise"):
        rows = [(n, t, v, s) for n, (t, v, s) in enumerate(plan["dev"][:DEV_NOISY if kind == "devnoise" else None])]
    else:  # "people": four views of each recording
        rows = [(n, row, "people:" + (row["speaker"] or "?"), SEED + 7919 * view + n) for view in range(4) for n, row in enumerate(people(False))]
        random.Random(SEED).shuffle(rows)
    return [rows[a:a + SHARD] for a in range(0, len(rows), SHARD)]


def voices_of(kind: str, rows: list) -> list[tuple[np.ndarray | None, str]]:
    """Samples and voice label of each row."""
    if kind == "people":
        return [(read_person(r[1]), r[2]) for r in rows]
    return synthesise([(r[1], r[2], r[3]) for r in rows])


def make_shard(kind: str, rows: list, encoder: Encoder, target: Path) -> int:
    """Speak, augment, encode and write one shard; returns the utterances kept."""
    mean, std = stats()
    spoken = voices_of(kind, rows)
    babble = [x for x, _ in spoken if x is not None][:40]
    feats, lengths, ids, labels, done = [], [], [], [], []
    for (text_id, _, _, seed), (x, voice) in zip(rows, spoken):
        if x is None or len(x) > MAX_SAMPLES:
            continue
        x = x / (np.abs(x).max() + 1e-6) * 0.7
        what = ""
        if kind == "devnoise":
            rng, pool = np.random.default_rng(seed), noises(False)
            what = sorted(pool)[int(rng.integers(len(pool)))]
            x = mix(x, pool[what], rng.uniform(0, 10), rng)
            x /= max(1.0, float(np.abs(x).max()))
        elif kind != "dev":
            x, what = augment(x, np.random.default_rng(seed), babble)
            x = x[:MAX_SAMPLES]
        f = pack(encoder(x), mean, std)
        feats.append(f)
        lengths.append(len(f))
        ids.append(text_id)
        labels.append(voice)
        done.append(what)
    partial = target.with_suffix(".tmp.npz")
    np.savez(partial, features=np.concatenate(feats).reshape(-1, ENCODER_DIM), lengths=np.array(lengths, "i4"), texts=np.array(ids, "i4"),
             voices=np.array(labels), augmented=np.array(done))
    partial.rename(target)
    return len(ids)


def main(kind: str, worker: int, workers: int, minutes: float, first: int = 0) -> None:
    """Make this worker's shards until they are done or time is up."""
    encoder = Encoder()
    if not (CACHE / "feature-stats.npz").exists():
        write_stats(encoder)
    folder = CACHE / "shards"
    folder.mkdir(parents=True, exist_ok=True)
    start = time.time()
    for n, rows in enumerate(shard_jobs(kind)):
        target = folder / f"{kind}-{n:04d}.npz"
        if n < first or n % workers != worker or target.exists():
            continue
        if time.time() - start > minutes * 60:
            break
        t = time.time()
        kept = make_shard(kind, rows, encoder, target)
        print(f"{kind} {n} kept {kept}/{len(rows)} in {time.time() - t:.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]) if len(sys.argv) > 4 else 1e9, int(sys.argv[5]) if len(sys.argv) > 5 else 0)
