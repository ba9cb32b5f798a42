"""The last lines of a command while it runs. Secrets are hidden as in everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkrein.base.harmless import harmless

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit


class LiveOutput:
    def __init__(self, cockpit: Cockpit) -> None:
        self._cockpit = cockpit

    def lines(self, call_id: str, most: int) -> Sequence[str]:
        """The end of what a call has said so far; nothing for one that is not a command."""
        session = self._cockpit.session
        if session is None:
            return ()
        services = session.conversation.services
        for running in services.spawner.at_work():
            if call_id in (running.command.spill or ""):
                said = services.kept.vault.masked(running.last.decode("utf-8", "replace"))
                lines = [line for line in harmless(said.replace("\r", "\n")).split("\n") if line.strip()]
                return lines[-most:]
        return ()
