"""REQ-VAL-004: a recipe that needs something switched off is refused; enabling it once opens only that."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.recipe_plan import Plan
from checkrein.passes.checks.recipe_examples import TEST, recipe
from checkrein.passes.load import session_view
from checkrein.passes.recipes.inputs import Surroundings
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.plan import plan
from checkrein.passes.recipes.subset_gate import enabled_once, needs
from checkrein.passes.visibility.session_view import governance_of

Shelf = Callable[[Mapping[str, str]], Library]

SKILL = "---\ndescription: Draw. Use when asked.\ncategories: [{category}]\n---\nDraw it.\n"
STEPS = """\
  draw:
    tool: run_skill
    with: {skill_command: "/draw it", cwd: .}
    on_success: clean
    on_failure: failed
  clean:
    tool: batch_cleanup_clones
    on_success: test
    on_failure: failed
"""


def shelved(shelf: Shelf, config: str, *, head: str = "", category: str = "rendering") -> Library:
    return shelf(
        {
            "build.yaml": recipe(STEPS, TEST, head=head),
            "/.claude/skills/draw/SKILL.md": SKILL.format(category=category),
            "/checkrein.toml": config,
        }
    )


def planned(library: Library, *, enable_once: bool = False) -> Plan | tuple[Diagnostic, ...]:
    found = library.recipe("build")
    assert found is not None
    return plan(found, library, {}, Surroundings(enable_once=enable_once))


@pytest.mark.parametrize(
    ("config", "head", "category", "subsets"),
    [
        ("", "", "rendering", []),
        ('[subsets]\ndisabled = ["github"]\n', "", "rendering", []),
        ('[subsets]\ndisabled = ["rendering", "ci"]\n', "", "rendering", ["rendering"]),
        ('[subsets]\ndisabled = ["clone", "ci"]\n', "", "rendering", ["clone"]),
        ('[subsets]\ndisabled = ["own"]\n[subsets.custom_tags]\nown = ["draw"]\n', "", "x", ["own"]),
        ("", "", "research", ["research"]),
        ('[packs]\nenabled = ["research"]\n', "", "research", []),
        ("", "requires_packs: [research]\n", "research", ["research"]),
        ("", "requires_packs: [research, audit]\n", "x", ["research"]),
        ('[packs]\nenabled = ["research"]\n', "requires_packs: [research]\n", "research", []),
        (
            '[packs]\nenabled = ["research"]\n[subsets]\ndisabled = ["research"]\n',
            "requires_packs: [research]\n",
            "x",
            ["research"],
        ),
    ],
)
def test_req_val_004_a_recipe_that_needs_something_disabled_is_refused(
    shelf: Shelf, config: str, head: str, category: str, subsets: list[str]
) -> None:
    library = shelved(shelf, config, head=head, category=category)
    found = library.recipe("build")
    assert found is not None
    assert list(dict.fromkeys(one.subset for one in needs(found, library))) == subsets
    refused = planned(library)
    if not subsets:
        assert isinstance(refused, Plan)
        return
    assert isinstance(refused, tuple)
    assert {one.code for one in refused} == {"RECIPE016"}
    assert all(one.origin.line and one.hint and "--enable-once" in one.hint for one in refused)


def test_req_val_004_enabling_once_opens_only_what_is_needed(shelf: Shelf) -> None:
    library = shelved(shelf, '[subsets]\ndisabled = ["ci", "rendering", "clone", "github"]\n')
    found = planned(library, enable_once=True)
    assert isinstance(found, Plan)
    assert found.enabled == ("rendering", "clone")
    governance = governance_of(library.project)
    once = enabled_once(governance, found.enabled)
    assert once.disabled == ("ci", "github")
    assert governance.disabled == ("ci", "rendering", "clone", "github")
    recipe_ = library.recipe("build")
    assert recipe_ is not None
    assert needs(recipe_, library, once) == ()


def test_a_pack_is_switched_on_for_the_run_alone(shelf: Shelf) -> None:
    library = shelved(shelf, "", head="requires_packs: [research]\n", category="research")
    found = planned(library, enable_once=True)
    assert isinstance(found, Plan)
    assert (found.packs, found.enabled) == (("research",), ("research",))
    once = enabled_once(governance_of(library.project), found.enabled)
    assert once.enabled == ("research",)
    assert "draw" not in session_view(library.project, "headless").skills
    assert "draw" in session_view(library.project, "headless", requires_packs=found.packs).skills


def test_the_refusal_names_the_step_and_the_line_of_the_configuration(shelf: Shelf) -> None:
    refused = planned(shelved(shelf, '[subsets]\ndisabled = ["clone"]\n'))
    assert isinstance(refused, tuple)
    (one,) = refused
    assert one.message == "The recipe needs the tool `batch_cleanup_clones`, and the subset `clone` is off"
    assert one.origin.field == "$.steps.clean.tool"
    assert [origin.file.rpartition("/")[2] for origin in one.related] == ["checkrein.toml"]


def test_a_campaign_is_refused_for_what_its_recipes_need(shelf: Shelf) -> None:
    campaign = "name: all\nkind: campaign\ndispatches:\n  - {name: one, recipe: build, task: Build}\n"
    build = recipe(STEPS, TEST, head="ingredients: {task: {description: The task, default: x}}\n")
    library = shelf(
        {
            "build.yaml": build,
            "all.yaml": campaign,
            "/.claude/skills/draw/SKILL.md": SKILL.format(category="rendering"),
            "/checkrein.toml": '[subsets]\ndisabled = ["clone"]\n',
        }
    )
    found = library.recipe("all")
    assert found is not None
    refused = plan(found, library, {})
    assert isinstance(refused, tuple)
    assert [one.code for one in refused] == ["RECIPE016"]
