"""What the configuration says about deploy, as options of a writer."""

from __future__ import annotations

from pathlib import Path

from checkrein.base.config import load_config
from checkrein.base.errors import ConfigError
from checkrein.base.home import checkrein_home
from checkrein.dialects.generic.written import Options
from checkrein.facts.behavior import PROFILES
from checkrein.facts.config import KEYS


def configured(
    root: str,
    *,
    profile: str | None = None,
    degrade: bool = False,
    skills_layout: bool = False,
    command_dir: str | None = None,
    home: bool = False,
) -> Options:
    """The options of the project in `root`; what is given wins over `deploy.*`. Raises ConfigError."""
    config = load_config(KEYS, Path(root), checkrein_home())
    chosen = profile or config.get("deploy.profile")
    if chosen not in PROFILES:
        raise ConfigError(f"`deploy.profile` can't be {chosen!r}", hint=f"use one of {', '.join(PROFILES)}")
    return Options(
        profile=chosen,
        models=config.get("deploy.models"),
        degrade=degrade,
        skills_layout=skills_layout,
        command_dir=command_dir,
        home=home,
    )
