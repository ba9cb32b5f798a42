"""The values of a recipe's ingredients at the start of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.nearest import did_you_mean
from checkrein.facts.recipe_codes import recipe_finding
from checkrein.model.expression_value import text_of
from checkrein.model.recipe import Ingredient, Recipe

TYPES = ("string", "boolean", "bool", "integer", "int", "number", "float", "path", "list")
_YES, _NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")


class Surroundings(Struct, frozen=True, kw_only=True):
    """What a run finds where it starts. `detected` are values for inputs whose default is `""`: the
    repository's `source_dir` and `base_branch`. `configured` are those that only the configuration sets.
    `enable_once`: a person lets this run have the subsets and packs that it needs; `enabled` are those that
    it has got so already."""

    detected: Mapping[str, str] = {}
    configured: Mapping[str, Any] = {}
    enable_once: bool = False
    enabled: tuple[str, ...] = ()


class Values(Struct, frozen=True):
    values: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...] = ()


def input_values(recipe: Recipe, given: Mapping[str, Any], surroundings: Surroundings) -> Values:
    """A value for every ingredient; one without any is `""`. What can't be taken is a Diagnostic."""
    values: dict[str, Any] = {}
    wrong: list[Diagnostic] = []
    known = [one.name for one in recipe.ingredients]
    for name in given:
        if name not in known:
            message = f"The recipe `{recipe.name}` has no input `{name}`.{did_you_mean(name, known)}"
            wrong.append(recipe_finding("RECIPE011", message, recipe.where("ingredients")))
    for ingredient in recipe.ingredients:
        found = _chosen(ingredient, given, surroundings)
        if isinstance(found, Diagnostic):
            wrong.append(found)
            continue
        value = _typed(ingredient, found)
        if isinstance(value, Diagnostic):
            wrong.append(value)
        else:
            values[ingredient.name] = value
    return Values(values, tuple(wrong))


def _chosen(ingredient: Ingredient, given: Mapping[str, Any], around: Surroundings) -> Any | Diagnostic:
    name = ingredient.name
    if ingredient.authority == "config":
        if name in given:
            message = f"Only the configuration sets the input `{name}`"
            return recipe_finding("RECIPE013", message, ingredient.origin)
        if name in around.configured:
            return around.configured[name]
    if given.get(name) is not None:
        return given[name]
    if not ingredient.default and name in around.detected:
        return around.detected[name]
    if ingredient.default is None and ingredient.required:
        said = f": {ingredient.description}" if ingredient.description else ""
        return recipe_finding("RECIPE010", f"The input `{name}` is required{said}", ingredient.origin)
    return ingredient.default or ""


def _list(text: str) -> list[Any]:
    """A JSON list, or items between commas or line breaks."""
    import json

    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list):
            return found
    return [item.strip() for item in text.replace("\n", ",").split(",") if item.strip()]


def has_type(ingredient: Ingredient, value: Any) -> bool:
    return not isinstance(_typed(ingredient, value), Diagnostic)


def _typed(ingredient: Ingredient, value: Any) -> Any | Diagnostic:
    kind = ingredient.type
    if kind in ("boolean", "bool"):
        word = text_of(value).strip().lower()
        if word in _YES or word in _NO:
            return word in _YES
    elif value == "":
        return value
    elif kind in ("integer", "int", "number", "float"):
        try:
            return int(text_of(value)) if kind.startswith("int") else float(text_of(value))
        except ValueError:
            pass
    elif isinstance(value, (list, dict)):
        return value
    elif kind == "list":
        return _list(text_of(value))
    else:
        return text_of(value)
    message = f"The input `{ingredient.name}` must be {kind}, not `{text_of(value)[:80]}`"
    return recipe_finding("RECIPE012", message, ingredient.origin)
