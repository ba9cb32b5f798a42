"""How the person wants the screen: theme, keys, notifications, from the configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.enums import EditingMode

from checkrein.base.errors import CheckreinError
from checkrein.cli.screen.keys import bind_actions

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings

    from checkrein.base.config import Config
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.cli.screen.helm import Helm


def preferred(cockpit: Cockpit, keys: KeyBindings, helm: Helm) -> list[str]:
    """Apply the configuration. Returns what is wrong with it."""
    try:
        config = screen_config()
    except CheckreinError as error:
        return [error.message]
    cockpit.theme.use(config.get("screen.theme"))
    cockpit.terminal.notification = config.get("screen.notify")
    if config.get("screen.editing") == "vi":
        cockpit.face.app.editing_mode = EditingMode.VI
    chosen = config.get("screen.keys")
    return bind_actions(keys, helm, cockpit.face, chosen) if chosen else []


def screen_config() -> Config:
    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS

    return load_config(KEYS, Path.cwd(), checkrein_home(), os.environ)
