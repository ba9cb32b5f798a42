"""What a tree of conversations shares. The session at its root opens and closes it, once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.project import Project
from checkrein.runtime.call.toolset import ToolSet
from checkrein.runtime.process.command import GRACE
from checkrein.runtime.process.confinement import Confinement
from checkrein.runtime.process.layers import Layers
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.secrets.keeper import Kept
from checkrein.runtime.session.chooser import Chooser
from checkrein.runtime.trust import Standing

if TYPE_CHECKING:
    from checkrein.passes.resolve.servers import Refusals
    from checkrein.runtime.agents.crew import Crew
    from checkrein.runtime.mcp.session_servers import SessionServers
    from checkrein.runtime.process.binder import Binder
    from checkrein.runtime.session.telemetry import Telemetry
    from checkrein.runtime.tools.port import Moves


class Services(Struct, kw_only=True):
    """`project` is the whole project, `trust` the part that counts. `env` is the caller's environment,
    `child_env` the one for processes. `layers` enforce rules while calls run; `binder` puts commands
    under them, and the first command makes it. `results` is the directory for output that is too large for a
    conversation, `env_file` the file where hooks write variables for every command. `servers` are the MCP
    servers, if there are any. `moves` is set once the session was in a worktree. `kept` are the secrets of
    the session. `skipped` lists the parts of the project that the session does not use, and why."""

    env: dict[str, str]
    child_env: dict[str, str]
    project: Project
    trust: Standing
    choose: Chooser
    spawner: Spawner
    tools: ToolSet
    confinement: Confinement
    layers: Layers
    make_binder: Callable[[], Binder]
    results: str
    env_file: str
    kept: Kept
    skipped: tuple[Diagnostic, ...] = ()
    telemetry: Telemetry | None = None
    servers: SessionServers | None = None
    moves: Moves | None = None
    hurry: Callable[[], None] | None = None
    _binder: Binder | None = None
    _crew: Crew | None = None
    _making: threading.Lock = field(default_factory=threading.Lock)

    def binder(self) -> Binder:
        with self._making:
            if self._binder is None:
                self._binder = self.make_binder()
            return self._binder

    @property
    def crew(self) -> Crew:
        """The subagents of the session."""
        with self._making:
            if self._crew is None:
                from checkrein.runtime.agents.crew import Crew

                self._crew = Crew(self.env)
            return self._crew

    def with_servers(self, tools: ToolSet, servers: SessionServers) -> Services:
        """The same for a child with servers of its own, and for those below it. The child ends its servers;
        everything else ends with the session's own services."""
        return replace(
            self,
            tools=tools,
            servers=servers,
            make_binder=self.binder,
            _binder=None,
            _crew=self.crew,
            _making=threading.Lock(),
        )

    def server_states(self) -> tuple[tuple[str, str], ...]:
        statuses = self.servers.statuses() if self.servers is not None else ()
        return tuple((one.name, one.state) for one in statuses)

    def server_refusals(self) -> Refusals:
        """What the settings say against servers that somebody adds."""
        from checkrein.passes.resolve.server_lists import Surroundings
        from checkrein.passes.resolve.servers import Refusals

        project = self.project
        return Refusals(
            project.settings,
            Surroundings(env=self.env, root=project.place.root),
            switched_off=project.sources.switched_off,
            managed_only=project.place.managed_servers,
        )

    def prepare(self, tools: Sequence[str]) -> None:
        """The model answers soon: get ready what its first command needs."""
        if self.servers is not None:
            self.servers.begin_soon()
        if self.hurry is None and "Bash" in tools and "exec" in self.layers.held:
            self.hurry = self.spawner.prepare_guard(_import_for_commands)

    def expect(self, tools: Iterable[str]) -> None:
        """The model has called these tools: what they need can't wait until they are judged."""
        if self.hurry is not None and "Bash" in tools:
            self.hurry()

    def close(self, grace: float = GRACE) -> None:
        """End everything that the session started; its processes have `grace` seconds to end by themselves.
        Safe to call twice."""
        if self.moves is not None:
            from checkrein.llm.cancel import Cancel

            self.moves.close(Cancel())
            self.moves = None
        if self.servers is not None:
            self.servers.close(grace)
        self.spawner.close(grace)
        if self._binder is not None:
            self._binder.close()
        if self.telemetry is not None:
            self.telemetry.close()
        self.choose.close()


def _import_for_commands() -> None:
    """What the first command needs, while the reply is awaited: nothing of it is needed for a request."""
    from importlib import import_module

    for name in ("policy.judge_shell", "runtime.tools.bash", "runtime.process.binder", "runtime.call.starts"):
        import_module(f"checkrein.{name}")
    from checkrein.policy.shell.grammar import parser

    parser()
