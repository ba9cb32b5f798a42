"""Which model a session talks to: what the caller says, the project's settings, the configuration."""

from __future__ import annotations

from pathlib import Path

from bridle.llm.port import Model
from bridle.model.project import Project
from bridle.runtime.engine import Choose


def chooser(project: Project, env: dict[str, str]) -> Choose:
    def choose(spec: str | None) -> tuple[Model, str]:
        from bridle.base.config import load_config
        from bridle.base.home import bridle_home
        from bridle.facts.config import KEYS
        from bridle.llm.choose import ModelSettings
        from bridle.llm.choose import choose as find

        config = load_config(KEYS, Path(project.place.root), bridle_home(env), env)
        wanted = project.setting("model")
        settings = ModelSettings(
            default=wanted if isinstance(wanted, str) else config.get("model.default"),
            base_url=config.get("model.base_url"),
            api_key=config.get("model.api_key"),
            idle_timeout=config.get("model.idle_timeout"),
        )
        chosen = find(None if spec == "default" else spec, settings, env)
        return chosen.model, chosen.name

    return choose


def name_of(model: Model) -> str:
    """What a model that was handed in is called."""
    return str(getattr(model, "name", None) or type(model).__name__)
