"""What could stand at the cursor: commands after `/`, and files, agents and resources after `@`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from checkrein.base.harmless import one_line

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.runtime.session.session import Session

_MOST_FILES = 20_000
_MOST_SHOWN = 50
_OLD = 5.0
"""Seconds after which the list of files is made again."""
_NEVER = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})


class PromptCompleter(Completer):
    """Runs in a thread of its own, so that no project is too large to type in."""

    def __init__(self, cockpit: Cockpit) -> None:
        self._cockpit = cockpit
        self._files: list[str] = []
        self._listed = 0.0

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if self._cockpit.face.asked is not None:
            return
        if before.startswith("/") and " " not in before:
            yield from self._commands(before)
            return
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            yield from self._mentions(word)

    def _commands(self, typed: str) -> Iterator[Completion]:
        rows = command_rows(self._cockpit.session)
        names = [name for name in rows if fits(typed[1:], name)]
        names.sort(key=lambda name: (not name.startswith(typed[1:]), len(name) if typed[1:] else 0, name))
        for name in names[:_MOST_SHOWN]:
            summary, hint = rows[name]
            shown = f"/{one_line(name)} {one_line(hint)}".rstrip()
            yield Completion(f"/{name} ", -len(typed), display=shown, display_meta=one_line(summary))

    def _mentions(self, word: str) -> Iterator[Completion]:
        typed = word[1:]
        found = [*self._named(), *((path, "") for path in self._paths())]
        scored = sorted(
            (score, at, path, meta)
            for at, (path, meta) in enumerate(found)
            if (score := closeness(typed, path)) is not None
        )
        for _, _, path, meta in scored[:_MOST_SHOWN]:
            written = f'@"{path}"' if " " in path else f"@{path}"
            yield Completion(written, -len(word), display=one_line(path), display_meta=one_line(meta))

    def _named(self) -> Iterator[tuple[str, str]]:
        session = self._cockpit.session
        if session is None:
            return
        for name, kind in session.conversation.offer.agents.items():
            yield f"agent-{name}", f"agent: {(kind.description or '').partition(chr(10))[0]}"
        yield from _resources(session)

    def _paths(self) -> list[str]:
        if time.monotonic() - self._listed > _OLD:
            self._files = list(project_files(os.getcwd()))
            self._listed = time.monotonic()
        return self._files


def command_rows(session: Session | None) -> dict[str, tuple[str, str]]:
    """Every command by its name: what it does, and what may follow it."""
    from checkrein.cli.screen.slash import COMMANDS
    from checkrein.runtime.turn.builtin_commands import COMMANDS as BUILT_IN

    rows = {name: (one.summary, one.hint) for name, one in COMMANDS.items() if not one.hidden}
    rows |= {name: (one.summary, one.hint) for name, one in BUILT_IN.items() if name not in rows}
    if session is None:
        return rows
    for item in session.conversation.skills.invoker.shelf.items():
        if item.user_invocable:
            said = (item.description or "").partition("\n")[0]
            rows.setdefault(item.name, (said, item.argument_hint or ""))
    return rows


def _resources(session: Session) -> Iterator[tuple[str, str]]:
    servers = session.conversation.services.servers
    if servers is None:
        return
    for connection in servers.connections():
        for resource in connection.catalog.resources:
            yield f"{connection.name}:{resource.uri}", "resource"


def project_files(top: str) -> Iterator[str]:
    """The files that git does not ignore, from `top`; folders end with a slash. A few thousand are enough."""
    from checkrein.passes.survey.gitignores import GitIgnores

    ignores = GitIgnores(top)
    count = 0
    for directory, folders, files in os.walk(top):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _NEVER and not ignores.ignores(os.path.join(directory, name), folder=True)
        )
        below = os.path.relpath(directory, top)
        for name, is_folder in (*((one, True) for one in folders), *((one, False) for one in sorted(files))):
            path = name if below == "." else os.path.join(below, name)
            if is_folder or not ignores.ignores(os.path.join(directory, name), folder=False):
                yield f"{path}/" if is_folder else path
                count += 1
        if count > _MOST_FILES:
            return


def fits(typed: str, name: str) -> bool:
    """Whether the letters of one text come in the other, in order."""
    letters = iter(name.casefold())
    return all(letter in letters for letter in typed.casefold())


def closeness(typed: str, path: str) -> int | None:
    """How far a path is from what was typed, None when it does not fit."""
    if not typed:
        return path.count("/")
    low, wanted = path.casefold(), typed.casefold()
    name = low.rstrip("/").rpartition("/")[2]
    if low.startswith(wanted):
        return 0
    if name.startswith(wanted):
        return 1
    if wanted in name:
        return 2
    if wanted in low:
        return 3
    return 10 + len(path) if fits(typed, path) else None
