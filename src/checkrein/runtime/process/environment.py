"""Which variables a child gets.

`facts.environment` lists the names that a project may set only with the user's approval. The shell gets
nothing that would change how it reads a command.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from checkrein.facts.environment import NOT_FOR_SHELLS
from checkrein.facts.environment import needs_approval as needs_approval
from checkrein.facts.shell_env import FUNCTION_PREFIX

if TYPE_CHECKING:
    from checkrein.model.project import Project


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


def settings_env(project: Project) -> tuple[dict[str, str], dict[str, str]]:
    """The `env` of the settings: the part from the user's own files, and the part from the project's."""
    own: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for name, effective in project.settings.items():
        winner = next((one.item for one in effective.candidates if one.lost is None), None)
        if winner is not None and name.startswith("env."):
            target = theirs if winner.origin.scope in ("project", "local") else own
            target[name.removeprefix("env.")] = str(effective.value)
    return own, theirs
