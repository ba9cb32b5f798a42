"""The contracts of skills: `contract.yaml` beside a SKILL.md, or the source's one file for all of them.

`skill_contracts.yaml` of the source holds `skills: {NAME: contract}`. It lies in `.checkrein/` or
`.autoskillit/`, and counts for skills that have no file of their own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from checkrein.base.errors import ConfigError
from checkrein.base.files import read_bytes
from checkrein.base.origin import Origin
from checkrein.base.yamltree import NotYaml, parse_tree
from checkrein.model.items import Invocable
from checkrein.model.project import Project
from checkrein.model.skill_contract import NO_CONTRACT, Contract, OutputType

FILE = "contract.yaml"
ALL = "skill_contracts.yaml"
_FOLDERS = (".checkrein", ".autoskillit")
_FIELDS = Contract.__struct_fields__
_OUTPUTS = ("name", "type", "allowed_values", "description")
_INPUTS = ("name", "type", "required", "recommended", "description")


class Contracts:
    """The contracts of a project's skills, each read once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, Contract | None] = {}
        self._files: dict[str, Any] | None = None

    def of(self, skill: str) -> Contract | None:
        """The contract of a skill by its name; None without one, or when its file has another form."""
        if skill not in self._known:
            self._known[skill] = self._read(skill)
        return self._known[skill]

    def _read(self, skill: str) -> Contract | None:
        file = skill_file(skill, self._project)
        if file is not None:
            try:
                own = contract_of(file)
            except ConfigError:
                return None
            if own is not NO_CONTRACT:
                return own
        return _lenient(self._shared().get(skill))

    def _shared(self) -> Mapping[str, Any]:
        if self._files is None:
            root = self._project.place.root
            self._files = {}
            for folder in reversed(_FOLDERS):
                self._files |= _shared_file(os.path.join(root, folder, ALL), self._project.place.within)
        return self._files


def skill_file(skill: str, project: Project) -> str | None:
    """The SKILL.md of a skill of the project, or of one that Checkrein brings."""
    group: Mapping[str, Any] = project.skills if skill in project.skills else project.commands
    found = group.get(skill)
    if found is not None:
        item: Invocable = found.item
        return item.origin.file
    from checkrein.passes.visibility.bundled_skills import bundled_files

    return bundled_files().get(skill)


def contract_of(skill_file: str) -> Contract:
    """The contract of a skill. Raises ConfigError when its file has another form: a skill whose promise
    nobody can check does not run."""
    path = os.path.join(os.path.dirname(skill_file), FILE)
    found = read_bytes(path, within=(os.path.dirname(os.path.realpath(skill_file)),))
    if found.problem is not None:
        if not os.path.lexists(path):
            return NO_CONTRACT
        raise _wrong(path, found.problem)
    tree = parse_tree(found.data.decode("utf-8", "replace"))
    if isinstance(tree, NotYaml):
        raise _wrong(path, tree.message)
    try:
        return msgspec.convert(tree.value or {}, Contract)
    except msgspec.ValidationError as error:
        raise _wrong(path, str(error)) from error


def _wrong(path: str, why: str) -> ConfigError:
    return ConfigError(
        f"{path} is not a contract: {why}.",
        kind="contract_invalid",
        hint="It has `outputs`, `expected_output_patterns`, `write_behavior` and `write_expected_when`.",
        origin=Origin(path, "project"),
    )


def _shared_file(path: str, within: tuple[str, ...]) -> dict[str, Any]:
    found = read_bytes(path, within=within)
    tree = parse_tree(found.data.decode("utf-8", "replace"))
    value = None if isinstance(tree, NotYaml) else tree.value
    skills = value.get("skills", value) if isinstance(value, dict) else None
    return skills if isinstance(skills, dict) else {}


def _lenient(said: Any) -> Contract | None:
    """The entry of a file that other programs keep: what we do not know is left out."""
    if not isinstance(said, dict):
        return None
    known = {name: said[name] for name in _FIELDS if said.get(name) is not None}
    inputs, outputs = known.get("inputs", []), known.get("outputs", [])
    if not isinstance(inputs, (list, dict)) or not isinstance(outputs, (list, dict)):
        return None
    known["inputs"] = _entries(inputs, _INPUTS)
    known["outputs"] = [_output(one) for one in _entries(outputs, _OUTPUTS)]
    try:
        return msgspec.convert(known, Contract, strict=False)
    except msgspec.ValidationError:
        return None


def _entries(said: Any, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    """A list of mappings, or of names; a mapping from names to mappings is one too."""
    if isinstance(said, dict):
        said = [{"name": name, **(one if isinstance(one, dict) else {})} for name, one in said.items()]
    listed = said if isinstance(said, list) else []
    found = [{"name": one} if isinstance(one, str) else one for one in listed]
    return [{name: one[name] for name in fields if name in one} for one in found if isinstance(one, dict)]


def _output(said: dict[str, Any]) -> dict[str, Any]:
    return said if said.get("type") in get_args(OutputType) else {**said, "type": "string"}
