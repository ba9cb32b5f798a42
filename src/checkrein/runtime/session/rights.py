"""What holds for the calls of a session: its policy, the variables of its children, where rules stand."""

from __future__ import annotations

import os
from collections.abc import Callable

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import BUNDLED, COMMAND_LINE, Origin
from checkrein.model.project import Project
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.effects import Use
from checkrein.policy.policy import Policy
from checkrein.policy.project import policy_of
from checkrein.policy.tools import Tool as DecidedTool
from checkrein.policy.tools import Tools
from checkrein.policy.tools import builtin_tools as decided_tools
from checkrein.policy.values import MODES, Mode
from checkrein.runtime.memory.writes import memory_rules
from checkrein.runtime.process.environment import child_env
from checkrein.runtime.session.ground import Ground
from checkrein.runtime.tools.structured import NAME as STRUCTURED_OUTPUT


def session_policy(ground: Ground) -> Policy:
    """The project's policy, the caller's rules, and leave to read what was too large for the context."""
    origin = Origin(COMMAND_LINE, "cli")
    cwd, options = ground.place.cwd, ground.options
    extra: list[Rule] = [parse_rule(text, "allow", origin, anchor=cwd) for text in options.allowed]
    extra += [parse_rule(text, "deny", origin, anchor=cwd) for text in options.disallowed]
    extra.append(parse_rule(f"Read(/{ground.results}/**)", "allow", Origin(BUNDLED, "bundled")))
    if ground.memory is not None:
        extra += memory_rules(ground.memory)
    mode: Mode | None = next((known for known in MODES if known == ground.mode), None)
    return policy_of(ground.project, rules=extra, mode=mode, tools=_known_tools())


def _known_tools() -> Tools:
    """The tools that decisions know: the built-in ones, and ours that do nothing but answer."""
    answers = DecidedTool(name=STRUCTURED_OUTPUT, effects=lambda _: (Use(STRUCTURED_OUTPUT),), free=True)
    return decided_tools().with_tool(answers)


def children_env(ground: Ground) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """The environment of children, and what of the project's `env` is not in it."""
    own, theirs = _settings_env(ground.project)
    env, refused = child_env({**ground.env, **own}, theirs, ground.trust.approved_env)
    return env, _refused_env(refused, ground.project)


def _settings_env(project: Project) -> tuple[dict[str, str], dict[str, str]]:
    """The `env` of the settings: what the user's own files set, and what the project's files set."""
    own: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for name, effective in project.settings.items():
        winner = next((one.item for one in effective.candidates if one.lost is None), None)
        if winner is not None and name.startswith("env."):
            target = theirs if winner.origin.scope in ("project", "local") else own
            target[name.removeprefix("env.")] = str(effective.value)
    return own, theirs


def _refused_env(names: tuple[str, ...], project: Project) -> tuple[Diagnostic, ...]:
    found = []
    for name in names:
        effective = project.settings.get(f"env.{name}")
        if effective is not None and effective.candidates:
            message = f"`{name}` was not set: a project may not set it without an approval of its own"
            found.append(Diagnostic("TRUST003", "warning", message, effective.candidates[0].item.origin))
    return tuple(found)


def placed(cwd: str) -> Callable[[Origin], str]:
    """How a refusal names the file and line of a rule."""

    def place(origin: Origin) -> str:
        file = os.path.relpath(origin.file, cwd) if os.path.isabs(origin.file) else origin.file
        shown = origin.file if file.startswith("..") else file
        return f"{shown}:{origin.line}" if origin.line else shown

    return place
