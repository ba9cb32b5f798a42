"""Notes that tell a reader where to go, what to repeat or what to skip."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import Placed, placed
from checkrein.passes.recipes.routes import routes

_SIGNS = (
    (
        r"\b(?:for each|for every|iterat(?:e|es|ion)\b|repeat(?:ed)?|one (?:at a time|by one)"
        r"|until (?:all|every)|loop (?:over|through|back|until))\b",
        "a loop",
    ),
    (r"\b(?:in parallel|concurrently|simultaneously|at the same time)\b", "parallel work"),
    (
        r"\bskip(?:ped)? (?:this|the|it)\b|\bskip(?:ped)? (?:if|when|unless)\b"
        r"|\bonly (?:execute|run)[sd]? (?:if|when)\b",
        "a condition to skip",
    ),
    (r"\b(?:retry|try again)\b|\bat most \w+ (?:times|attempts)\b", "retries"),
)
_VERBS = (
    r"\b(?:go|route|proceed|jump|return|continue|skip|advance)\s+(?:directly\s+|straight\s+|back\s+)?"
    r"(?:to|with|at)\s+(?:the\s+)?(?:step\s+)?[`'\"]?"
)
_FORMS = {
    "a loop": "`foreach`",
    "parallel work": "`parallel`",
    "a condition to skip": "`skip_when_false`",
    "retries": "`retries`",
    "a route": "`on_result`",
}
_PLAIN = "    note: The tests take two minutes.\n"


def run(subject: Subject) -> Iterator[Finding]:
    for part in placed(subject):
        sign = _sign(part)
        if sign is not None:
            what, words = sign
            origin = subject.find(part.step.where("note"), words.split("\n")[0])
            message = f"The note of `{part.step.name}` describes {what} (`{' '.join(words.split())}`)"
            hint = f"Write it as {_FORMS[what]}: the engine never reads a note."
            yield Finding(origin=origin, message=message, hint=hint)


def _sign(part: Placed) -> tuple[str, str] | None:
    note = part.step.note or ""
    for pattern, what in _SIGNS:
        found = re.search(pattern, note, re.IGNORECASE)
        if found is not None:
            return what, found[0]
    told = {route.target for route in routes(part.beside, part.step)}
    others = (one.name for one in part.beside if one is not part.step and one.name not in told)
    names = "|".join(map(re.escape, others))
    found = re.search(rf"{_VERBS}(?:{names})\b", note, re.IGNORECASE) if names and note else None
    return None if found is None else ("a route", found[0])


CHECK = Check(
    code="RCP019",
    name="control-flow-in-note",
    severity="warning",
    summary="A `note` describes control flow.",
    why="The engine runs fields, not prose: a loop, a route or a condition in a note never happens.",
    hint="Write it as a field: `foreach`, `parallel`, `on_result`, `skip_when_false` or `retries`.",
    bad={RECIPE: recipe(TEST + "    note: Repeat this for each part of the plan.\n")},
    good={RECIPE: recipe(TEST + _PLAIN)},
    run=run,
)
