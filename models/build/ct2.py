"""Reader of the flat CTranslate2 model format (named arrays, version 6)."""
from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

_TYPES = {0: "f4", 1: "i1", 2: "i2", 3: "i4", 4: "f2"}


def load(path: Path) -> dict[str, np.ndarray]:
    """Name -> array, as stored (Whisper base: float16)."""
    raw = Path(path).read_bytes()
    at = 0

    def number(fmt: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from("<" + fmt, raw, at)
        at += struct.calcsize(fmt)
        return value

    def text() -> str:
        nonlocal at
        size = number("H")
        value = raw[at:at + size].rstrip(b"\0").decode()
        at += size
        return value

    number("I")  # format version
    text()       # model kind
    number("I")  # revision
    arrays: dict[str, np.ndarray] = {}
    for _ in range(number("I")):
        name = text()
        shape = [number("I") for _ in range(number("B"))]
        dtype = np.dtype(_TYPES[number("B")])
        size = number("I")
        arrays[name] = np.frombuffer(raw, dtype, size // dtype.itemsize, at).reshape(shape)
        at += size
    return arrays
