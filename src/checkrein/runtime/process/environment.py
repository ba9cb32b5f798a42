"""Which variables a child gets.

`facts.environment` lists the names that a project may set only with the user's approval. The shell gets
nothing that would change how it reads a command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from checkrein.facts.environment import NOT_FOR_SHELLS
from checkrein.facts.environment import needs_approval as needs_approval
from checkrein.facts.shell_env import FUNCTION_PREFIX


def child_env(
    base: Mapping[str, str], project_env: Mapping[str, str], approvals: Collection[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment of children, and the names of the project's variables that it leaves out."""
    result = dict(base)
    refused = []
    for name, value in project_env.items():
        if needs_approval(name) and name not in approvals:
            refused.append(name)
        elif _is_settable(name, value):
            result[name] = value
        else:
            refused.append(name)
    return result, tuple(sorted(refused))


def without(env: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The environment without these variables, in upper or lower case."""
    return {name: value for name, value in env.items() if name.upper() not in names}


def shell_env(env: Mapping[str, str]) -> dict[str, str]:
    """Removes what bash would execute or obey before or while it reads a command: start-up files, imported
    functions, inherited options."""
    return {
        name: value
        for name, value in env.items()
        if name not in NOT_FOR_SHELLS and not name.startswith(FUNCTION_PREFIX) and _is_settable(name, value)
    }


def hook_env(env: Mapping[str, str]) -> dict[str, str]:
    """For hooks: like the shell's, without telemetry settings, which name endpoints and hold keys."""
    return {name: value for name, value in shell_env(env).items() if not name.startswith("OTEL_")}


def _is_settable(name: str, value: str) -> bool:
    return bool(name) and "=" not in name and "\0" not in name and "\0" not in value
