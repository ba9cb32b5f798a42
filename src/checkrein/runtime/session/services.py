"""What a tree of conversations shares: opened once by the session at its root, closed once with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.project import Project
from checkrein.runtime.call.toolset import ToolSet
from checkrein.runtime.process.confinement import Confinement
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.chooser import Choose
from checkrein.runtime.trust import Standing

if TYPE_CHECKING:
    from checkrein.runtime.session.telemetry import Telemetry


class Services(Struct, kw_only=True):
    """`project` is all of it, `trust` what of it counts. `env` is the environment that the caller gave,
    `child_env` the one that processes get. `results` is where output goes that is too large for a
    conversation, `env_file` where hooks write variables for every command. `skipped` is what of the project
    is not used, and why."""

    env: dict[str, str]
    child_env: dict[str, str]
    project: Project
    trust: Standing
    choose: Choose
    spawner: Spawner
    tools: ToolSet
    confinement: Confinement
    results: str
    env_file: str
    skipped: tuple[Diagnostic, ...] = ()
    telemetry: Telemetry | None = None

    def close(self) -> None:
        """End everything that was started. Safe to call twice."""
        self.spawner.close()
        if self.telemetry is not None:
            self.telemetry.close()
