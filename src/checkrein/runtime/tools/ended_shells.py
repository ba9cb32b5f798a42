"""The ends of commands in the background, for the conversation that started them, and the lines of those
that it watches."""

from __future__ import annotations

from collections.abc import Sequence

from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.tools.desk import ToolState


class EndedShells:
    """A source of wakes. A run with a single prompt does not wait for commands."""

    awaited = False

    def __init__(self, desk: ToolState) -> None:
        self._desk = desk

    def due(self) -> Sequence[Wake]:
        if not self._desk.shells:
            return ()
        from checkrein.runtime.tools.shells import end_of

        lines = self._desk.monitors.due() if self._desk.monitors is not None else ()
        ends = (end_of(shell) for shell in self._desk.finished_shells())
        return [
            *lines,
            *(
                Wake(text=f"{end.summary} Its output is in {end.path}", source="background", event=end)
                for end in ends
            ),
        ]
