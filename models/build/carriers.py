"""Carrier questions: medical terms set into sentences of a research question's shape, all written for this build."""
from __future__ import annotations

import csv
import json
import random
import re

from .config import DATA

POPULATIONS = """adults|older adults|children|adolescents|infants|newborns|pregnant women|men|women|elderly patients|critically ill patients|
healthy volunteers|hospitalised patients|primary care patients|surgical patients|smokers|athletes|rats|mice|nurses|medical students|
family physicians|veterans|low income families|rural communities|emergency department patients|outpatients|survivors|caregivers|twins""".replace("\n", "").split("|")
OUTCOMES = """mortality|survival|quality of life|length of stay|recurrence|blood pressure|pain|prognosis|long term outcome|complications|
cognitive function|weight loss|readmission|treatment response|costs|adherence|bleeding|functional recovery|disease severity|sleep|
inflammation|oxygen saturation|fertility|birth weight|bone density|lung function|renal function|body mass index|exercise capacity|
diagnostic accuracy|sensitivity and specificity|patient satisfaction|graft survival|wound healing|incidence|prevalence""".replace("\n", "").split("|")
TEMPLATES = """Does {a} affect {o} in {p} with {b}?|Is {a} associated with {b} in {p}?|Can {a} predict {o} after {b}?|
Is {a} an independent risk factor for {b}?|{a} and {b}: is there a relationship?|Does {a} reduce the risk of {b}?|
Should {p} with {a} be screened for {b}?|Is {a} safe and effective for the treatment of {b}?|Do {p} with {a} have worse {o}?|
What is the role of {a} in {b}?|Does early {a} improve {o} in {b}?|Is there a link between {a} and {b} among {p}?|
{a} in the management of {b}: does it matter?|Can {a} be used to diagnose {b}?|Is {o} related to {a} in {p}?|
Are {p} with {a} at increased risk of {b}?|Does preoperative {a} influence {o} following {b}?|Is {a} useful for {p} undergoing {b}?|
How do {a} and {b} compare for {o}?|Does the presence of {a} worsen {b}?|Is routine {a} necessary in {p} with {b}?|
Which factors link {a} with {b}?|{a}: a new marker of {b}?|Is it possible to prevent {a} with {b}?|
Has the use of {a} changed {o} in {b}?|Does {a} differ between {p} with and without {b}?|Are levels of {a} elevated in {b}?|
Do {p} benefit from {a} for {b}?|{a} versus {b}: which is better for {o}?|Why does {a} cause {b}?|
The effect of {a} on {b} was studied in {p}.|We compared {a} with {b} in {p}.|{a} was significantly associated with {b}.|
Is {a} involved in the development of {b} and {c}?|Do {a}, {b} and {c} share a common cause?|Does {a} increase {o}?|
Is there evidence that {a} modifies {b}?|What causes {a} in {p}?|How is {a} treated when {b} is present?|
Tell me about {a} and {b}.|What are the symptoms of {a}?|Could {a} explain {b} after {c}?|Does {a} mediate the association of {b} with {c}?|
Are there sex differences in {a} among {p}?|Is {a} underused in {b}?|Does training in {a} improve {o}?|
Is {a} a valid measure of {b} in {p}?|Low dose {a} in {b}: does it help {p}?|Is one week of {a} enough for {b}?|
Is the combination of {a} and {b} better than {c}?|Do doctors recognise {a} in {p}?|Does delayed {a} increase {o} in {b}?""".replace("\n", "").split("|")


def uninvert(heading: str) -> str:
    """'Abortion, Spontaneous' -> 'Spontaneous Abortion'."""
    parts = heading.split(", ")
    return " ".join(parts[1:][::-1] + parts[:1]) if 2 <= len(parts) <= 3 else heading


def terms() -> list[str]:
    """MeSH headings and disease names that can be spoken, each once."""
    with (DATA / "terms" / "mesh-headings.tsv").open() as handle:
        found = [uninvert(row["name"]) for row in csv.DictReader(handle, delimiter="\t")]
    found += [json.loads(line)["name"] for line in (DATA / "terms" / "diseases.jsonl").open()]
    names = [line.strip() for line in (DATA / "terms" / "look-alike-drugs.txt").open()]
    found += [n.lower() for n in names if n and not n.startswith("#")]
    seen, out = set(), []
    for term in found:
        key = term.lower()
        if key not in seen and len(term.split()) <= 5 and not re.search(r"[\[\]()/;]|\d{3}|,.*,", term):
            seen.add(key)
            out.append(term)
    return out


def carriers(seed: int, passes: int = 1) -> list[str]:
    """Sentences in which every term occurs at least `passes` times."""
    rng = random.Random(seed)
    out = []
    for _ in range(passes):
        pool = terms()
        rng.shuffle(pool)
        while pool:
            template = rng.choice(TEMPLATES)
            fill = {k: pool.pop() if pool else "health" for k in "abc" if "{" + k + "}" in template}
            low = {k: v if re.match(r"^[A-Z0-9-]{2,}|.*[A-Z]{2}", v) else v[0].lower() + v[1:] for k, v in fill.items()}
            text = template.format(p=rng.choice(POPULATIONS), o=rng.choice(OUTCOMES), **low)
            if len(text.split()) <= 20:
                out.append(text[0].upper() + text[1:])
    return out
