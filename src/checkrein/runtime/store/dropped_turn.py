"""What a resume at an earlier entry would lose: nothing but the turn that the caller names."""

from __future__ import annotations

from pathlib import Path

from checkrein.base.errors import SessionError
from checkrein.runtime.store import content, tree
from checkrein.runtime.store.layout import open_for_reading
from checkrein.runtime.store.load import body
from checkrein.runtime.store.scan import Scan
from checkrein.runtime.store.values import Entry

_OF_THE_TURN = frozenset(
    {"", "hook", "tools", "server", "instruction", "skills", "agents", "directory", "tasks"}
)
"""Sources of notes that a turn brings with it. All others came from outside: a task that ended, a message."""


def require_only(path: Path, at: str, turn: str) -> None:
    """Raise unless every entry after `at` belongs to the turn of the prompt `turn`."""
    with open_for_reading(path) as file:
        scan = Scan(path).read(file)
        kept = {node.uuid for node in tree.chain(scan, at)} | {at}
        lost = [node for node in tree.chain(scan) if node.uuid not in kept]
        begun = False
        for node in lost:
            entry = body(file, node)
            begun = begun or node.uuid == turn
            if node.uuid != turn and (foreign := _foreign(entry, begun=begun)) is not None:
                raise _rejected(f"it would also drop {foreign} ({node.uuid}).")
    if not begun:
        raise _rejected(f"the prompt {turn} is not among the {len(lost)} entries after {at}.")


def _foreign(entry: Entry, *, begun: bool) -> str | None:
    """What an entry is that does not belong to the turn. Before its prompt the turn has only notes."""
    if content.prompt_of(entry, content.blocks(entry)) is not None:
        return "another prompt"
    if entry.get("type") == "user" and entry.get("isMeta"):
        source = str(content.own(entry).get("source", ""))
        return None if source.partition(":")[0] in _OF_THE_TURN else f"news from outside, {source}"
    return None if begun else "the end of the turn before"


def _rejected(why: str) -> SessionError:
    return SessionError(
        f"Resume rejected by --resume-drops-turn: {why}",
        kind="resume_rejected",
        hint="Resume without --resume-session-at, or name the last entry of the turn before.",
    )
