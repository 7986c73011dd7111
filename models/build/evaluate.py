"""Measure the ear: spoken PubMedQA by the voice never trained on, and recorded people kept out of training.

Usage: python -m build.evaluate [--name NAME] [--weight W] [--conditions clean,10 dB]; results are added to <cache>/evaluations.jsonl.
The encoder's features of every condition are cached (the encoder never changes); the exported int8 head listens to them, and
ear.onnx itself must say the same on a few windows. Arms: A the direct head, B the best path's text through the text encoder,
A+B their sum (B + W A, normalised); "tuned" means the text encoder that learned the bridge's spelling, "trigram" the spelling of
beam.py in place of the best path's.
A hit is a section whose document is relevant; documents are ranked by their best section.
"""
from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import soundfile as sf

from . import beam, units
from .augment import mix, noises, telephone
from .config import CACHE, DATA, MAX_SAMPLES, SEED, WEIGHTS
from .make_speech import Encoder, people, read_person
from .mel import window_mel
from .normalise import plain
from .teacher import TextEncoder
from .tts import resample

DISTRACTORS = 10_000
DEPTHS = (1, 5, 10)
CONDITIONS = ("clean", "20 dB", "10 dB", "5 dB", "0 dB", "telephone")
CHECKED = 12


def rows_of(path: Path) -> list[dict]:
    """A JSON Lines file."""
    return [json.loads(line) for line in path.open()]


def unit(x: np.ndarray) -> np.ndarray:
    """Rows of length one."""
    return x / (np.linalg.norm(x, axis=-1, keepdims=True) + 1e-9)


def cached(name: str, texts: list[str]) -> np.ndarray:
    """Text vectors, made once."""
    path = CACHE / f"eval-{name}.npy"
    if path.exists() and len(np.load(path)) == len(texts):
        return np.load(path)
    found = TextEncoder()(texts)
    np.save(path, found)
    return found


def recall(vectors: np.ndarray, corpus: np.ndarray, docs: list[str], relevant: list[list[str]]) -> dict[str, float]:
    """Share of questions with a relevant document among the first k distinct ones, and the mean reciprocal rank within ten."""
    hits, reciprocal = {k: 0 for k in DEPTHS}, 0.0
    for z, wanted in zip(vectors, relevant):
        ranked = list(dict.fromkeys(docs[i] for i in np.argsort(-(corpus @ z))[:200]))
        for k in DEPTHS:
            hits[k] += bool(set(ranked[:k]) & set(wanted))
        reciprocal += next((1 / (i + 1) for i, d in enumerate(ranked[:10]) if d in wanted), 0.0)
    return {f"recall{k}": round(hits[k] / len(vectors), 4) for k in DEPTHS} | {"mrr10": round(reciprocal / len(vectors), 4)}


def spoken_questions() -> list[tuple[dict, np.ndarray]]:
    """(row, samples) of the spoken PubMedQA set."""
    folder, out = DATA / "spoken" / "pubmedqa", []
    for row in rows_of(folder / "questions.jsonl"):
        x, rate = sf.read(folder / row["audio"], dtype="float32")
        out.append((row, resample(x if x.ndim == 1 else x.mean(1), rate)))
    return out


def disturb(x: np.ndarray, condition: str, n: int) -> np.ndarray:
    """Question n in a condition; noises are those kept out of training."""
    if condition == "clean":
        return x
    if condition == "telephone":
        return telephone(x)
    pool = noises(True)
    y = mix(x, pool[sorted(pool)[n % len(pool)]], float(condition.split()[0]), np.random.default_rng([SEED, n]))
    return (y / max(1.0, np.abs(y).max())).astype("f4")


def samples_of(condition: str) -> list[np.ndarray]:
    """Windows of one condition; "people" are the recorded sentences."""
    if condition == "people":
        return [read_person(r)[:MAX_SAMPLES] for r in sentences()]
    return [disturb(x, condition, n)[:MAX_SAMPLES] for n, (_, x) in enumerate(spoken_questions())]


def features_of(condition: str) -> list[np.ndarray]:
    """Encoder features [frames, 512] of each window, made once."""
    path = CACHE / f"eval-features-{condition.replace(' ', '')}.npz"
    if not path.exists():
        encoder = Encoder()
        found = [encoder(x) for x in samples_of(condition)]
        np.savez(path, features=np.concatenate(found).astype("f2"), lengths=[len(f) for f in found])
    z = np.load(path)
    return np.split(z["features"].astype("f4"), np.cumsum(z["lengths"])[:-1])


class Listener:
    """The exported head on cached features."""

    def __init__(self) -> None:
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = ort.InferenceSession(str(CACHE / "head.onnx"), options)
        self.trigram = beam.Trigram()

    def __call__(self, condition: str) -> tuple[np.ndarray, dict[str, list[str]], list[np.ndarray]]:
        """Head A's vectors [n, 384], the texts of the best paths ("") and of the trigram's beams, and the units of every step."""
        vectors, texts, steps = [], {"": [], " trigram": []}, []
        for f in features_of(condition):
            v, u, candidates, scores = self.session.run(["vector", "units", "candidates", "scores"], {"features": f[None], "frames": np.array([len(f)], "i8")})
            vectors.append(v[0])
            steps.append(u[0])
            texts[" trigram"].append(units.decode(beam.search(candidates[0], scores[0], self.trigram)))
            texts[""].append(units.decode([int(a) for i, a in enumerate(u[0]) if a and (i == 0 or a != u[0][i - 1])]))
        return np.stack(vectors), texts, steps


def check(listener: Listener) -> None:
    """ear.onnx itself on a few windows; stops when it says something else than the head alone."""
    import onnxruntime as ort
    session = ort.InferenceSession(str(WEIGHTS / "ear.onnx"))
    vectors, _, steps = listener("clean")
    for n, x in enumerate(samples_of("clean")[:CHECKED]):
        mel, frames = window_mel(x)
        v, u = session.run(["vector", "units"], {"mel": mel[None], "frames": np.array([frames], "i8")})
        same = np.mean(u[0][:len(steps[n])] == steps[n])
        if v[0] @ vectors[n] < 0.995 or same < 0.97:
            raise SystemExit(f"ear.onnx and the head alone differ on window {n}: cosine {v[0] @ vectors[n]:.4f}, equal steps {same:.3f}")


def arms(a: np.ndarray, texts: dict[str, list[str]], weight: float, tuned: Path) -> dict[str, np.ndarray]:
    """Vectors by arm."""
    out = {"A": a}
    for spelling, found in texts.items():
        for reader, path in (("", None), (" tuned", tuned)):
            if path is None or path.exists():
                b = TextEncoder(path=path)(found) if path else TextEncoder()(found)
                out |= {f"B{reader}{spelling}": b, f"A+B{reader}{spelling}": unit(b + weight * a)}
    return out


def pubmedqa(listener: Listener, conditions: list[str], weight: float, tuned: Path) -> list[dict]:
    """One row for the written question and one for each condition and arm."""
    corpus = rows_of(DATA / "retrieval" / "pubmedqa" / "corpus.jsonl")
    passages, docs = cached("pubmedqa", [c["text"] for c in corpus]), [c["doc"] for c in corpus]
    questions = [q for q, _ in spoken_questions()]
    written, relevant = cached("questions", [q["text"] for q in questions]), [q["relevantDocs"] for q in questions]
    base = recall(written, passages, docs, relevant)
    out = [{"set": "pubmedqa", "condition": "written", "n": len(questions), **base}]
    print(json.dumps(out[0]))
    for condition in conditions:
        a, texts, _ = listener(condition)
        for arm, z in arms(a, texts, weight, tuned).items():
            found = recall(z, passages, docs, relevant)
            own = float(((z @ written.T).argmax(1) == np.arange(len(z))).mean())
            out.append({"set": "pubmedqa", "condition": condition, "arm": arm, "n": len(z), **found, "retention": round(found["recall10"] / base["recall10"], 4),
                        "cosine": round(float((z * written).sum(1).mean()), 4), "ownFirst": round(own, 4)})
            print(json.dumps(out[-1]), flush=True)
    return out


def sentences() -> list[dict]:
    """Recorded people kept out of training, four words and more."""
    return [r for r in people(True) if len(plain(r["text"]).split()) >= 4]


def recorded(listener: Listener, weight: float, tuned: Path) -> list[dict]:
    """Own transcript first among ten thousand texts."""
    rows = sentences()
    pool = [r["text"].lower() for r in people(True)] + [r["text"].lower() for r in people(False)]
    pool += [row["text"] for row in rows_of(DATA / "train" / "texts.jsonl")]
    texts = list({plain(t): t for t in reversed(pool)}.values())[::-1][:DISTRACTORS]
    table, keys = cached("people", texts), {plain(t): i for i, t in enumerate(texts)}
    own = np.array([keys[plain(r["text"])] for r in rows])
    is_an4 = np.array([r["source"] == "an4" for r in rows])
    a, heard, _ = listener("people")
    out = []
    for arm, z in arms(a, heard, weight, tuned).items():
        first = (z @ table.T).argmax(1) == own
        out.append({"set": "people", "condition": "as recorded", "arm": arm, "n": len(rows), "among": len(texts), "recall1": round(float(first.mean()), 4),
                    "an4": [int(first[is_an4].sum()), int(is_an4.sum())], "others": [int(first[~is_an4].sum()), int((~is_an4).sum())],
                    "cosine": round(float((z * table[own]).sum(1).mean()), 4)})
        print(json.dumps(out[-1]), flush=True)
    return out


def main() -> None:
    """Command line."""
    p = argparse.ArgumentParser()
    p.add_argument("--name", default="ear")
    p.add_argument("--weight", type=float, default=0.4)
    p.add_argument("--tuned", type=Path, default=WEIGHTS / "ear-text-encoder.onnx")
    p.add_argument("--conditions", default=",".join(CONDITIONS))
    args = p.parse_args()
    listener = Listener()
    check(listener)
    found = pubmedqa(listener, args.conditions.split(","), args.weight, args.tuned) + recorded(listener, args.weight, args.tuned)
    with (CACHE / "evaluations.jsonl").open("a") as out:
        for row in found:
            out.write(json.dumps({"name": args.name, **row}) + "\n")


if __name__ == "__main__":
    main()
