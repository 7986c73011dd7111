"""Spelled words, digits, numbers, dates and one-word commands: what people say to machines besides questions."""
from __future__ import annotations

import random

from .carriers import terms
from .normalise import words

DIGITS = "oh zero one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
seventeenth eighteenth nineteenth twentieth thirtieth""".split()
MONTHS = "january february march april may june july august september october november december".split()
COMMANDS = "enter erase rubout repeat start stop go help yes no cancel undo next back".split()
ROADS = "street avenue road drive lane court boulevard".split()


def number(rng: random.Random) -> str:
    """A number as people say it."""
    two = lambda: rng.choice([rng.choice(TEENS), rng.choice(TENS), f"{rng.choice(TENS)} {rng.choice(DIGITS[2:])}"])
    return rng.choice([lambda: " ".join(rng.choice(DIGITS) for _ in range(rng.randint(1, 7))), lambda: f"{two()} {two()}", two,
                       lambda: f"{rng.choice(DIGITS[2:])} hundred and {two()}", lambda: f"{rng.choice(DIGITS[2:])} {two()}"])()


def letters(rng: random.Random, pool: list[str]) -> str:
    """Single letters: a spelled word or a random run."""
    if rng.random() < 0.6:
        return " ".join(rng.choice(pool))
    return " ".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(1, 6)))


def sentences(seed: int, count: int) -> list[str]:
    """Distinct texts; single letters stand alone."""
    rng = random.Random(seed)
    pool = sorted({w for t in terms() for w in words(t) if w.isalpha() and 3 <= len(w) <= 10})
    out: dict[str, None] = {}
    while len(out) < count:
        kind = rng.random()
        if kind < 0.35:
            text = letters(rng, pool)
        elif kind < 0.6:
            text = f"{letters(rng, pool)} {number(rng)}"
        elif kind < 0.85:
            text = number(rng)
        elif kind < 0.92:
            text = f"{rng.choice(MONTHS)} {rng.choice(ORDINALS)} nineteen {rng.choice(TENS)} {rng.choice(DIGITS[2:])}"
        else:
            text = f"{number(rng)} {letters(rng, pool)} {' '.join(rng.choice(ROADS))}"
        if rng.random() < 0.3:
            text = f"{rng.choice(COMMANDS)} {text}"
        if len(words(text)) <= 14:
            out[text] = None
    return list(out)


def spoken(text: str) -> str:
    """Spelling that makes every engine say the letter's name."""
    return " ".join({"a": "ay", "o": "oh"}.get(w, w.upper()) if len(w) == 1 else w for w in text.split())
