"""REQ-OVR-004, REQ-VAL-004: what rules say about skills and tools of a recipe is what the gate refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from checkrein.model.recipe_plan import Plan
from checkrein.passes.checks.recipe_examples import TEST, recipe
from checkrein.passes.checks.table import checks_of
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.plan import plan
from checkrein.passes.recipes.subset_gate import needs
from checkrein.passes.recipes.validity import problems

Shelf = Callable[[Mapping[str, str]], Library]

CODES = {one.name: one.code for one in checks_of("RCP")}
SUBSETS = ("subset-disabled-tool", "subset-disabled-skill")
OVERRIDE = "project-local-skill-override"
SKILL = "---\ndescription: Review. Use when asked.\ncategories: [{category}]\n---\nReview it.\n"
STEPS = """\
  review:
    tool: run_skill
    with: {{skill_command: "{command}", cwd: .}}
    on_success: clean
    on_failure: failed
  clean:
    tool: batch_cleanup_clones
    on_success: test
    on_failure: failed
"""

pytestmark = pytest.mark.skipif(OVERRIDE not in CODES, reason="the rules of recipes are not here yet")


def shelved(shelf: Shelf, command: str, folder: str | None, config: str = "", head: str = "") -> Library:
    own = {} if folder is None else {f"/{folder}/review-changes/SKILL.md": SKILL.format(category="audit")}
    text = recipe(STEPS.format(command=command), TEST, head=head)
    return shelf({"build.yaml": text, "/checkrein.toml": config, **own})


def told(library: Library, *names: str) -> list[str]:
    found = library.recipe("build")
    assert found is not None
    codes = {CODES[name] for name in names}
    return [one.severity for one in problems(found, library) if one.code in codes]


@pytest.mark.parametrize(
    ("command", "folder", "warnings"),
    [
        ("/checkrein:review-changes", ".claude/skills", ["warning"]),
        ("/autoskillit:review-changes", ".claude/skills", ["warning"]),
        ("/checkrein:review-changes", ".checkrein/skills", ["warning"]),
        ("/checkrein:review-changes", None, []),
        ("/review-changes", ".claude/skills", []),
        ("/checkrein:audit-tests", ".claude/skills", []),
    ],
)
def test_req_ovr_004_a_recipe_warns_where_the_project_replaces_a_bundled_skill(
    shelf: Shelf, command: str, folder: str | None, warnings: list[str]
) -> None:
    library = shelved(shelf, command, folder)
    assert told(library, OVERRIDE) == warnings
    found = library.recipe("build")
    assert found is not None
    assert isinstance(plan(found, library, {}), Plan)


@pytest.mark.parametrize(
    ("config", "head"),
    [
        ("", ""),
        ('[subsets]\ndisabled = ["ci"]\n', ""),
        ('[subsets]\ndisabled = ["clone"]\n', ""),
        ('[subsets]\ndisabled = ["audit", "clone"]\n', ""),
        ('[subsets]\ndisabled = ["own"]\n[subsets.custom_tags]\nown = ["review-changes"]\n', ""),
        ('[subsets]\ndisabled = ["audit"]\n[packs]\nenabled = ["audit"]\n', "requires_packs: [audit]\n"),
    ],
)
def test_req_val_004_what_the_rules_warn_about_is_what_the_gate_refuses(
    shelf: Shelf, config: str, head: str
) -> None:
    library = shelved(shelf, "/review-changes", ".claude/skills", config, head)
    found = library.recipe("build")
    assert found is not None
    refused = [one for one in needs(found, library) if one.kind != "pack"]
    assert told(library, *SUBSETS) == ["warning"] * len(refused)
