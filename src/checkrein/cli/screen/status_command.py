"""The project's or the person's own status line: a command that gets the session as JSON and says a line."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError
from checkrein.base.harmless import harmless
from checkrein.base.origin import Origin

if TYPE_CHECKING:
    from checkrein.cli.screen.board import Board
    from checkrein.runtime.session.session import Session

_SECONDS = 3.0
_LINES = 3
_PAUSE = 0.3
_COLORS = re.compile(r"\x1b\[[0-9;:]*m")


class StatusCommand:
    """Runs the command of `statusLine` when something has changed, never twice at a time. Needs trust, as
    every command that a project names."""

    def __init__(self, session: Session, board: Board, show: Callable[[list[str]], None]) -> None:
        self._session = session
        self._board = board
        self._show = show
        self._wanted = threading.Event()
        self._closed = False
        found = session.conversation.view.project.settings.get("statusLine")
        value = found.value if found is not None else None
        self._command = str(value.get("command") or "") if isinstance(value, dict) else ""
        winner = next((one.item for one in found.candidates if one.lost is None), None) if found else None
        self._origin: Origin | None = winner.origin if winner is not None else None
        if self._command and self._origin is not None:
            threading.Thread(target=self._run, name="checkrein-status", daemon=True).start()

    def poke(self) -> None:
        """Something has changed."""
        self._wanted.set()

    def close(self) -> None:
        self._closed = True
        self._wanted.set()

    def _run(self) -> None:
        self.poke()
        while not self._closed:
            self._wanted.wait()
            self._wanted.clear()
            if self._closed:
                return
            lines = self._said()
            if lines is None:
                return
            self._show(lines)
            threading.Event().wait(_PAUSE)

    def _said(self) -> list[str] | None:
        """What the command says; None when it can't run here."""
        from checkrein.llm.port import Cancel
        from checkrein.runtime.process.command import Command
        from checkrein.runtime.process.environment import hook_env

        conversation = self._session.conversation
        assert self._origin is not None
        command = Command(
            argv=self._command,
            cwd=conversation.view.project.place.cwd,
            origin=self._origin,
            purpose="the status line",
            env=hook_env(conversation.env),
            stdin=json.dumps(self._payload()).encode(),
            timeout=_SECONDS,
        )
        try:
            done = conversation.services.spawner.run(command, Cancel())
        except CheckreinError:
            return None
        text = _COLORS.sub("", done.stdout.decode("utf-8", "replace"))
        masked = conversation.services.kept.vault.masked(text)
        return [harmless(line) for line in masked.split("\n") if line.strip()][:_LINES]

    def _payload(self) -> dict[str, Any]:
        conversation, board = self._session.conversation, self._board
        place = conversation.view.project.place
        used = board.tokens * 100 // board.window if board.window else 0
        return {
            "hook_event_name": "Status",
            "session_id": self._session.id,
            "transcript_path": str(conversation.recorder.writer.path),
            "cwd": place.cwd,
            "model": {"id": conversation.state.model, "display_name": conversation.state.model},
            "workspace": {"current_dir": place.cwd, "project_dir": place.root},
            "permission_mode": board.mode,
            "cost": {"total_cost_usd": board.cost},
            "context_window": {"context_window_size": board.window, "used_percentage": used},
        }
