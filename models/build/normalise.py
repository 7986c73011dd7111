"""One normalisation of text for units, shingles and word counts."""
from __future__ import annotations

import re
import unicodedata


def plain(text: str) -> str:
    """Lower case, no accents, letters and digits only, single spaces; apostrophes vanish."""
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(c for c in text if not unicodedata.combining(c)).replace("'", "").replace("\u2019", "")
    return re.sub(r"[^a-z0-9]+", " ", text).strip()


def words(text: str) -> list[str]:
    """The words of plain(text)."""
    return plain(text).split()
