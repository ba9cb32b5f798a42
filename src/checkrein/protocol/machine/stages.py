"""The stages of a session from the command line to the first request, and the result of each here.

`bootstrap-graph` tries the stages that have no effect; the others happen only in a session.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from checkrein.base.clock import elapsed_ms
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError
from checkrein.protocol.machine.project import place_of

if TYPE_CHECKING:
    from checkrein.protocol.machine.setup import Setup

Status = Literal["ok", "blocked", "not_run"]


class Stage(Struct, frozen=True, kw_only=True):
    """`place` is the function that does it. `status` not_run: it happens only in a session, or a stage that
    it needs is blocked. `found` is the result, or why it is blocked."""

    id: str
    title: str
    depends_on: tuple[str, ...]
    place: str
    status: Status = "not_run"
    found: str = ""
    elapsed_ms: int = 0


class Graph(Struct, frozen=True, kw_only=True):
    """`verdict`: ready when no stage is blocked."""

    stages: tuple[Stage, ...]
    note: str
    verdict: Literal["ready", "blocked"]


def _stage(id: str, title: str, depends_on: str, place: str) -> Stage:
    return Stage(id=id, title=title, depends_on=tuple(depends_on.split()), place=place)


STAGES: tuple[Stage, ...] = (
    _stage("arguments", "Read the command line", "", "checkrein.cli.parser:root"),
    _stage(
        "project", "Load the project: files, precedence, imports", "arguments", "checkrein.passes.load:load"
    ),
    _stage("trust", "Judge whether the project is trusted", "project", "checkrein.runtime.trust:standing"),
    _stage(
        "model",
        "Choose the model and find its credential",
        "project",
        "checkrein.runtime.session.chooser:Chooser",
    ),
    _stage("policy", "Compile the permission rules", "trust", "checkrein.policy.situation:situation"),
    _stage(
        "tools",
        "Collect the tools that no rule removes",
        "policy",
        "checkrein.runtime.session.assembly:open_root",
    ),
    _stage(
        "skills", "List the skills for the model", "trust", "checkrein.runtime.skills.listing:make_listing"
    ),
    _stage(
        "session", "Open the session under its lock", "trust", "checkrein.runtime.session.opened:open_session"
    ),
    _stage(
        "hooks",
        "Run the SessionStart hooks",
        "session tools",
        "checkrein.runtime.session.session:Session",
    ),
    _stage(
        "prompt",
        "Expand the prompt and attach files",
        "hooks model skills",
        "checkrein.runtime.turn.input:prepare",
    ),
    _stage(
        "loop",
        "Send requests to the model and run its calls until it is done",
        "prompt",
        "checkrein.runtime.turn.loop:loop",
    ),
)
_NOTE = "Stages with status not_run happen only in the run of a prompt. Nothing was started."


def graph(setup: Setup) -> tuple[Graph, tuple[Diagnostic, ...]]:
    """Try the stages that have no effect. A missing credential blocks the stages that need the model."""
    place_of(setup.project)
    probe = _Probe(setup)
    probes: dict[str, Callable[[], str]] = {
        "arguments": lambda: "read",
        "project": probe.project,
        "trust": probe.trust,
        "model": probe.model,
        "policy": probe.policy,
        "tools": probe.tools,
        "skills": probe.skills,
    }
    done: list[Stage] = []
    blocked: set[str] = set()
    for stage in STAGES:
        run = probes.get(stage.id)
        if run is None or blocked.intersection(stage.depends_on):
            done.append(stage)
            blocked |= {stage.id} if blocked.intersection(stage.depends_on) else set()
            continue
        began = time.monotonic()
        status, found = _try(run)
        if status == "blocked":
            blocked.add(stage.id)
        done.append(_with(stage, status, found, elapsed_ms(began)))
    found_graph = Graph(
        stages=tuple(done),
        note=_NOTE,
        verdict="blocked" if any(stage.status == "blocked" for stage in done) else "ready",
    )
    return found_graph, probe.skipped


def ran(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    """The stages of a session that ran a prompt: the ones without a test are done too."""
    return tuple(
        _with(stage, "ok", "done in the session", 0) if stage.status == "not_run" else stage
        for stage in stages
    )


def _try(run: Callable[[], str]) -> tuple[Status, str]:
    try:
        return "ok", run()
    except CheckreinError as error:
        return "blocked", f"{error.message} {error.hint or ''}".strip()


def _with(stage: Stage, status: Status, found: str, took: int) -> Stage:
    from msgspec.structs import replace

    return replace(stage, status=status, found=found, elapsed_ms=took)


class _Probe:
    """Tests each stage with the results of the stages before it."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._project: Any = None
        self._trust: Any = None
        self.skipped: tuple[Diagnostic, ...] = ()

    def project(self) -> str:
        from checkrein.protocol.machine.setup import project_of

        self._project = project_of(self._setup)
        found = self._project
        return (
            f"{len(found.skills)} skills, {len(found.commands)} commands, {len(found.agents)} agents, "
            f"{len(found.rules)} rules, {len(found.hooks)} hooks, {len(found.servers)} servers"
        )

    def trust(self) -> str:
        from checkrein.runtime.trust import standing

        found = standing(self._project, trusted=self._setup.trust)
        self._trust, self.skipped = found, found.skipped
        return "trusted" if found.trusted else f"not trusted: {len(found.skipped)} items are not used"

    def model(self) -> str:
        from checkrein.protocol.machine.setup import choose_model

        return choose_model(self._setup, self._project).name

    def policy(self) -> str:
        from checkrein.policy.situation import situation
        from checkrein.protocol.machine.setup import terms_of

        return f"mode {situation(self._project, self._trust, terms_of(self._setup)).mode}"

    def tools(self) -> str:
        from checkrein.protocol.machine.pool import tool_pool

        return f"{tool_pool(self._setup)[0].tool_count} tools"

    def skills(self) -> str:
        from checkrein.passes.load import session_view
        from checkrein.runtime.skills.listing import make_listing

        listing = make_listing(session_view(self._project), window=None, env=os.environ)
        return f"{len(listing.names)} listed, {len(listing.cut)} without descriptions"
