"""`checkrein compile --model`: which model compile asks, and which answers a package keeps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrein.compile.advisor import Advisor
    from checkrein.llm.port import Model


def advisor_for(model: str, spec: str, out: str | None) -> Advisor:
    """Raises UsageError for an unknown provider. A model that does not answer is a warning later.

    The configuration is the user's: a project can't choose who gets the text of its spec."""
    from checkrein.compile.advisor import Advisor, read_memory
    from checkrein.facts.models_providers import FILE_KINDS, PROVIDERS
    from checkrein.llm.choose import split

    provider, name = split(model, os.environ)
    shown = os.path.basename(name) if PROVIDERS[provider].kind in FILE_KINDS else name
    beside = spec if os.path.isdir(spec) else os.path.dirname(spec) or "."
    opened: list[tuple[Model, str]] = []

    def open_model() -> tuple[Model, str]:
        if not opened:
            opened.append(_choose(model))
        return opened[0]

    return Advisor(open=open_model, label=f"{provider}:{shown}", remembered=read_memory(out or beside))


def _choose(model: str) -> tuple[Model, str]:
    from pathlib import Path

    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS
    from checkrein.llm.choose import ModelSettings, choose

    config = load_config(KEYS, Path.cwd(), checkrein_home(os.environ), os.environ)
    settings = ModelSettings(
        base_url=config.get("model.base_url"),
        api_key=config.get("model.api_key"),
        idle_timeout=config.get("model.idle_timeout"),
    )
    chosen = choose(model, settings, os.environ)
    return chosen.model, chosen.name
