"""Recipes for a client: what there is, what is wrong with it, what it would do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import read_text, write_atomic
from checkrein.base.nearest import did_you_mean
from checkrein.model.recipe import Recipe
from checkrein.passes.recipes.contracts import Contracts
from checkrein.passes.recipes.diagrams import mermaid
from checkrein.passes.recipes.library import Library, library_of
from checkrein.passes.recipes.merge import merge
from checkrein.passes.recipes.migrations import migrate, migration_diff
from checkrein.passes.recipes.outline import InputRow, inputs_of_recipe, steps_of
from checkrein.passes.recipes.routes import every_step
from checkrein.passes.recipes.subset_gate import needs, refusals
from checkrein.passes.recipes.validity import errors, problems
from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands

Given = Mapping[str, Any]


def list_recipes(hands: Hands) -> dict[str, Any]:
    shelf = shelf_of(hands)
    rows = [
        {
            "name": one.item.name,
            "kind": one.item.kind,
            "description": one.item.description,
            "summary": one.item.summary,
            "source": one.item.origin.scope,
        }
        for one in sorted(shelf.recipes.values(), key=lambda one: one.name)
    ]
    wrong = [one for one in shelf.diagnostics if one.severity == "error"]
    return {"success": True, "recipes": rows, "count": len(rows), "errors": found_rows(wrong)}


def load_recipe(hands: Hands, name: str, overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    """The file as it stands, and the recipe as it runs: with the sub-recipes whose gates `overrides` open.
    Not `valid` means that it does not run."""
    shelf = shelf_of(hands)
    recipe = recipe_named(shelf, name)
    content = text_of(hands, recipe)
    given: Given = overrides or {}
    merged = merge(recipe, shelf, given).recipe
    every = problems(recipe, shelf)
    refused = list(refusals(needs(merged, shelf)))
    inputs = inputs_of_recipe(merged)
    return {
        "success": True,
        "name": recipe.name,
        "content": content,
        "diagram": mermaid(merged),
        "steps": msgspec.to_builtins(steps_of(merged.steps)),
        "suggestions": found_rows(every),
        "valid": not errors(every),
        "refusals": found_rows(refused),
        "kitchen_rules": list(merged.kitchen_rules or ()),
        "requires_packs": list(merged.requires_packs),
        "ingredients": msgspec.to_builtins(inputs),
        "ingredients_table": _table(inputs, given),
    }


def validate_recipe(hands: Hands, script_path: str) -> dict[str, Any]:
    """A file of the project: all findings, with what its skills promise."""
    file = hands.path(script_path)
    hands.may_read(file)
    if not os.path.isfile(file):
        raise ToolFailure(f"{script_path} is not a file.")
    shelf = library_of(hands.project_at(hands.root), file)
    every = [
        candidate.item
        for group in (shelf.recipes, shelf.sub_recipes)
        for one in group.values()
        for candidate in one.candidates
    ]
    recipe = next((one for one in every if os.path.realpath(one.origin.file) == file), None)
    if recipe is None:
        unread = [one for one in shelf.diagnostics if os.path.realpath(one.origin.file) == file]
        return {
            "success": True,
            "valid": False,
            "errors": found_rows(unread),
            "findings": [],
            "contracts": {},
        }
    found = problems(recipe, shelf)
    wrong = errors(found)
    promised = Contracts(shelf.project)
    skills = dict.fromkeys(step.skill for step in every_step(recipe) if step.skill is not None)
    contracts = {name: one for name in skills if (one := promised.of(name)) is not None}
    return {
        "success": True,
        "valid": not wrong,
        "errors": found_rows(wrong),
        "findings": found_rows(one for one in found if one.severity != "error"),
        "contracts": msgspec.to_builtins(contracts),
    }


def migrate_recipe(hands: Hands, name: str) -> dict[str, Any]:
    recipe = recipe_named(shelf_of(hands), name)
    if recipe.origin.scope == "bundled":
        raise ToolFailure(f"The recipe {name!r} is part of Checkrein and stays as it is.")
    file = recipe.origin.file
    before = text_of(hands, recipe)
    found = migrate(before)
    if not found.applied:
        return {"success": True, "status": "up_to_date", "name": name}
    hands.may_write(file)
    write_atomic(Path(file), found.text)
    changes = migration_diff(before, found.text, os.path.relpath(file, hands.root))
    return {
        "success": True,
        "status": "migrated",
        "name": name,
        "applied": list(found.applied),
        "diff": changes,
    }


def shelf_of(hands: Hands) -> Library:
    """The recipes as they are now."""
    return library_of(hands.project_at(hands.root))


def recipes_at(root: str) -> list[Recipe]:
    """The recipes of a project by name, without what is inside of them."""
    from checkrein.passes.load import load

    found = library_of(load(root, bundled=True)).recipes
    return [found[name].item for name in sorted(found)]


def recipe_named(shelf: Library, name: str) -> Recipe:
    found = shelf.recipe(name)
    if found is not None:
        return found
    broken = [one for one in shelf.diagnostics if Path(one.origin.file).stem == name]
    if broken:
        raise ToolFailure(f"The recipe {name!r} can't be read: {broken[0].origin}: {broken[0].message}.")
    raise ToolFailure(f"There is no recipe {name[:100]!r}.{did_you_mean(name, shelf.recipes)}")


def text_of(hands: Hands, recipe: Recipe) -> str:
    """The text of the file. What is the project's is read only where a Read of it is allowed."""
    file = recipe.origin.file
    if recipe.origin.scope == "bundled":
        return Path(file).read_text("utf-8")
    hands.may_read(file)
    found = read_text(file, within=hands.project_at(hands.root).place.within)
    if not found.readable:
        raise ToolFailure(f"{file} {found.problem}.")
    return found.text


def found_rows(found: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    return [
        {
            "rule": one.code,
            "severity": one.severity,
            "message": one.message,
            "file": one.origin.file,
            "line": one.origin.span.line if one.origin.span else None,
            "hint": one.hint,
        }
        for one in found
    ]


def _table(inputs: Iterable[InputRow], given: Given) -> str:
    lines = ["| input | meaning | required | value |", "|---|---|---|---|"]
    for one in inputs:
        if not one.hidden:
            value = given.get(one.name, one.default)
            cells = (one.name, one.description, "yes" if one.required else "no", value or "")
            lines.append(f"| {' | '.join(_cell(str(cell)) for cell in cells)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
