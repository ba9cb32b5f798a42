"""`checkrein compile --dependencies=ask`: the questions, on the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from checkrein.base.errors import UsageError

if TYPE_CHECKING:
    from checkrein.compile.plan import Ask, Question
    from checkrein.facts.compile import Disposition


def asker() -> Ask:
    """Prints a question on stderr and reads the answer. Raises UsageError without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "--dependencies=ask needs a terminal.",
            kind="terminal_missing",
            hint="Write --dependencies=auto for the defaults, or config:PATH with saved decisions "
            "(intermediate/dependency_plan.json of an earlier compile).",
        )
    return _ask


def _ask(question: Question) -> Disposition:
    import click

    from checkrein.cli import out

    entry = question.entry
    out.say(f"\n{entry.target}: {entry.description}", err=True)
    out.say(f"  from {', '.join(question.sources[:5])}", err=True)
    answer: Disposition = out.prompt(
        "  what to do", type=click.Choice(question.choices), default=entry.disposition
    )
    return answer
