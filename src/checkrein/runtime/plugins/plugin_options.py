"""What the parts of a plugin may use: its directory, its data directory, the values of its options.

Values that are not secret are in the user's settings (`pluginConfigs`), where a project's files can't set
them. Secret ones are in a file of the Checkrein home that only the user can read; hooks and servers of the
plugin get them, texts for the model never do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.home import home_path
from checkrein.model.items import Plugin
from checkrein.model.project import Project

if TYPE_CHECKING:
    from checkrein.base.home_file import HomeFile

OPTION = "user_config."
"""The prefix for the name of a plugin's option, among its variables."""
ROOT, DATA = "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"
_OPEN_NAMES = {"PLUGIN_ROOT": ROOT, "PLUGIN_DATA": DATA}


class Secrets(Struct, frozen=True):
    """Identity of a plugin to the secret values of its options."""

    plugins: dict[str, dict[str, str]] = {}


def enabled_plugins(project: Project) -> list[Plugin]:
    """Items of a plugin carry the plugin's own name, for any marketplace."""
    return [found.item for found in project.plugins.values() if found.item.enabled]


def data_dir(plugin: Plugin | str, config_dir: str) -> str:
    """The directory that a plugin keeps over its updates."""
    identity = plugin if isinstance(plugin, str) else plugin.identity
    return os.path.join(config_dir, "plugins", "data", re.sub(r"[^A-Za-z0-9_-]", "-", identity))


def plugin_variables(
    plugin: Plugin, project: Project, *, secrets: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Directories and options by name. Secret options only from `secrets`."""
    data = data_dir(plugin, project.place.config_dir)
    values = {ROOT: plugin.root, DATA: data}
    if plugin.format == "agent_plugins":
        values |= {name: values[ours] for name, ours in _OPEN_NAMES.items()}
    for name, option in plugin.user_config.items():
        declared = option if isinstance(option, dict) else {}
        if declared.get("sensitive"):
            value: Any = (secrets or {}).get(name)
        else:
            value = _option(project, plugin.identity, name)
            value = declared.get("default") if value is None else value
        if value is not None:
            values[f"{OPTION}{name}"] = _text(value)
    return values


def secret_options(plugin: Plugin, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The secret values of a plugin's declared options."""
    secret = {
        name for name, one in plugin.user_config.items() if isinstance(one, dict) and one.get("sensitive")
    }
    if not secret or not os.path.lexists(_secrets_path(env)):
        return {}
    kept = secrets_file(env).read()[0].plugins.get(plugin.identity, {})
    return {name: value for name, value in kept.items() if name in secret}


def secrets_file(env: Mapping[str, str] | None = None) -> HomeFile[Secrets]:
    from pathlib import Path

    from checkrein.base.home_file import HomeFile

    return HomeFile(Path(_secrets_path(env)), Secrets(), kind="plugins_unwritable")


def missing_options(plugin: Plugin, project: Project, secrets: Mapping[str, str]) -> tuple[str, ...]:
    """Options that the plugin requires and nobody has set."""
    known = plugin_variables(plugin, project, secrets=secrets)
    required = (
        name for name, one in plugin.user_config.items() if isinstance(one, dict) and one.get("required")
    )
    return tuple(name for name in required if f"{OPTION}{name}" not in known)


def _secrets_path(env: Mapping[str, str] | None) -> str:
    return os.path.join(home_path(env), "plugins", "secrets.json")


def _option(project: Project, plugin: str, name: str) -> object:
    from checkrein.dialects.claude.settings import dotted

    effective = project.settings.get(dotted(("pluginConfigs", plugin, "options", name)))
    for candidate in effective.candidates if effective else ():
        if candidate.item.origin.scope not in ("project", "local"):
            value: object = candidate.item.value
            return value
    return None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
