"""Servers without a session: the command line connects, looks, and leaves. What they start is bound by the
rules as in a session."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from checkrein.base.home import checkrein_home
from checkrein.llm.cancel import Cancel
from checkrein.model.project import Project
from checkrein.model.view import View
from checkrein.policy.situation import Terms, situation
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.mcp.connection import Connection, Status
from checkrein.runtime.mcp.entry import Place, resolve
from checkrein.runtime.mcp.needs import Needs
from checkrein.runtime.mcp.oauth.authenticator import Authenticator
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.process.binder import Binder
from checkrein.runtime.process.environment import child_env, settings_env
from checkrein.runtime.process.layers import layers_here
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.joined_servers import server_place
from checkrein.runtime.trust import Standing, standing

_GRACE = 2.0


class Ground:
    """What servers need when there is no session: processes under the rules, and the place of entries."""

    def __init__(self, view: View, env: Mapping[str, str]) -> None:
        project = view.project
        trust = standing(project)
        layers = layers_here(env)
        terms = Terms(layers=layers.held, unguarded=layers.unguarded)
        gate = Gate(situation(project, trust, terms), Control())
        roots = (project.place.cwd, *project.place.add_dirs)
        self._spawner = Spawner(trust.trusts, compiled=layers.compiled)
        self._binder = Binder(roots, env)
        commands = BoundCommands(self._spawner, lambda: self._binder, gate)
        self.needs = Needs(
            open=commands.open,
            runs=commands.run,
            auth=Authenticator(checkrein_home(env), env),
            roots=lambda: roots,
        )
        self.place = place_of(project, env, trust)

    def __enter__(self) -> Ground:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close(_GRACE)

    def close(self, grace: float) -> None:
        self._spawner.close(grace)
        self._binder.close()


def place_of(project: Project, env: Mapping[str, str], trust: Standing | None = None) -> Place:
    """The place of a project's entries, with the variables that a session would know."""
    own, theirs = settings_env(project)
    approved = (trust or standing(project)).approved_env
    return server_place(project, child_env({**env, **own}, theirs, approved)[0])


class Standalone:
    """Some servers of a view, started. `close` ends them; no process is left."""

    def __init__(self, view: View, env: Mapping[str, str], names: Collection[str]) -> None:
        self._ground = Ground(view, env)
        place = self._ground.place
        self._servers = Servers([resolve(view.servers[name], place) for name in names], self._ground.needs)
        self._servers.start()

    def wait(self, names: Collection[str], timeout: float, cancel: Cancel) -> tuple[Status, ...]:
        return self._servers.wait(names, timeout, cancel)

    def get(self, name: str) -> Connection | None:
        return self._servers.get(name)

    def close(self, grace: float) -> None:
        self._servers.close(grace)
        self._ground.close(grace)
