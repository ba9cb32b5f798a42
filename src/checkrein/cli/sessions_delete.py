"""`checkrein sessions delete`: remove sessions and everything that belongs to them."""

from __future__ import annotations

import sys

from msgspec import Struct

from checkrein.cli import out
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.sessions_list import PROJECT


class Payload(Struct, frozen=True):
    deleted: tuple[str, ...]


COMMAND = Command(
    name="sessions delete",
    summary="Remove sessions: transcripts, outputs, checkpoints, and their rows in the search.",
    args=(
        Arg(
            name="sessions",
            multiple=True,
            required=True,
            complete="sessions",
            metavar="SESSION...",
            help="Ids, starts of ids, or titles.",
        ),
        PROJECT,
        Arg(name="yes", flags=("--yes", "-y"), type="bool", help="Delete without a question."),
    ),
    payload=Payload,
    errors=("session_not_found", "session_ambiguous", "concurrent_modification"),
    exits=((0, "deleted"), (1, "not deleted, or an error"), (2, "wrong usage")),
    examples=(("checkrein sessions delete 3f2a --yes", "without a question"),),
)


def run(sessions: tuple[str, ...], project: str, yes: bool) -> Outcome:
    from checkrein.runtime.store import SessionStore

    store = SessionStore()
    names = tuple(dict.fromkeys(store.find(one, project).stem for one in sessions))
    if not yes and not _confirmed(names):
        return Outcome(data=Payload(()), text=lambda: "Nothing is deleted. --yes deletes.", status=1)
    deleted = tuple(name for name in names if store.delete(name, project))
    return Outcome(data=Payload(deleted), text=lambda: "\n".join(f"Deleted {name}." for name in deleted))


def _confirmed(names: tuple[str, ...]) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return out.confirm(f"Delete {', '.join(name[:8] for name in names)} for good?")
