"""The version that a recipe was written for, against the one that reads it."""

from __future__ import annotations

import re

from checkrein import __version__
from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.recipe import Recipe

FIELDS = ("checkrein_version", "autoskillit_version")
_NUMBERS = re.compile(r"v?(\d{1,9})(?:\.(\d{1,9}))?")


def version_field(recipe: Recipe) -> str | None:
    """The field that holds the version."""
    return next((field for field in FIELDS if field in recipe.spans), None)


def installed_for(recipe: Recipe) -> str:
    """The version that counts for the recipe: ours, or the one of the source's program that we follow."""
    return rule_facts().versions.source if version_field(recipe) == FIELDS[1] else __version__


def is_below(one: str | None, other: str | None) -> bool:
    """Whether a version is certainly older; the third number never changes what a recipe means."""
    mine, theirs = _NUMBERS.match((one or "").strip()), _NUMBERS.match((other or "").strip())
    if mine is None or theirs is None:
        return False
    return _pair(mine) < _pair(theirs)


def _pair(match: re.Match[str]) -> tuple[int, int]:
    return int(match[1]), int(match[2] or 0)
