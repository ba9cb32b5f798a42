"""What holds for the calls of a session: its situation, the variables of its children, where rules stand."""

from __future__ import annotations

from collections.abc import Callable

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import BUNDLED, Origin
from checkrein.model.project import Project
from checkrein.model.rule import parse_rule
from checkrein.policy.confined import Confined
from checkrein.policy.effects import Use
from checkrein.policy.situation import Situation, Terms, situation
from checkrein.policy.tools import Tool as DecidedTool
from checkrein.policy.tools import Tools
from checkrein.policy.tools import builtin_tools as decided_tools
from checkrein.runtime.memory.place import memory_rules
from checkrein.runtime.process.environment import child_env
from checkrein.runtime.session.ground import Ground
from checkrein.runtime.tools.structured import NAME as STRUCTURED_OUTPUT


def session_situation(ground: Ground, confined: Confined) -> Situation:
    """The project's, under the options; what was too large for the context may be read without asking."""
    options = ground.options
    results = parse_rule(f"Read(/{ground.results}/**)", "allow", Origin(BUNDLED, "bundled"))
    terms = Terms(
        mode=ground.mode,
        allowed=options.allowed,
        disallowed=options.disallowed,
        rules=(results, *(memory_rules(ground.memory) if ground.memory is not None else ())),
        hooks=options.hooks and not options.bare,
        confined=confined,
        tools=_known_tools(),
    )
    return situation(ground.project, ground.trust, terms)


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
    return lambda origin: origin.beside(cwd)
