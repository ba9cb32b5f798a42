"""What the keys do: prompts go to the session, everything else to its control or to a command of ours."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.cli.screen.paste import Clippings

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit

_TWICE = 1.5
"""Seconds within which the second of two keys counts as such."""


class Helm:
    """Implements `keys.Hands`, for the thread of the event loop."""

    def __init__(self, cockpit: Cockpit) -> None:
        self._cockpit = cockpit
        self._clippings = Clippings()
        self._last_escape = 0.0
        self._last_leave = 0.0

    @property
    def busy(self) -> bool:
        board = self._cockpit.board
        return board is not None and board.busy

    def submit(self) -> None:
        face = self._cockpit.face
        text = face.buffer.text
        if not text.strip():
            return
        face.buffer.append_to_history()
        face.sent()
        self._cockpit.take(text, self._clippings.expanded(text))
        self._clippings.forget()

    def interrupt(self) -> None:
        """Ctrl-C: end the turn, else forget the prompt, else leave."""
        face = self._cockpit.face
        if self.busy:
            self._stop()
        elif face.buffer.text:
            face.buffer.reset()
        else:
            self.leave(at_once=False)

    def escape(self) -> None:
        """Esc: end the turn; twice, go back to an earlier prompt, or forget this one."""
        face = self._cockpit.face
        now = time.monotonic()
        twice, self._last_escape = now - self._last_escape < _TWICE, now
        if self.busy:
            self._stop()
        elif face.buffer.text:
            if twice:
                face.buffer.reset()
            else:
                self._cockpit.hint("Esc again clears the prompt")
        elif twice:
            self._last_escape = 0.0
            self._cockpit.command("rewind", "")
        else:
            self._cockpit.hint("Esc again rewinds")

    def _stop(self) -> None:
        """End the turn. Messages that still wait come back to the prompt."""
        conductor = self._cockpit.conductor
        back = conductor.interrupt() if conductor is not None else []
        if back:
            face = self._cockpit.face
            face.put("\n".join((*back, face.buffer.text)).rstrip("\n"))

    def leave(self, *, at_once: bool) -> None:
        now = time.monotonic()
        if self.busy and not at_once and now - self._last_leave > _TWICE:
            self._stop()
        elif at_once or now - self._last_leave < _TWICE:
            self._cockpit.exit(0)
            return
        self._last_leave = now
        self._cockpit.hint("once more leaves")

    def paste(self, text: str) -> None:
        self._cockpit.face.buffer.insert_text(self._clippings.shown(text))

    def act(self, action: str) -> None:
        face, conductor = self._cockpit.face, self._cockpit.conductor
        acts: dict[str, Callable[[], object]] = {
            "newline": lambda: face.buffer.insert_text("\n"),
            "redraw": self._clear,
            "suspend": face.app.suspend_to_background,
            "editor": lambda: self._cockpit.later("editor"),
            "transcript": lambda: self._cockpit.later("transcript"),
            "search": lambda: self._cockpit.command("history", ""),
            "tasks": lambda: self._cockpit.command("tasks", ""),
            "image": lambda: self._cockpit.command("paste-image", ""),
        }
        if conductor is not None:
            acts |= {"mode": conductor.next_mode, "background": conductor.send_to_background}
        if action in acts:
            acts[action]()

    def _clear(self) -> None:
        self._cockpit.face.app.renderer.clear()
