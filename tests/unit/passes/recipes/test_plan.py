"""Recipe -> Plan: sub-recipes merged, inputs filled in, defaults explicit; a recipe with errors has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.recipe_plan import Plan
from checkrein.passes.recipes.inputs import Surroundings
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.merge import merge
from checkrein.passes.recipes.plan import plan

Shelf = Callable[[Mapping[str, str]], Library]

HEAD = "name: main\nkitchen_rules: [Use the named tools only]\n"
SIMPLE = (
    HEAD
    + """\
ingredients:
  task: {description: The task, required: true}
  open_pr: {default: "true"}
  count: {type: integer, default: "2"}
  base_branch: {default: ""}
  owner: {authority: config, default: nobody}
workspace: "https://host/${{ inputs.task }}.git"
steps:
  first:
    tool: run_cmd
    with: {cmd: "echo ${{ inputs.task }}"}
  look:
    tool: test_check
    optional: true
    skip_when_false: open_pr
    on_result:
      - {when: "${{ result.passed }}", route: over}
      - {route: first}
    on_failure: first
    retries: 1
  over: {action: stop, message: "Done"}
"""
)


def made(library: Library, name: str = "main", around: Surroundings | None = None, **inputs: Any) -> Plan:
    recipe = library.recipe(name)
    assert recipe is not None
    found = plan(recipe, library, inputs, around)
    assert isinstance(found, Plan), [f"{one.code} {one.message}" for one in found]
    return found


def refused(library: Library, name: str = "main", **inputs: Any) -> tuple[Diagnostic, ...]:
    recipe = library.recipe(name)
    assert recipe is not None
    found = plan(recipe, library, inputs)
    assert isinstance(found, tuple)
    return found


def test_defaults_become_explicit(shelf: Shelf) -> None:
    found = made(shelf({"main.yaml": SIMPLE}), task="x")
    first, look, over = found.body.steps.values()
    assert found.body.entry == "first"
    assert (first.on_success, first.on_failure, first.on_context_limit) == ("look", "escalate", "escalate")
    assert (first.effect, look.effect, over.effect) == ("once", "pure", "pure")
    assert (first.retries, look.retries, over.retries) == (3, 1, 0)
    assert (look.on_success, look.on_context_limit) == (None, "first")
    assert (look.skip_when_false, look.skipped_to) == ("${{ inputs.open_pr }}", "first")
    assert (over.on_success, over.message) == (None, "Done")
    assert found.workspace == "https://host/x.git"
    assert found.rules == ("Use the named tools only",)


def test_inputs_have_values_and_types(shelf: Shelf) -> None:
    library = shelf({"main.yaml": SIMPLE})
    around = Surroundings(detected={"base_branch": "main", "task": "no"}, configured={"owner": "me"})
    found = made(library, around=around, task="x", open_pr=False, count="7")
    assert found.inputs == {"task": "x", "open_pr": "false", "count": 7, "base_branch": "main", "owner": "me"}
    assert made(library, task="x").inputs["base_branch"] == ""


@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        ({}, "RECIPE010", "The input `task` is required: The task"),
        ({"task": "x", "opn_pr": "1"}, "RECIPE011", "has no input `opn_pr`. Did you mean 'open_pr'?"),
        ({"task": "x", "count": "many"}, "RECIPE012", "`count` must be integer, not `many`"),
        ({"task": "x", "owner": "me"}, "RECIPE013", "Only the configuration sets the input `owner`"),
    ],
)
def test_wrong_inputs(shelf: Shelf, inputs: dict[str, str], code: str, said: str) -> None:
    found = refused(shelf({"main.yaml": SIMPLE}), **inputs)
    assert [one.code for one in found] == [code]
    assert said in found[0].message
    assert found[0].origin.line is not None


def test_what_the_reader_finds_wrong_forbids_a_run(shelf: Shelf) -> None:
    found = refused(shelf({"main.yaml": SIMPLE.replace("retries: 1", "retries: many")}), task="x")
    assert [one.code for one in found] == ["RECIPE002"]


PARENT = (
    HEAD
    + """\
ingredients:
  sprint: {default: "false"}
  shared: {default: parent}
requires_packs: [audit]
steps:
  start: {tool: run_cmd, with: {cmd: a}}
  middle: {sub_recipe: prefix, gate: sprint, on_success: build, on_failure: sorry}
  between: {tool: run_cmd, with: {cmd: b}, on_success: middle}
  build: {tool: run_cmd, with: {cmd: c}, on_success: over}
  sorry: {action: stop, message: Sorry}
  over: {action: stop, message: Over}
"""
)
PREFIX = """\
name: prefix
kitchen_rules: [Plan first]
requires_packs: [ci]
ingredients:
  size: {default: "5"}
  shared: {default: child}
steps:
  triage: {tool: run_cmd, with: {cmd: d}, on_failure: escalate}
  ask: {action: confirm, message: "Go?", on_success: done, on_failure: triage}
"""
CLOSED = """\
ingredients: {g: {default: no}}
steps:
  only: {sub_recipe: prefix, gate: g, on_success: done}
"""
FILES = {"main.yaml": PARENT, "sub-recipes/prefix.yaml": PREFIX}


def routes(found: Plan) -> dict[str, tuple[str | None, str]]:
    return {name: (step.on_success, step.on_failure) for name, step in found.body.steps.items()}


def test_an_open_gate_puts_the_steps_in_their_place(shelf: Shelf) -> None:
    found = made(shelf(FILES), sprint="true")
    assert routes(found) == {
        "start": ("prefix_triage", "escalate"),
        "prefix_triage": ("prefix_ask", "sorry"),
        "prefix_ask": ("build", "prefix_triage"),
        "between": ("prefix_triage", "escalate"),
        "build": ("over", "escalate"),
        "sorry": (None, "escalate"),
        "over": (None, "escalate"),
    }
    assert found.inputs == {"sprint": "true", "shared": "parent", "size": "5"}
    assert found.packs == ("audit", "ci")
    assert found.rules == ("Use the named tools only", "Plan first")
    assert found.body.steps["prefix_ask"].origin.file.endswith("sub-recipes/prefix.yaml")


def test_a_closed_gate_drops_the_step(shelf: Shelf) -> None:
    library = shelf(FILES)
    found = made(library)
    assert "middle" not in found.body.steps
    assert (routes(found)["start"], routes(found)["between"]) == (
        ("build", "escalate"),
        ("build", "escalate"),
    )
    assert found.inputs == {"sprint": "false", "shared": "parent"}
    assert found.digest != made(library, sprint="yes").digest


def test_a_gate_at_the_entry_that_is_closed(shelf: Shelf) -> None:
    text = PARENT.replace("  start: {tool: run_cmd, with: {cmd: a}}\n", "")
    library = shelf({**FILES, "main.yaml": text})
    assert made(library).body.entry == "build"
    assert made(library, sprint="1").body.entry == "prefix_triage"
    alone = shelf({"main.yaml": HEAD + CLOSED})
    assert routes(made(alone)) == {"only": ("done", "escalate")}


def test_a_sub_recipe_twice_and_inside_another(shelf: Shelf) -> None:
    outer = CLOSED.replace("no}", "yes}").replace("only", "in") + "name: outer\nkitchen_rules: []\n"
    text = (
        HEAD
        + "ingredients: {g: {default: yes}}\nsteps:\n"
        + "  a: {sub_recipe: outer, gate: g, on_success: b}\n"
        + "  b: {sub_recipe: outer, gate: g, on_success: done, on_failure: done}\n"
    )
    found = made(shelf({**FILES, "main.yaml": text, "sub-recipes/outer.yaml": outer}))
    assert routes(found) == {
        "outer_prefix_triage": ("outer_prefix_ask", "escalate"),
        "outer_prefix_ask": ("b_outer_in_prefix_triage", "outer_prefix_triage"),
        "b_outer_in_prefix_triage": ("b_outer_in_prefix_ask", "done"),
        "b_outer_in_prefix_ask": ("done", "b_outer_in_prefix_triage"),
    }


def test_the_ends_of_a_sub_recipe_are_its_ends_whatever_its_steps_are_called(shelf: Shelf) -> None:
    own = PREFIX + "  done: {action: stop, message: x}\n  escalate: {action: stop, message: x}\n"
    found = made(shelf({**FILES, "sub-recipes/prefix.yaml": own}), sprint="true")
    assert routes(found)["prefix_ask"] == ("build", "prefix_triage")
    assert routes(found)["prefix_triage"] == ("prefix_ask", "sorry")


def test_a_sub_recipe_that_contains_itself_is_not_merged(shelf: Shelf) -> None:
    loop = PREFIX + "  again: {sub_recipe: prefix, gate: sprint, on_success: done}\n"
    library = shelf({**FILES, "sub-recipes/prefix.yaml": loop})
    recipe = library.recipe("main")
    assert recipe is not None
    assert [step.name for step in merge(recipe, library, {"sprint": "true"}).missing] == ["again"]
    assert refused(library, sprint="true")


def test_bodies(shelf: Shelf) -> None:
    text = (
        HEAD
        + """\
steps:
  each:
    foreach: [1, 2]
    steps:
      one: {tool: run_cmd, with: {cmd: "echo ${{ context.item }}"}}
      two: {tool: Read, with: {file_path: x}}
  both:
    parallel:
      left: {steps: {a: {action: wait, with: {seconds: 1}}}}
      right: {steps: {b: {python: mod.fn, effect: keyed}}}
"""
    )
    found = made(shelf({"main.yaml": text}))
    each, both = found.body.steps.values()
    assert (each.variable, each.bodies[0].entry, each.on_success, each.effect) == (
        "item",
        "one",
        "both",
        "pure",
    )
    assert routes(Plan(**{**_fields(found), "body": each.bodies[0]})) == {
        "one": ("two", "escalate"),
        "two": ("done", "escalate"),
    }
    assert each.bodies[0].steps["two"].effect == "pure"
    assert [(one.name, *one.steps) for one in both.bodies] == [("left", "a"), ("right", "b")]
    assert both.bodies[1].steps["b"].effect == "keyed"


def _fields(found: Plan) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__struct_fields__}


CAMPAIGN = """\
name: main
kind: campaign
kitchen_rules: []
continue_on_failure: {go_on}
dispatches:
  - {{name: a, recipe: one, task: First, capture: {{url: "${{{{ result.url }}}}"}}}}
  - {{name: c, recipe: one, task: Third}}
  - name: b
    recipe: one
    task: "See ${{{{ campaign.url }}}}"
    depends_on: [a]
    skip_when: "campaign.url == ''"
  - {{name: ask, gate: confirm, message: Go?, depends_on: [b]}}
"""


@pytest.mark.parametrize(
    ("go_on", "failures"), [("false", ["escalate"] * 4), ("true", ["c", "c", "c", "done"])]
)
def test_a_campaign_is_a_body_of_dispatches(shelf: Shelf, go_on: str, failures: list[str]) -> None:
    one = SIMPLE.replace("name: main", "name: one")
    library = shelf({"main.yaml": CAMPAIGN.format(go_on=go_on), "one.yaml": one})
    found = made(library)
    steps = list(found.body.steps.values())
    assert found.is_campaign
    assert [(step.name, step.kind, step.on_success) for step in steps] == [
        ("a", "dispatch", "b"),
        ("b", "dispatch", "ask"),
        ("ask", "confirm", "c"),
        ("c", "dispatch", "done"),
    ]
    assert [step.on_failure for step in steps] == failures
    assert (steps[0].subject, steps[0].with_args) == ("one", {"task": "First"})
    assert steps[1].skip_when_false == "not (campaign.url == '')"
    assert steps[2].message == "Go?"


def test_names_in_both_folders_and_bundled(shelf: Shelf) -> None:
    text = HEAD + "steps: {a: {action: stop, message: x}}\n"
    library = shelf(
        {
            "main.yaml": text,
            "/.autoskillit/recipes/main.yaml": text,
            "/.autoskillit/recipes/b.yml": text.replace("main", "b"),
        }
    )
    assert {"b", "main"} <= set(library.recipes)
    main = library.recipes["main"]
    assert "/.checkrein/" in main.item.origin.file
    assert len(main.shadowed) == 1


def test_sub_recipes_that_multiply_are_not_merged_without_end(shelf: Shelf) -> None:
    """Each level includes the next twice."""
    files = {
        f"sub-recipes/s{level}.yaml": f"name: s{level}\ningredients: {{g: {{default: yes}}}}\nsteps:\n"
        + "".join(f"  {name}: {{sub_recipe: s{level + 1}, gate: g, on_success: done}}\n" for name in "ab")
        for level in range(30)
    }
    text = (
        HEAD + "ingredients: {g: {default: yes}}\nsteps:\n  a: {sub_recipe: s0, gate: g, on_success: done}\n"
    )
    library = shelf({**files, "main.yaml": text})
    recipe = library.recipe("main")
    assert recipe is not None
    merged = merge(recipe, library, {})
    assert merged.missing
    assert len(merged.recipe.steps) < 20_000
