"""The skills of one conversation: the available ones, the loaded ones, and the invoker."""

from __future__ import annotations

from msgspec import Struct

from checkrein.runtime.skills.active import ActiveSkills
from checkrein.runtime.skills.effects import Effects
from checkrein.runtime.skills.invoker import Invoker
from checkrein.runtime.skills.shelf import Shelf


class SkillKit(Struct, frozen=True):
    shelf: Shelf
    active: ActiveSkills
    effects: Effects
    invoker: Invoker
