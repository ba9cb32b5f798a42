"""The tables of the page about recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrein.facts.recipe_fields import RecipeField

ROOT = Path(__file__).parents[1]
Between = Callable[[str, str, list[str]], str]


def recipes(between: Between) -> str:
    from checkrein.facts import recipe_fields as fields
    from checkrein.facts.kitchen import kitchen_tools
    from checkrein.passes.recipes.migrations import MIGRATIONS

    page = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    lines = [
        *_table("Of the recipe", fields.RECIPE_FIELDS),
        *_table("Of an ingredient", fields.INGREDIENT_FIELDS),
        *_table("Of a step; exactly one of " + ", ".join(fields.DISCRIMINATORS), fields.STEP_FIELDS),
        *_table("Of a dispatch", fields.DISPATCH_FIELDS),
    ]
    page = between(page, "fields", lines)
    pure = ", ".join(f"`{tool.name}`" for tool in kitchen_tools().values() if tool.effect == "pure")
    page = between(page, "effects", ["", f"Tools of the kitchen that are `pure`: {pure}."])
    rows = ["", "| id | change |", "|---|---|"]
    rows += [f"| `{one.id}` | {one.description} |" for one in MIGRATIONS]
    return between(page, "migrations", rows)


def _table(title: str, fields: Iterable[RecipeField]) -> list[str]:
    lines = ["", f"{title}:", "", "| field | type | meaning |", "|---|---|---|"]
    for field in fields:
        form = "" if field.form == "special" else field.form
        star = "*" if field.is_own else ""
        lines.append(f"| `{field.key}`{star} | {form} | {field.meaning} |")
    return lines
