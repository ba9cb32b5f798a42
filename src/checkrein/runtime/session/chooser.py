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
from checkrein.runtime.trust import Standing

if TYPE_CHECKING:
    from checkrein.base.config import Config
    from checkrein.llm.accounts import ModelSettings
    from checkrein.llm.choose import Chosen
    from checkrein.runtime.session.machine_words import Words
    from checkrein.runtime.session.model_helpers import ModelHelpers

Choose = Callable[[str | None], tuple[Model, str]]
"""From a user's name for a model to the model and its own name. None means the default."""


class Chooser:
    """The models that a session names. Its conversations share those with connections; `close` ends them."""

    def __init__(self, trust: Standing, env: dict[str, str]) -> None:
        self._trust = trust
        self._env = env
        self._lock = threading.Lock()
        self._helpers: ModelHelpers | None = None
        self._connected: dict[tuple[str | None, ModelSettings], tuple[Model, str]] = {}

    def __call__(self, spec: str | None) -> tuple[Model, str]:
        settings = self.settings(spec)
        spec = _plain(spec)
        with self._lock:
            known = self._connected.get((spec, settings))
            if known is None:
                chosen = self._find(spec, settings)
                known = chosen.model, chosen.name
                if hasattr(chosen.model, "close"):
                    self._connected[spec, settings] = known
            return known

    @property
    def waiting(self) -> str | None:
        """The command that a model waits for: it gives the credential."""
        return None if self._helpers is None else self._helpers.waiting

    def chosen(self, spec: str | None) -> Chosen:
        """The model with what is known about it, for whoever only looks."""
        return self._find(_plain(spec), self.settings(spec))

    def settings(self, spec: str | None) -> ModelSettings:
        from checkrein.llm.accounts import ModelSettings

        config = self.config()
        default = _wanted(self._trust.project, spec) or config.get("model.default")
        replays = (_plain(spec) or self._env.get("ANTHROPIC_MODEL") or default or "").startswith("replay")
        return ModelSettings(
            default=default,
            base_url=config.get("model.base_url"),
            api_key=config.get("model.api_key"),
            idle_timeout=config.get("model.idle_timeout"),
            helpers=self.helpers().names if _has_helper(self._trust.project) else frozenset(),
            words=self.words() if replays else (),
        )

    def words(self) -> Words:
        from checkrein.runtime.session.machine_words import machine_words

        return machine_words(self._trust.project, self._env)

    def config(self) -> Config:
        from checkrein.base.config import load_config
        from checkrein.base.home import checkrein_home
        from checkrein.facts.config import KEYS

        root = Path(self._trust.project.place.root)
        return load_config(KEYS, root, checkrein_home(self._env), self._env)

    def helpers(self) -> ModelHelpers:
        from checkrein.runtime.session.model_helpers import ModelHelpers

        if self._helpers is None:
            self._helpers = ModelHelpers(self._trust, self.env())
        return self._helpers

    def env(self) -> dict[str, str]:
        """The environment with the `env` of the settings: the user's own, and of the project's only what the
        user approved by name, because any of it may lead credentials elsewhere."""
        from checkrein.runtime.process.environment import settings_env

        own, theirs = settings_env(self._trust.project)
        approved = {name: value for name, value in theirs.items() if name in self._trust.approved_env}
        return {**self._env, **own, **approved} if own or approved else self._env

    def _find(self, spec: str | None, settings: ModelSettings) -> Chosen:
        from checkrein.llm.choose import choose

        return choose(spec, settings, self.env(), lambda command: self.helpers().run(command))

    def close(self) -> None:
        """Close the connections that wait for another request. A later one opens its own."""
        with self._lock:
            made, self._connected = tuple(self._connected.values()), {}
        for model, _ in made:
            model.close()  # type: ignore[attr-defined]  # only those are kept


def _plain(spec: str | None) -> str | None:
    return None if spec == "default" else spec


def _has_helper(project: Project) -> bool:
    return any(name.endswith(("Helper", "Export", "Refresh")) for name in project.settings)


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
