"""The skills that recipes of a project can name, with their contracts, read once."""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

from checkrein.base.files import read_text
from checkrein.base.origin import Origin, Span
from checkrein.base.yamltree import NotYaml, Tree, parse_tree
from checkrein.model.items import Invocable, Skill
from checkrein.model.project import Project
from checkrein.model.skill_contract import FILE, SkillContract
from checkrein.passes.recipes.skill_call import SkillCall
from checkrein.passes.visibility.bundled_skills import bundled_skills
from checkrein.passes.visibility.session_view import invocables


class ContractFile(Struct, frozen=True):
    """The file of a contract. `contract` is None when it has another form."""

    origin: Origin
    tree: Tree
    contract: SkillContract | None

    def at(self, field: str) -> Origin:
        return self.origin.at(self.tree.spans().get(field, Span(1)), f"$.{field}")


class SkillShelf:
    """A skill of the project hides a bundled one of its name."""

    def __init__(self, project: Project) -> None:
        self.bundled: dict[str, Invocable] = {one.name: one for one in bundled_skills()}
        self.own: dict[str, Invocable] = {
            name: item for name, item in invocables(project).items() if item.origin.scope != "bundled"
        }
        self.items = {**self.bundled, **self.own}
        self._files: dict[str, ContractFile | None] = {}

    def item(self, call: SkillCall) -> Invocable | None:
        return self.items.get(call.written) or self.items.get(call.name)

    def contract_file(self, item: Invocable) -> ContractFile | None:
        if not isinstance(item, Skill):
            return None
        if item.directory not in self._files:
            self._files[item.directory] = _read(item)
        return self._files[item.directory]


def _read(item: Skill) -> ContractFile | None:
    path = os.path.join(item.directory, FILE)
    found = read_text(path, within=(os.path.realpath(item.directory),))
    if found.problem is not None or not found.text:
        return None
    tree = parse_tree(found.text)
    if isinstance(tree, NotYaml) or not isinstance(tree.value, dict):
        return None
    try:
        contract = msgspec.convert(tree.value, SkillContract)
    except (msgspec.ValidationError, RecursionError):
        contract = None
    return ContractFile(Origin(path, item.origin.scope), tree, contract)
