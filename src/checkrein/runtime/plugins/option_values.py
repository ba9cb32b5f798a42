"""Set an option of a plugin: checked against its declaration, in the user's settings or among the secrets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.model.items import Plugin
from checkrein.model.project import Project
from checkrein.runtime.plugins.plugin_options import Secrets, secrets_file
from checkrein.runtime.plugins.settings_edit import change_setting


def set_option(
    project: Project, env: Mapping[str, str], plugin: Plugin, identity: str, key: str, text: str
) -> None:
    """Raises NotFoundError for an option that the plugin does not declare, UsageError for a wrong value."""
    declared = plugin.user_config.get(key)
    if not isinstance(declared, dict):
        near = did_you_mean(key, plugin.user_config)
        raise NotFoundError(f"The plugin {identity} has no option {key!r}.{near}", kind="option_not_found")
    value = _value(key, declared, text)
    if declared.get("sensitive"):

        def keep(kept: Secrets) -> Secrets:
            own = {**kept.plugins.get(identity, {}), key: str(value)}
            return Secrets({**kept.plugins, identity: own})

        secrets_file(env).change(keep)
        return

    def change(old: Any) -> Any:
        held = old if isinstance(old, dict) else {}
        options = held.get("options")
        return {**held, "options": {**(options if isinstance(options, dict) else {}), key: value}}

    change_setting(project.place, "user", ("pluginConfigs", identity), change)


def _value(key: str, declared: Mapping[str, Any], text: str) -> Any:
    kind = declared.get("type", "string")
    if kind == "number":
        return _number(key, declared, text)
    if kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"The option {key} is true or false.", kind="option_invalid")
        return text.lower() == "true"
    path = os.path.abspath(os.path.expanduser(text))
    if kind == "directory" and not os.path.isdir(path):
        raise UsageError(f"The option {key} is a directory; {text} is none.", kind="option_invalid")
    if kind == "file" and not os.path.isfile(path):
        raise UsageError(f"The option {key} is a file; {text} is none.", kind="option_invalid")
    return path if kind in ("directory", "file") else text


def _number(key: str, declared: Mapping[str, Any], text: str) -> float | int:
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"The option {key} is a number.", kind="option_invalid") from None
    low, high = declared.get("min"), declared.get("max")
    if (isinstance(low, int | float) and number < low) or (isinstance(high, int | float) and number > high):
        raise UsageError(f"The option {key} is between {low} and {high}.", kind="option_invalid")
    return int(number) if number.is_integer() else number
