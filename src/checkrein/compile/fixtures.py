"""The sample inputs of a package, with the expected outcome of a run on each."""

from __future__ import annotations

import re

from msgspec import Struct

from checkrein.compile.blueprint import Blueprint

SAMPLED = ("typical", "minimal", "several_lines")
"""Fixtures whose text a model may draft, in this order."""
_SAMPLE = "A request that a model drafted."
_QUOTED = re.compile(r"(?<![\w])[\"“]([A-Za-z][^\"“”\n]* [^\"“”\n]{2,60})[\"”](?!\w)")


class Fixture(Struct, frozen=True):
    id: str
    about: str
    inputs: dict[str, str]
    requests: int
    error: str | None = None


def make_fixtures(b: Blueprint) -> tuple[Fixture, ...]:
    key = "message" if b.shape == "conversational_session" else "request"
    texts = (
        ("typical", "A request in the spec's own words.", _typical(b)),
        ("minimal", "A single word.", "help"),
        (
            "several_lines",
            "A request of several lines, with a list.",
            "Look at this:\n- one\n- two\n\nThen go on.",
        ),
        (
            "signs",
            "Quotes, backslashes, braces and other scripts.",
            "\"q\" 'q' \\n {{ x }} {% y %} $HOME é 漢字 🙂",
        ),
        ("out_of_scope", "Something the spec is not about.", "What is the weather on Mars?"),
    )
    drafted = dict(zip(SAMPLED, b.samples))
    made = [
        Fixture(name, _SAMPLE if name in drafted else text, {key: drafted.get(name, value)}, 1)
        for name, text, value in texts
    ]
    made.append(Fixture("empty", "Nothing but blanks is refused.", {key: "   "}, 0, "ValueError"))
    return tuple(sorted(made, key=lambda one: one.id))


def _typical(b: Blueprint) -> str:
    """A request in quotes from the description, else its first sentence."""
    about = " ".join(b.description.split())
    quoted = _QUOTED.search(about)
    if quoted is not None:
        return quoted[1]
    first = re.split(r"(?<=[a-z)])[.;] ", about, maxsplit=1)[0].rstrip(".")
    words = first[:160].rsplit(" ", 1)[0] if len(first) > 160 else first
    return f"Please do this: {words or b.name}"
