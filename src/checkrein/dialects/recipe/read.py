"""Recipe files -> Recipes. A broken file becomes a Diagnostic, the rest loads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import get_args

from checkrein.base.origin import Origin, Scope, Span
from checkrein.base.yamltree import NotYaml, Tree, parse_tree
from checkrein.dialects import text
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.coerce import WRONG
from checkrein.dialects.recipe.members import Fields, as_texts
from checkrein.dialects.recipe.steps import read_steps
from checkrein.facts.recipe_codes import recipe_finding
from checkrein.facts.recipe_fields import DISPATCH_FIELDS, INGREDIENT_FIELDS, RECIPE_FIELDS
from checkrein.model.recipe import Dispatch, Ingredient, Recipe, RecipeKind, Step

SUB_RECIPES = "sub-recipes"
CAMPAIGNS = "campaigns"
_ENDINGS = (".yaml", ".yml")
_KINDS: tuple[RecipeKind, ...] = get_args(RecipeKind)


def read_folder(folder: str, scope: Scope, log: Log) -> tuple[Recipe, ...]:
    """The recipes of a folder and of `campaigns/` in it, then its sub-recipes, in order of their files."""
    paths = [(path, False) for inner in ("", CAMPAIGNS) for path in _files(os.path.join(folder, inner), log)]
    paths += [(path, True) for path in _files(os.path.join(folder, SUB_RECIPES), log)]
    read = (read_file(path, scope, log, is_sub_recipe=inner) for path, inner in paths)
    return tuple(one for one in read if one is not None)


def read_file(path: str, scope: Scope, log: Log, *, is_sub_recipe: bool = False) -> Recipe | None:
    """The recipe in a file; None with the reason in `log`."""
    found = text.read(path, scope, log, optional=False)
    if found is None:
        return None
    return read_text(found.text, Origin(path, scope), log, is_sub_recipe=is_sub_recipe)


def read_text(source: str, origin: Origin, log: Log, *, is_sub_recipe: bool = False) -> Recipe | None:
    """The recipe in a text that has, or would have, this origin."""
    tree = parse_tree(source)
    if isinstance(tree, NotYaml):
        place = origin.at(Span(tree.line), "$")
        log.append(recipe_finding("RECIPE001", f"The file is not YAML: {tree.message}", place))
        return None
    if not isinstance(tree.value, dict):
        log.append(
            recipe_finding(
                "RECIPE001", "The file is not a mapping with `name` and `steps`", origin.at(Span(1))
            )
        )
        return None
    place = origin.at(Span(1), "$")
    for path, span in tree.repeated():
        message = f"`{path}` appears more than once; the last one counts"
        log.append(recipe_finding("RECIPE005", message, origin.at(span, f"$.{path}")))
    fields = Fields(tree, place, RECIPE_FIELDS, log)
    name = str(fields.taken.pop("name", "")).strip()
    return Recipe(
        name=name or os.path.splitext(os.path.basename(origin.file))[0],
        origin=place,
        spans=tree.spans(),
        unknown=fields.unknown,
        kind=_kind(fields),
        version=fields.text("checkrein_version") or fields.text("autoskillit_version"),
        ingredients=_ingredients(fields),
        steps=_steps(fields),
        kitchen_rules=_rules(fields),
        dispatches=_dispatches(fields),
        is_sub_recipe=is_sub_recipe,
        digest=hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest(),
        **fields.taken,
    )


def _files(folder: str, log: Log) -> Iterable[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        if os.path.isdir(folder):
            message = f"The folder can't be read: {error.strerror}"
            log.append(diagnose("FILE001", message, Origin(folder, "project")))
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(_ENDINGS)]


def _kind(fields: Fields) -> RecipeKind:
    word = fields.text("kind") or "standard"
    found = next((one for one in _KINDS if one == word), None)
    member = fields.member("kind")
    if found is None and member is not None:
        fields.refuse("kind", "one of " + ", ".join(_KINDS), member)
    return found or "standard"


def _mapping(fields: Fields, key: str) -> Tree | None:
    member = fields.member(key)
    if member is None or isinstance(member.value, dict):
        return member
    fields.refuse(key, "a mapping", member)
    return None


def _steps(fields: Fields) -> tuple[Step, ...]:
    member = _mapping(fields, "steps")
    return () if member is None else read_steps(member, fields.at("steps"), fields.log)


def _ingredients(fields: Fields) -> tuple[Ingredient, ...]:
    member = _mapping(fields, "ingredients")
    found = []
    for name, tree in member.members.items() if member else ():
        origin = fields.at(f"ingredients.{name}", tree)
        if not isinstance(tree.value, dict):
            fields.refuse(f"ingredients.{name}", "a mapping of fields", tree)
            continue
        inner = Fields(tree, origin, INGREDIENT_FIELDS, fields.log)
        found.append(
            Ingredient(name=name, origin=origin, spans=tree.spans(), unknown=inner.unknown, **inner.taken)
        )
    return tuple(found)


def _dispatches(fields: Fields) -> tuple[Dispatch, ...]:
    member = fields.member("dispatches")
    if member is None:
        return ()
    if not isinstance(member.value, list):
        fields.refuse("dispatches", "a list", member)
        return ()
    found = []
    for number, tree in enumerate(member.items):
        path = f"dispatches[{number}]"
        origin = fields.at(path, tree)
        if not isinstance(tree.value, dict):
            fields.refuse(path, "a mapping of fields", tree)
            continue
        inner = Fields(tree, origin, DISPATCH_FIELDS, fields.log)
        name = str(inner.taken.pop("name", "") or f"dispatch-{number + 1}")
        found.append(
            Dispatch(name=name, origin=origin, spans=tree.spans(), unknown=inner.unknown, **inner.taken)
        )
    return tuple(found)


def _rules(fields: Fields) -> tuple[str, ...] | None:
    """None when the file has none: that differs from an empty list."""
    member = fields.member("kitchen_rules")
    if member is None:
        return None
    texts = as_texts(member.value)
    if texts is WRONG:
        fields.refuse("kitchen_rules", "a list of texts", member)
        return ()
    return tuple(texts)
