"""Gates and tool hosts that need no session and no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from checkrein.base.origin import Origin, Span
from checkrein.llm.port import Cancel, ToolUse
from checkrein.model.items import Hook
from checkrein.model.rule import Rule, Verdict, parse_rule
from checkrein.passes.load import load
from checkrein.policy.auto import Classifier
from checkrein.policy.policy import compile_policy
from checkrein.policy.situation import Situation
from checkrein.policy.values import Mode
from checkrein.runtime.call.bench import Bench
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.hooked import tool_of_server
from checkrein.runtime.call.host import Done, ToolHost
from checkrein.runtime.call.permissions import Permissions
from checkrein.runtime.call.toolset import Toolbox, ToolSet, ToolView
from checkrein.runtime.hooks.handlers import Doer
from checkrein.runtime.hooks.payloads import Common
from checkrein.runtime.hooks.ports import Ports, Surroundings
from checkrein.runtime.hooks.registry import HookRegistry
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.process.binder import Binder
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.budget import Budget, Meter
from checkrein.runtime.session.control import Asker, Control
from checkrein.runtime.session.events import Caller, Event
from checkrein.runtime.store import SessionStore
from checkrein.runtime.store.recorder import Recorder
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.runtime.tools.desk import ToolState
from checkrein.runtime.tools.port import AnyTool, Aside, Tool, ToolContext, ToolDeclaration, ToolOutput
from checkrein.runtime.turn.aside import Asides
from checkrein.testing import ScriptedModel

SETTINGS = "/p/.claude/settings.json"
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
Work = Callable[[dict[str, Any], ToolContext], ToolOutput]


def rules(*texts: str) -> list[Rule]:
    """`"deny Read(.env)"` and so on, one on each line of a user's settings."""
    found = []
    for line, text in enumerate(texts, 1):
        behavior, _, rule = text.partition(" ")
        kind: dict[str, Verdict] = {"allow": "allow", "ask": "ask", "deny": "deny"}
        found.append(parse_rule(rule, kind[behavior], Origin(SETTINGS, "user", Span(line))))
    return found


def make_gate(
    *texts: str,
    mode: Mode = "default",
    root: str = "/p",
    asker: Asker | None = None,
    trusted: bool = True,
    classifier: Classifier | None = None,
    above: Gate | None = None,
    **situation: Any,
) -> Gate:
    """A gate with these rules; the one place of the tests that knows how a Gate is made."""
    policy = compile_policy(rules(*texts), mode)
    met = Situation(policy=policy, root=root, home="/h", trusted=trusted, **situation)
    judge = None if classifier is None else lambda cancel: classifier
    return Gate(met, Control(asker), classifier=judge, above=above)


def make_tool(name: str, work: Work | str = "done", *, eager: bool = True, **declared: Any) -> Tool:
    """A tool of a program. `work` as a text is what it answers."""
    said = work if callable(work) else lambda input, context: ToolOutput(content=work)
    schema = declared.pop("schema", {"type": "object", "properties": {}})
    effects = declared.pop("effects", None)
    declaration = ToolDeclaration(
        name=name, schema=schema, description=f"{name} it.", eager=eager, **declared
    )
    return Tool(declaration=declaration, work=said, effects=effects)


class Rig:
    """A tool host in a project, with everything that happened: `told`, and the lines of the transcript."""

    def __init__(
        self,
        project: Path,
        gate: Gate,
        spawner: Spawner,
        *,
        tools: Iterable[AnyTool] = (),
        hooks: Iterable[Hook] = (),
    ) -> None:
        loaded = load(project, detect=False)
        place = loaded.place
        self.writer = SessionStore().create(place.cwd)
        self.told: list[Event] = []
        self.cancel = Cancel()
        results = str(project.parent / "results")
        around = Surroundings(project_dir=place.cwd, session_id="s", env=ENV, results_dir=results)
        common = Common(session_id="s", transcript_path=str(self.writer.path), cwd=place.cwd)
        self.registry = HookRegistry(hooks)
        ports = Ports(call_tool=lambda server, tool, *call: tool_of_server(self.host, server, tool, *call))
        runner = HookRunner(self.registry, Doer(spawner, around, ports), common)
        silent = ScriptedModel([])
        binder = Binder((place.cwd,), ENV)
        bench = Bench(
            place=place,
            session_id="s",
            results=results,
            env=ENV,
            env_file=f"{results}/env.sh",
            spawner=spawner,
            state=ToolState((place.cwd,)),
            control=Control(),
            asides=Asides(lambda name: (silent, "m"), (silent, "m"), Meter(Budget())),
            commands=BoundCommands(spawner, lambda: binder, gate),
        )
        permissions = Permissions(gate, runner, loaded, allow_bypass=False)
        self.host = ToolHost(gate, runner, Recorder(self.writer), bench, permissions)
        self.live = ToolSet([*builtin_tools(), *tools])
        self.host.offer(ToolView(self.live, Toolbox))

    def call(self, name: str, /, caller: Caller = "model", **input: Any) -> Done:
        return self.host.call(ToolUse("c1", name, input), self.cancel, self.told.append, caller=caller)

    def call_aside(
        self, name: str, /, caller: Caller = "program", parent: str | None = None, **input: Any
    ) -> Done:
        aside = Aside(self.cancel, self.told.append, parent)
        return self.host.call_aside(ToolUse("c1", name, input), aside, caller)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.told if isinstance(event, kind)]

    def close(self) -> None:
        self.host.close()


def hook(
    command: str, event: str = "PreToolUse", *, matcher: str | None = None, type: str = "command", **more: Any
) -> Hook:
    """A hook of the user's settings."""
    origin = Origin(SETTINGS, "user", Span(9))
    given = {"command": command} if type == "command" else {}
    return Hook(name=event, type=type, matcher=matcher, origin=origin, **given, **more)
