"""The current model of a conversation, and its fallbacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrein.llm.port import Model
from checkrein.model.project import Project
from checkrein.runtime.session.chooser import Choose
from checkrein.runtime.session.events import Event, Notice


class Models:
    """`own` is the model that the caller or the settings chose. A skill's model holds for the rest of its
    turn. `model` and `name` are those of the next request."""

    def __init__(self, choose: Choose, own: tuple[Model, str], fallbacks: Sequence[str] = ()) -> None:
        self.choose = choose
        self._own = own
        self._fallbacks = list(fallbacks)
        self._skill: str | None = None
        self.model, self.name = own

    @property
    def own(self) -> tuple[Model, str]:
        return self._own

    @property
    def fallbacks_left(self) -> int:
        return len(self._fallbacks)

    def fall_back(self) -> str:
        """Switch to the next model of the chain; returns its name."""
        self._own = self.choose(self._fallbacks.pop(0))
        self.model, self.name = self._own
        return self.name

    def switch(self, name: str, skill: str | None, project: Project) -> Iterator[Event]:
        """Use another model from now on. A skill's model still comes first."""
        self._own = self.choose(name)
        self._skill = None
        self.model, self.name = self._own
        yield from self.follow(skill, project)

    def follow(self, skill: str | None, project: Project) -> Iterator[Event]:
        """Use the model that a skill names, for its turn. None brings the conversation's own back."""
        if skill == self._skill:
            return
        self._skill = skill
        chosen = self._own
        if skill is not None:
            offered = project.setting("availableModels")
            if isinstance(offered, list) and skill not in offered:
                yield Notice("warning", f"A skill asks for {skill}, which availableModels does not list.")
            else:
                chosen = self.choose(skill)
        self.model, self.name = chosen
