"""Which model a session uses: the caller's, the one in the project's settings, or the configured one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from checkrein.base.errors import PolicyError
from checkrein.facts.models_providers import FILE_KINDS, PROVIDERS
from checkrein.llm.port import Model
from checkrein.model.project import Project

if TYPE_CHECKING:
    from checkrein.llm.choose import ModelSettings

Choose = Callable[[str | None], tuple[Model, str]]
"""From a user's name for a model to the model and its own name. None means the default."""


class Chooser:
    """The models that a session names. Its conversations share those with connections; `close` ends them."""

    def __init__(self, project: Project, env: dict[str, str]) -> None:
        self._project = project
        self._env = env
        self._lock = threading.Lock()
        self._connected: dict[tuple[str | None, ModelSettings], tuple[Model, str]] = {}

    def __call__(self, spec: str | None) -> tuple[Model, str]:
        from checkrein.base.config import load_config
        from checkrein.base.home import checkrein_home
        from checkrein.facts.config import KEYS
        from checkrein.llm.choose import ModelSettings
        from checkrein.llm.choose import choose as find

        project, env = self._project, self._env
        config = load_config(KEYS, Path(project.place.root), checkrein_home(env), env)
        settings = ModelSettings(
            default=_wanted(project, spec) or config.get("model.default"),
            base_url=config.get("model.base_url"),
            api_key=config.get("model.api_key"),
            idle_timeout=config.get("model.idle_timeout"),
        )
        spec = None if spec == "default" else spec
        with self._lock:
            known = self._connected.get((spec, settings))
            if known is None:
                chosen = find(spec, settings, env)
                known = chosen.model, chosen.name
                if hasattr(chosen.model, "close"):
                    self._connected[spec, settings] = known
            return known

    def close(self) -> None:
        """Close the connections that wait for another request. A later one opens its own."""
        with self._lock:
            made, self._connected = tuple(self._connected.values()), {}
        for model, _ in made:
            model.close()  # type: ignore[attr-defined]  # only those are kept


def _wanted(project: Project, spec: str | None) -> str | None:
    """The model in the settings. A project may name a service's model, but not a file that plays one."""
    found = project.settings.get("model")
    if found is None or not isinstance(found.value, str):
        return None
    winner = next((one.item for one in found.candidates if one.lost is None), None)
    provider = PROVIDERS.get(found.value.partition(":")[0])
    theirs = winner is not None and winner.origin.scope in ("project", "local")
    if winner is not None and theirs and provider is not None and provider.kind in FILE_KINDS:
        if spec not in (None, "default"):
            return None
        raise PolicyError(
            f"The project's settings name the model {found.value}, which is a file.",
            kind="model_refused",
            hint=f"To use it, name it yourself: --model {found.value}",
            origin=winner.origin,
        )
    return found.value


def name_of(model: Model) -> str:
    """The name of a model that the caller passed in."""
    return str(getattr(model, "name", None) or type(model).__name__)
