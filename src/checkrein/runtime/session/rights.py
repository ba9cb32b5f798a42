"""The rights of a conversation: the situation for its calls, and the variables for its processes."""

from __future__ import annotations

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import BUNDLED, Origin
from checkrein.model.project import Project
from checkrein.model.rule import parse_rule
from checkrein.policy.policy import Directory, grant, with_mode
from checkrein.policy.situation import Situation, Terms, caller_rules, known_mode, situation
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.memory.place import memory_rules
from checkrein.runtime.process.environment import child_env, settings_env, without
from checkrein.runtime.session.conversation import Start
from checkrein.runtime.session.ground import Ground
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.services import Services


def session_situation(services: Services, options: Options, start: Start) -> Situation:
    """The project's situation, under the options. Reading output that was too large for the context is
    allowed."""
    results = parse_rule(f"Read(/{services.results}/**)", "allow", Origin(BUNDLED, "bundled"))
    terms = Terms(
        mode=options.mode or start.opened.mode,
        allowed=options.allowed,
        disallowed=options.disallowed,
        rules=(results, *options.rules, *(memory_rules(start.memory) if start.memory is not None else ())),
        hooks=options.hooks and not options.bare,
        confined=services.confinement,
        layers=services.layers.held,
        unguarded=services.layers.unguarded,
        memory=start.own_memory,
    )
    return situation(services.project, services.trust, terms)


def child_situation(above: Gate, options: Options, memory: Directory | None) -> Situation:
    """The child's situation, made from its parent's own policy. The parent's still binds it (`meet`)."""
    rules = caller_rules(options.allowed, options.disallowed, above.situation.root)
    policy = grant(above.own, (*rules, *options.rules))
    mode = known_mode(options.mode)
    policy = policy if mode is None else with_mode(policy, mode)
    return replace(above.situation, policy=policy, memory=memory)


def children_env(ground: Ground, withheld: frozenset[str]) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """The environment of processes, and the variables of the project's `env` that it leaves out. Our own
    credentials are not in it."""
    own, theirs = settings_env(ground.project)
    env, refused = child_env({**ground.env, **own}, theirs, ground.trust.approved_env)
    return without(env, withheld), _refused_env(refused, ground.project)


def bash_env(env: dict[str, str], project: Project) -> dict[str, str]:
    """The environment of Bash: with the programs of plugins."""
    if not project.plugins:
        return env
    from checkrein.runtime.plugins.executables_path import with_executables

    return with_executables(env, project)


def _refused_env(names: tuple[str, ...], project: Project) -> tuple[Diagnostic, ...]:
    found = []
    for name in names:
        effective = project.settings.get(f"env.{name}")
        if effective is not None and effective.candidates:
            message = f"`{name}` was not set: a project needs your approval for this variable"
            found.append(Diagnostic("TRUST003", "warning", message, effective.candidates[0].item.origin))
    return tuple(found)
