"""What holds for the calls of a conversation: its policy, and the variables of the processes it starts."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import BUNDLED, COMMAND_LINE, Origin
from checkrein.model.project import Project
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.policy import Policy, grant, with_mode
from checkrein.policy.project import policy_of
from checkrein.policy.values import MODES, Mode
from checkrein.runtime.memory.writes import memory_rules
from checkrein.runtime.process.environment import child_env
from checkrein.runtime.session.conversation import Start
from checkrein.runtime.session.ground import Ground
from checkrein.runtime.session.options import Options


def session_policy(project: Project, options: Options, start: Start, results: str) -> Policy:
    """The project's policy, the caller's rules, and leave to read what was too large for the context."""
    extra = [*_asked(options, project.place.cwd)]
    extra.append(parse_rule(f"Read(/{results}/**)", "allow", Origin(BUNDLED, "bundled")))
    if start.memory is not None:
        extra += memory_rules(start.memory)
    return policy_of(project, rules=extra, mode=_mode(options.mode or start.opened.mode))


def child_policy(own: Policy, options: Options, cwd: str) -> Policy:
    """What a child asks for, made from its parent's own policy. It holds under the parent's (`meet`)."""
    mode = _mode(options.mode)
    asked = grant(own, _asked(options, cwd))
    return asked if mode is None else with_mode(asked, mode)


def _asked(options: Options, cwd: str) -> Iterator[Rule]:
    origin = Origin(COMMAND_LINE, "cli")
    yield from (parse_rule(text, "allow", origin, anchor=cwd) for text in options.allowed)
    yield from (parse_rule(text, "deny", origin, anchor=cwd) for text in options.disallowed)


def _mode(name: str | None) -> Mode | None:
    return next((known for known in MODES if known == name), None)


def children_env(ground: Ground) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """The environment of processes, and what of the project's `env` is not in it."""
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
