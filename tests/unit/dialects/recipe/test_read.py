"""Recipe files: every field with its line; a broken file is a Diagnostic, the rest loads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.dialects.codes import Log
from checkrein.dialects.recipe.read import read_folder, read_text
from checkrein.model.recipe import Recipe

SOURCE = """\
name: implement
description: Implement a task.
summary: plan > build > test
autoskillit_version: "0.9.0"
ingredients:
  task: {description: What to do, required: true}
  open_pr:
    description: Open a pull request
    default: true
  base_branch: {default: "", hidden: true}
requires_packs: [research]
kitchen_rules:
  - "NEVER use native tools"
steps:
  plan:
    tool: run_skill
    with:
      skill_command: "/autoskillit:make-plan ${{ inputs.task }} && x"
      cwd: "${{ inputs.base_branch }}"
    capture:
      plan_path: "${{ result.plan_path }}"
    capture_list:
      parts: "${{ result.plan_parts }}"
    on_success: sprint
    on_context_limit: build
    retries: 0
    stale_threshold: 2400
    idle_output_timeout: 0
    note: Glob for parts.
  sprint:
    sub_recipe: sprint-prefix
    gate: open_pr
    on_success: build
    on_failure: done
  build:
    python: pkg.module.function
    optional: true
    skip_when_false: "inputs.open_pr"
    optional_context_refs: [later]
    block: gate
    on_result:
      - when: "${{ result.verdict }} == go"
        route: ask
      - route: plan
    on_failure: ask
  ask:
    action: confirm
    message: Merge?
    on_success: check
    on_failure: stop
  check:
    tool: test_check
    model: sonnet
    on_result:
      field: passed
      routes: {true: fixed, "no": stop}
    on_exhausted: escalate
  fixed:
    constant: 3
    capture: {n: 3}
  stop:
    action: stop
    message: Over.
"""

OWN = """\
name: own
checkrein_version: 1.2.0
workspace: "https://host/x.git"
kitchen_rules: []
steps:
  each:
    foreach: "${{ context.parts }}"
    as: part
    limit: 2
    steps:
      one:
        tool: run_cmd
        with: {cmd: "echo ${{ context.part }} && true"}
        effect: keyed
        queue: build
        timeout: 60
  both:
    parallel:
      left: {steps: {a: {action: wait, with: {seconds: 5}}}}
      right:
        b: {action: stop, message: x}
    limit: 1
"""


def read(text: str) -> tuple[Recipe | None, Log]:
    log = Log()
    return read_text(text, Origin("/p/r.yaml", "project"), log), log


def line(needle: str) -> int:
    return next(number for number, one in enumerate(SOURCE.splitlines(), 1) if needle in one)


def good(text: str) -> Recipe:
    recipe, log = read(text)
    assert list(log) == []
    assert recipe is not None
    return recipe


def test_a_recipe_of_the_source_loads_unchanged() -> None:
    recipe = good(SOURCE)
    assert (recipe.name, recipe.version, recipe.kind) == ("implement", "0.9.0", "standard")
    assert recipe.requires_packs == ("research",)
    assert recipe.kitchen_rules == ("NEVER use native tools",)
    assert [(one.name, one.required, one.default, one.hidden) for one in recipe.ingredients] == [
        ("task", True, None, False),
        ("open_pr", False, "true", False),
        ("base_branch", False, "", True),
    ]
    kinds = {one.name: (one.kind, one.subject) for one in recipe.steps}
    assert kinds == {
        "plan": ("tool", "run_skill"),
        "sprint": ("sub_recipe", "sprint-prefix"),
        "build": ("python", "pkg.module.function"),
        "ask": ("confirm", None),
        "check": ("tool", "test_check"),
        "fixed": ("constant", 3),
        "stop": ("stop", None),
    }
    plan = recipe.steps[0]
    assert plan.capture == {"plan_path": "${{ result.plan_path }}"}
    assert plan.capture_list == {"parts": "${{ result.plan_parts }}"}
    assert (plan.on_success, plan.on_context_limit, plan.on_exhausted) == ("sprint", "build", "escalate")
    assert (plan.retries, plan.stale_threshold, plan.idle_output_timeout) == (0, 2400, 0)
    build = recipe.steps[2]
    assert [(one.when, one.route) for one in build.on_result] == [
        ("${{ result.verdict }} == go", "ask"),
        (None, "plan"),
    ]
    assert (build.optional, build.optional_context_refs, build.block) == (True, ("later",), "gate")
    assert recipe.steps[5].capture == {"n": "3"}


def test_the_old_form_of_on_result_is_conditions() -> None:
    check = good(SOURCE).step("check")
    assert check is not None
    assert check.routes_field == "passed"
    assert [(one.when, one.route, one.origin.line) for one in check.on_result] == [
        ("${{ result.passed }} == 'true'", "fixed", line("routes:")),
        ("${{ result.passed }} == 'no'", "stop", line("routes:")),
    ]


def test_every_field_has_its_line() -> None:
    recipe = good(SOURCE)
    plan = recipe.steps[0]
    assert recipe.where("summary").line == line("summary:")
    assert recipe.ingredients[1].where("default").line == line("default: true")
    assert plan.origin.line == line("  plan:")
    assert plan.where("with.cwd").line == line("cwd:")
    assert plan.where("retries").line == line("retries:")
    assert plan.where("with.cwd").field == "$.steps.plan.with.cwd"
    assert recipe.steps[2].on_result[1].origin.line == line("- route: plan")
    assert recipe.where("missing").file == "/p/r.yaml"


def test_own_extensions() -> None:
    recipe = good(OWN)
    assert (recipe.version, recipe.workspace, recipe.kitchen_rules) == ("1.2.0", "https://host/x.git", ())
    each, both = recipe.steps
    assert (each.kind, each.subject, each.variable, each.limit) == (
        "foreach",
        "${{ context.parts }}",
        "part",
        2,
    )
    inner = each.branches[0].steps[0]
    assert (inner.effect, inner.queue, inner.timeout) == ("keyed", "build", 60)
    assert (inner.where("with.cmd").line, inner.origin.field) == (13, "$.steps.each.steps.one")
    assert [(one.name, one.steps[0].kind) for one in both.branches] == [("left", "wait"), ("right", "stop")]


CAMPAIGN = """\
name: two
kind: campaign
steps: {}
continue_on_failure: true
dispatches:
  - name: first
    recipe: implement
    task: Do it
    ingredients: {open_pr: "false"}
    capture: {url: "${{ result.url }}"}
  - {name: ask, gate: confirm, message: Go on?, depends_on: [first]}
"""


def test_campaigns() -> None:
    recipe = good(CAMPAIGN)
    assert (recipe.kind, recipe.continue_on_failure) == ("campaign", True)
    first, ask = recipe.dispatches
    assert (first.recipe, first.task, first.ingredients) == ("implement", "Do it", {"open_pr": "false"})
    assert (ask.gate, ask.message, ask.depends_on, ask.origin.line) == ("confirm", "Go on?", ("first",), 11)


@pytest.mark.parametrize(
    ("text", "code", "line", "said"),
    [
        ("name: [", "RECIPE001", 2, "not YAML"),
        ("- a", "RECIPE001", 1, "not a mapping"),
        ("", "RECIPE001", 1, "not a mapping"),
        ("name: a\nsteps: 3", "RECIPE002", 2, "`steps` must be a mapping"),
        ("name: a\nsteps:\n  x: 3", "RECIPE002", 3, "`x` must be a step"),
        (
            "name: a\nsteps:\n  x: {tool: t, retries: three}",
            "RECIPE002",
            3,
            "`retries` must be a whole number",
        ),
        ("name: a\nsteps:\n  x: {tool: [t]}", "RECIPE002", 3, "`tool` must be a text"),
        ("name: a\nsteps:\n  x: {action: jump}", "RECIPE002", 3, "one of route, stop, confirm, wait"),
        ("name: a\nsteps:\n  x: {tool: t, effect: twice}", "RECIPE002", 3, "one of pure, keyed, once"),
        ("name: a\nsteps:\n  x: {tool: t, on_result: y}", "RECIPE002", 3, "a list of {when, route}"),
        (
            "name: a\nsteps:\n  x:\n    tool: t\n    on_result:\n      - go: y",
            "RECIPE002",
            6,
            "`on_result[0]`",
        ),
        ("name: a\nkitchen_rules: {a: b}", "RECIPE002", 2, "`kitchen_rules` must be a list"),
        ("name: a\nkind: other", "RECIPE002", 2, "one of standard, campaign, food-truck"),
        ("name: a\ningredients:\n  x: y", "RECIPE002", 3, "`ingredients.x` must be a mapping"),
        ("name: a\ndispatches: {}", "RECIPE002", 2, "`dispatches` must be a list"),
        ("name: a\nstepz: {}", "RECIPE003", 2, "`stepz` is not a field here; `steps` is"),
        ("name: a\nsteps:\n  x: {tool: t, provider: p}", "RECIPE003", 3, "has no effect"),
        (
            "name: a\nsteps:\n  x: {tool: t}\n  x: {tool: u}",
            "RECIPE005",
            4,
            "`steps.x` appears more than once",
        ),
    ],
)
def test_what_is_wrong_has_code_and_line(text: str, code: str, line: int, said: str) -> None:
    recipe, log = read(text)
    assert [(one.code, one.origin.line) for one in log] == [(code, line)]
    assert said in log[0].message
    assert (recipe is None) == (code == "RECIPE001")


def test_the_old_retry_block_is_rejected_with_the_fix() -> None:
    _, log = read("name: a\nsteps:\n  x:\n    tool: t\n    retry: {max_attempts: 2, on_exhausted: y}\n")
    assert [(one.code, one.severity, one.origin.line) for one in log] == [("RECIPE004", "error", 5)]
    assert log[0].hint is not None
    assert "`retries: 2` and `on_exhausted: y`" in log[0].hint


def test_a_folder_with_a_broken_file_gives_the_rest(tmp_path: Path) -> None:
    (tmp_path / "sub-recipes").mkdir()
    (tmp_path / "contracts").mkdir()
    (tmp_path / "campaigns").mkdir()
    for name, text in {
        "b.yml": OWN,
        "a.yaml": "name: [",
        "no.md": "x",
        "sub-recipes/s.yaml": "steps: {}",
        "contracts/b.yaml": "x: y",
        "campaigns/c.yaml": CAMPAIGN,
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    log = Log((str(tmp_path),))
    found = read_folder(str(tmp_path), "project", log)
    assert [(one.name, one.is_sub_recipe) for one in found] == [
        ("own", False),
        ("two", False),
        ("s", True),
    ]
    assert sorted(one.code for one in log) == ["FILE003", "RECIPE001"]


_YAML = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "steps", "tool", "with", "on_result", "routes", "field", "parallel", "foreach"]
            )
            | st.sampled_from(["ingredients", "dispatches", "capture", "kitchen_rules", "action", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(_YAML, st.text(max_size=80))
def test_reading_never_raises(value: object, text: str) -> None:
    import yaml

    read(text)
    read(yaml.safe_dump({"name": "x", "steps": {"a": value}, "ingredients": value, "dispatches": value}))
    read(yaml.safe_dump(value))
