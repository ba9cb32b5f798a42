"""What each step is told beside its own text: sections of the spec, each by one name.

Text beside the steps of a list goes with the step before it. A section goes to the steps whose title shares a
word with its heading. Everything else goes to the step that writes the answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from msgspec import Struct

from checkrein.compile.coverage import lines_of
from checkrein.compile.program.outline import Outline
from checkrein.compile.values import Element

GENERAL = "General"
_WORD = re.compile(r"[a-z][a-z0-9]{3,}")
_COMMON = frozenset(
    [
        "step",
        "steps",
        "phase",
        "with",
        "from",
        "that",
        "this",
        "these",
        "then",
        "into",
        "when",
        "your",
        "what",
        "which",
        "each",
        "every",
        "using",
        "used",
        "make",
        "will",
        "must",
        "should",
        "have",
        "only",
        "more",
        "than",
        "also",
        "rules",
        "rule",
        "guidelines",
        "best",
        "practices",
        "notes",
        "overview",
        "example",
        "examples",
        "output",
        "format",
        "template",
        "workflow",
        "process",
        "section",
        "details",
        "reference",
        "references",
        "common",
        "important",
        "code",
        "file",
        "files",
        "project",
    ]
)
_MOST_STEPS = 2
_MANY = 40
"""Steps below one heading; what stands between later ones goes to the last."""
_LEAD = 600
"""Characters of text above a list of steps that all of them get."""


class Place(Struct, frozen=True):
    """A step: its function, title and lines. One that asks a person is `told` nothing."""

    function: str
    title: str
    lines: range
    told: bool = True


class Told(Struct, frozen=True):
    """`sections` maps an element to the name of its section, `given` a function to those that it gets."""

    sections: dict[str, str]
    given: dict[str, tuple[str, ...]]


def words_of(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _COMMON)


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 3:
            return word[: -len(ending)]
    return word


def assign(
    elements: Iterable[Element], steps: Sequence[Place], outline: Outline, spec_file: str, answer: str
) -> Told:
    """The sections of all told elements, and who gets them."""
    sections: dict[str, str] = {}
    given: dict[str, list[str]] = {one.function: [] for one in steps}
    given.setdefault(answer, [])
    known: dict[str, tuple[str, ...]] = {}
    able = [step for step in steps if step.told]
    taken = {line for step in steps for line in step.lines}
    under: dict[int, list[Place]] = {}
    for step in able:
        heading = outline.above(step.lines.start)
        under.setdefault(heading.line if heading is not None else 0, []).append(step)
    for element in elements:
        own = element.source_file == spec_file
        lines = lines_of(element.source_lines) if own else range(0)
        line = min(lines, default=0)
        if line in taken:
            continue
        heading = outline.above(line) if line else None
        beside = under.get(heading.line, []) if heading is not None else []
        name = element.heading or (heading.title if heading is not None and heading.path else "") or GENERAL
        if not own:
            name = f"{element.source_file}: {name}"
        if beside:
            at = bisect_left([step.lines.start for step in beside[:_MANY]], line)
            owner = beside[at - 1] if 0 < at < _MANY else beside[-1] if at else beside[0]
            name = f"{name}: {owner.title}"[:120] if at else name
            short = not at and len(element.content_full) <= _LEAD and len(beside) < _MANY
            owners: tuple[str, ...] = tuple(s.function for s in beside) if short else (owner.function,)
        else:
            owners = known.get(name) or _owners(name, able, answer)
            known[name] = owners
        sections[element.element_id] = name
        for function in owners:
            if name not in given[function]:
                given[function].append(name)
    return Told(sections, {function: tuple(names) for function, names in given.items()})


def _owners(name: str, steps: Sequence[Place], answer: str) -> tuple[str, ...]:
    wanted = words_of(name)
    scored = [(len(wanted & words_of(step.title)), at) for at, step in enumerate(steps)]
    best = max((score for score, _ in scored), default=0)
    if best == 0 or len(steps) < 2:
        return (answer,)
    matching = [steps[at].function for score, at in scored if score == best]
    return tuple(matching) if len(matching) <= _MOST_STEPS else (answer,)
