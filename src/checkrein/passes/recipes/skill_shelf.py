"""The skills that recipes of a project can name, with their contracts."""

from __future__ import annotations

import os
from functools import cache

from msgspec import Struct

from checkrein.base.files import read_text
from checkrein.base.origin import Origin, Span
from checkrein.base.yamltree import NotYaml, Tree, parse_tree
from checkrein.model.items import Invocable, Skill
from checkrein.model.project import Project
from checkrein.model.skill_contract import Contract
from checkrein.passes.recipes.contracts import FILE, Contracts
from checkrein.passes.recipes.skill_call import SkillCall
from checkrein.passes.visibility.bundled_skills import bundled_skills
from checkrein.passes.visibility.session_view import invocables


class ContractFile(Struct, frozen=True):
    """A contract's file, as written. It is a mapping, of whatever form."""

    origin: Origin
    tree: Tree

    def at(self, field: str) -> Origin:
        return self.origin.at(self.tree.spans().get(field, Span(1)), f"$.{field}")


class SkillShelf:
    """A skill of the project hides a bundled one of its name."""

    def __init__(self, project: Project, contracts: Contracts) -> None:
        self.contracts = contracts
        self.own: dict[str, Invocable] = {
            name: item for name, item in invocables(project).items() if item.origin.scope != "bundled"
        }
        self.items = {**_bundled(), **self.own}
        self._files: dict[str, ContractFile | None] = {}

    def item(self, call: SkillCall) -> Invocable | None:
        return self.items.get(call.written) or self.items.get(call.name)

    def contract(self, call: SkillCall) -> Contract | None:
        return self.contracts.of(call.name)

    def contract_file(self, skill: Skill) -> ContractFile | None:
        """The file of the skill itself; None without one, or when it is no mapping."""
        if skill.directory not in self._files:
            self._files[skill.directory] = _read(skill)
        return self._files[skill.directory]


@cache
def _bundled() -> dict[str, Invocable]:
    return {one.name: one for one in bundled_skills()}


def _read(skill: Skill) -> ContractFile | None:
    path = os.path.join(skill.directory, FILE)
    found = read_text(path, within=(os.path.realpath(skill.directory),))
    tree = parse_tree(found.text) if found.problem is None else NotYaml("")
    if isinstance(tree, NotYaml) or not isinstance(tree.value, dict):
        return None
    return ContractFile(Origin(path, skill.origin.scope), tree)
