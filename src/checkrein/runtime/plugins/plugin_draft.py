"""The files of a new plugin: a manifest, one skill, and a marketplace beside it where asked for."""

from __future__ import annotations

import json
import os

from checkrein.base.errors import PolicyError
from checkrein.facts import claude_plugins as facts
from checkrein.runtime.plugins.plugin_names import require_plain

_SKILL = """---
name: {name}
description: Says what this plugin is for. Use when somebody asks about {name}.
---

Say in two sentences what the plugin {name} does.
"""


def plugin_files(name: str, *, description: str, author: str, marketplace: bool) -> dict[str, str]:
    """Path to content of a new plugin's files."""
    require_plain(name, "plugin")
    manifest = {
        "name": name,
        "version": "0.1.0",
        "description": description,
        "author": {"name": author},
    }
    files = {
        f"{facts.MANIFEST_DIR}/{facts.MANIFEST_FILE}": _json(manifest),
        f"skills/{name}/SKILL.md": _SKILL.format(name=name),
    }
    if marketplace:
        entry = {"name": name, "source": "./", "description": description}
        listed = {
            "name": f"{name}-marketplace",
            "owner": {"name": author},
            "description": f"The plugin {name}.",
            "plugins": [entry],
        }
        files[f"{facts.MANIFEST_DIR}/{facts.MARKETPLACE_FILE}"] = _json(listed)
    return files


def write_files(directory: str, files: dict[str, str]) -> list[str]:
    """Write new files; none of them may exist. Raises PolicyError; then nothing is written."""
    there = [name for name in files if os.path.lexists(os.path.join(directory, name))]
    if there:
        raise PolicyError(
            f"{os.path.join(directory, there[0])} exists already.",
            kind="plugin_exists",
            hint="Name another directory.",
        )
    written = []
    for name, content in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(content)
        written.append(path)
    return written


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
