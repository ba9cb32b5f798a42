"""`!command`: the person's own command. It runs through the gate as every call does; whoever types it has
approved it, and rules that deny hold all the same. The model sees it with the next prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checkrein.base.ids import new_uuid
from checkrein.cli.screen.ink import Line
from checkrein.cli.screen.scroll_lines import last_lines, prompt
from checkrein.llm.port import Cancel, ToolUse, text_of

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.runtime.session.session import Session

_SHOWN = 400
_FOR_MODEL = 20_000


def run_own(cockpit: Cockpit, session: Session, command: str) -> None:
    theme, person = cockpit.theme, cockpit.person
    cockpit.say(prompt(f"! {command}", theme))
    cancel = Cancel()
    board = cockpit.board
    assert board is not None
    board.begin_own(cancel)
    person.own_command = command
    try:
        done = session.call(ToolUse(id=f"own_{new_uuid()}", name="Bash", input={"command": command}), cancel)
    finally:
        person.own_command = None
        board.end_own()
    said = _said(done.finished.content)
    lines: list[Line] = last_lines(said, theme, _SHOWN)
    cockpit.say(lines or [[(theme["quiet"], "    (no output)")]])
    assert cockpit.conductor is not None
    cockpit.conductor.notes.append(f"I ran this command myself:\n$ {command}\n{said[-_FOR_MODEL:]}")


def _said(content: Any) -> str:
    return content if isinstance(content, str) else text_of(content)
