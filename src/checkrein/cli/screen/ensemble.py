"""Puts the parts of the screen together, once the prompt takes keys: board, painter, person, session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from checkrein.cli import plain_words
from checkrein.cli.screen import slash, whole_terminal
from checkrein.cli.screen.board import Board
from checkrein.cli.screen.completer import PromptCompleter
from checkrein.cli.screen.conductor import Conductor, Spoken
from checkrein.cli.screen.live_output import LiveOutput
from checkrein.cli.screen.painter import Painter
from checkrein.cli.screen.person import Person
from checkrein.cli.screen.preferences import preferred
from checkrein.cli.screen.status_rows import StatusRows
from checkrein.cli.screen.watcher import Watcher

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings

    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.cli.screen.helm import Helm
    from checkrein.runtime.session.events import Event


def assemble(cockpit: Cockpit, keys: KeyBindings, helm: Helm, values: dict[str, Any] | None) -> None:
    values = values if values is not None else run_values()
    face = cockpit.face
    cockpit.watcher = Watcher.start(cockpit.before)
    board = cockpit.board = Board()
    painter = cockpit.painter = Painter(cockpit.theme, board, lambda: face.columns, face.commit)
    rows = cockpit.rows = StatusRows(board, cockpit.theme, LiveOutput(cockpit).lines)
    problems = preferred(cockpit, keys, helm)
    face.activity, face.status = rows.activity, rows.status
    person = cockpit.person = Person(cockpit)

    def show(event: Event) -> None:
        painter.show(event)

    cockpit.carry_out = slash.carry_out
    cockpit.whole_terminal = {
        "editor": whole_terminal.editor,
        "transcript": whole_terminal.transcript,
    }
    conductor = Conductor(cockpit, person, show, values)
    from prompt_toolkit.completion import ThreadedCompleter

    face.buffer.completer = ThreadedCompleter(PromptCompleter(cockpit))
    face.remember()
    painter.start()
    cockpit.terminal.name(f"checkrein · {os.path.basename(os.getcwd())}")
    for problem in problems:
        cockpit.tell(problem, "warn")
    if values.get("prompt"):
        conductor.put(Spoken(values["prompt"], values["prompt"]))
    cockpit.attach(conductor)
    conductor.start()


def run_values() -> dict[str, Any]:
    """The values of a run without a word."""
    parsed = plain_words.read(["run"])
    assert parsed is not None
    return parsed[1]
