"""`bin/` of enabled plugins on the PATH of Bash.

They come last: a plugin adds programs, and never stands in for one that the user has.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from checkrein.model.project import Project


def with_executables(env: dict[str, str], project: Project) -> dict[str, str]:
    """The environment with the `bin/` of each enabled plugin at the end of PATH."""
    added = [
        os.path.join(found.item.root, "bin")
        for found in project.plugins.values()
        if found.item.enabled and "bin" in found.item.components
    ]
    plain = [path for path in added if os.pathsep not in path]
    return {**env, "PATH": os.pathsep.join((*_path(env), *plain))} if plain else env


def _path(env: Mapping[str, str]) -> tuple[str, ...]:
    return (env["PATH"],) if env.get("PATH") else (os.defpath,)
