"""The recipe on the page of recipes is valid."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from checkrein.model.recipe_plan import Plan
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.plan import plan
from checkrein.passes.recipes.validity import problems

Shelf = Callable[[Mapping[str, str]], Library]
PAGE = Path(__file__).parents[4] / "docs" / "recipes.md"


def test_the_example_has_a_plan_and_no_findings(shelf: Shelf) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    library = shelf({"test-parts.yaml": text})
    recipe = library.recipe("test-parts")
    assert recipe is not None
    assert problems(recipe, library) == []
    found = plan(recipe, library, {"parts": "a, b"})
    assert isinstance(found, Plan)
    assert found.inputs["parts"] == ["a", "b"]
