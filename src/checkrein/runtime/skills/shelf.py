"""The skills and commands that one session can reach: in its view, and in nested folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.model.items import Invocable, Skill
from checkrein.model.view import View
from checkrein.runtime.context.withheld import Denial, nobody_denies

if TYPE_CHECKING:
    from checkrein.passes.visibility.sights import Sight


class Shelf:
    """Live reload may replace `view` between turns. Nested skills stay for the session.

    A skill that appeared or grew after the session started grants nothing: its `allowed-tools` and hooks
    count only when `trusts` knows its file. `denial` finds files that no request may hold.
    """

    def __init__(self, view: View, trusts: Callable[[Origin], bool], denial: Denial = nobody_denies) -> None:
        self.view = view
        self.denial = denial
        self._trusts = trusts
        self._nested: dict[str, Skill] = {}

    def find(self, name: str) -> Invocable | None:
        """A skill, else a command. A bare name also finds a plugin's item when nothing else has that name."""
        plain = name.strip().removeprefix("/")
        found = self.view.skills.get(plain) or self.view.commands.get(plain) or self._nested.get(plain)
        if found is not None:
            return found
        short = [item for item in self.items() if item.plugin and item.name.rpartition(":")[2] == plain]
        return short[0] if len(short) == 1 else None

    def items(self) -> Iterator[Invocable]:
        yield from self.view.skills.values()
        yield from self.view.commands.values()
        yield from self._nested.values()

    def names(self) -> list[str]:
        return [item.name for item in self.items()]

    def override(self, item: Invocable) -> str | None:
        """What `skillOverrides` says about it. Skills of plugins ignore it."""
        overrides = self.view.project.setting("skillOverrides")
        value = overrides.get(item.name) if isinstance(overrides, dict) and not item.plugin else None
        return value if isinstance(value, str) else None

    def variants(self, name: str) -> list[str]:
        """Nested skills that share a name with one at the root."""
        return [other for other in self._nested if other != name and other.rpartition(":")[2] == name]

    def visit(self, directory: str) -> list[Skill]:
        """Add the skills of a directory below the start, each once, when it is read for the first time."""
        root = os.path.join(directory, ".claude", "skills")
        if not os.path.isdir(root):
            return []
        from checkrein.dialects.claude.read import read_skills
        from checkrein.dialects.codes import Log

        log = Log(self.view.project.place.within)
        place = os.path.relpath(directory, self.view.project.place.cwd)
        added: list[Skill] = []
        for skill in read_skills(root, "project", log, set()):
            name = f"{place}:{skill.name}" if self.find(skill.name) is not None else skill.name
            sight = self.sight(skill)
            if sight is not None and not sight.is_visible:
                continue
            if name not in self._nested and self.denial(skill.origin.file) is None:
                quiet = sight is not None and sight.is_quiet
                self._nested[name] = self.safe(
                    replace(skill, name=name, model_invocable=skill.model_invocable and not quiet)
                )
                added.append(self._nested[name])
        return added

    def sight(self, item: Invocable) -> Sight | None:
        """What the rules of the view say about a skill; None: there are no rules."""
        if self.view.rules is None:
            return None
        from checkrein.passes.visibility.session_view import sight_under

        return sight_under(item, self.view.project, self.view.rules)

    def safe(self, skill: Skill) -> Skill:
        """The skill without the grants that it may not have."""
        return skill if self._trusts(skill.origin) else replace(skill, allowed_tools=(), hooks=())
