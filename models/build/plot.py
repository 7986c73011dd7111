"""The training curve as docs/images/ear-training.svg, from <cache>/curve.jsonl and the steps in bridge.log."""
from __future__ import annotations

import json
import re

from .config import CACHE, REPO

STEP = re.compile(r"^\d+:\d+/\d+ (\d+) s (\{.*\})$")


def main() -> None:
    """Draw losses by minute and development scores by pass."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    steps = [STEP.match(line) for line in (CACHE / "bridge.log").read_text().splitlines()]
    steps = [(int(m[1]) / 60, json.loads(m[2])) for m in steps if m]
    passes = [json.loads(line) for line in (CACHE / "curve.jsonl").open()]
    left, right = plt.subplots(1, 2, figsize=(10, 3.6))[1]
    for key, label in (("units", "units (CTC, a label)"), ("phones", "phonemes (CTC, a label)")):
        left.plot([t for t, _ in steps], [p[key] for _, p in steps], label=label)
    left.set(xlabel="minutes", ylabel="training loss", yscale="log")
    left.legend()
    minutes = [p["seconds"] / 60 for p in passes]
    for key, label in (("unitError", "unit error, best path"), ("Acos", "direct head: cosine"), ("Aown", "direct head: own text of 500")):
        right.plot(minutes, [p[key] for p in passes], marker="o", label=label)
    right.set(xlabel="minutes (one mark a pass)", ylabel="development voice", ylim=(0, 1))
    right.legend()
    plt.tight_layout()
    target = REPO / "docs" / "images" / "ear-training.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    plt.savefig(target, metadata={"Date": None})
    print(target, target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
