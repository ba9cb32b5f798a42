"""No rule raises on any recipe, however wrong, and every finding has a file and a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from checkrein.base.origin import Origin, Span
from checkrein.facts.kitchen import PullState, kitchen_tools
from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.project import Candidate, Project, Resolved
from checkrein.model.recipe import Arm, Branch, Dispatch, Ingredient, Recipe, RecipeKind, Step, StepKind
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.table import checks
from checkrein.passes.load import load
from checkrein.passes.recipes.library import Library, library_of

PLACE = Origin("recipe.yaml", "project", Span(1))
FACTS = rule_facts()
RULES = [one for code, one in checks().items() if code.startswith("RCP") and code >= "RCP040"]
NAMES = st.sampled_from(["a", "b", "c", "commit", "done", "escalate", "", "x y"])
SKILLS = sorted({*FACTS.skills.worktree, *FACTS.skills.audits, *FACTS.skills.opens_pull, "design", "none"})
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "${{ context.a }}",
            "${{ context.b | trim }} and ${{ inputs.a }}",
            "${{ result.worktree_path }}",
            "${{ result.clone_path }}",
            "${{ inputs.source_dir }}",
            "${{ campaign.a }}",
            "${{ result.failed_step }} == rebase",
            "${{ context.a }} == go or ${{ result.pr_state }} == merged",
            "${{ ${{",
            "${{ }}",
            "git rebase main && git push origin HEAD",
            "gh api x | head -1; find . | sort | tail -1",
            "true",
            "always",
        ]
    ),
    st.sampled_from([f"== {state}" for state in get_args(PullState)]),
    st.text(max_size=12),
)
COMMANDS = st.one_of(
    st.builds("/{} {}".format, st.sampled_from(SKILLS), TEXTS),
    st.builds("/checkrein:{}".format, st.sampled_from(SKILLS)),
    TEXTS,
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXTS, inner, max_size=2)),
    max_leaves=4,
)
ARGUMENTS = [
    "skill_command",
    "cwd",
    "cmd",
    "worktree_path",
    "base_branch",
    "event",
    "workflow",
    "force",
    "keep",
    "remote_url",
]
WITH = st.dictionaries(
    st.sampled_from([*ARGUMENTS, "clone_path", "source_dir", "strategy"]), VALUES, max_size=4
)
CAPTURE = st.dictionaries(
    st.sampled_from(["a", "b", "plan_parts", "worktree_path", "clone_path"]), TEXTS, max_size=2
)
TOOLS = st.sampled_from(
    [*kitchen_tools(), "Bash", "mcp__x__y", "nonsense", "run_skill", "merge_worktree", "run_cmd"]
)
TARGET = st.one_of(st.none(), NAMES)
ARMS = st.lists(
    st.builds(Arm, route=NAMES, when=st.one_of(st.none(), TEXTS), origin=st.just(PLACE)), max_size=3
)


def steps(depth: int) -> st.SearchStrategy[tuple[Step, ...]]:
    body = steps(depth - 1) if depth else st.just(())
    branches = st.lists(
        st.builds(Branch, name=NAMES, steps=body, origin=st.just(PLACE)), max_size=2 if depth else 0
    )
    one = st.builds(
        _step,
        name=NAMES,
        kind=st.sampled_from([*["tool"] * 8, *get_args(StepKind)]),
        tool=TOOLS,
        other=VALUES,
        command=COMMANDS,
        with_args=WITH,
        capture=CAPTURE,
        capture_list=CAPTURE,
        on_success=TARGET,
        on_failure=TARGET,
        on_context_limit=TARGET,
        on_result=ARMS.map(tuple),
        routes_field=st.one_of(st.none(), TEXTS),
        retries=st.integers(-1, 3),
        optional=st.booleans(),
        skip_when_false=st.one_of(st.none(), st.just("inputs.a"), TEXTS),
        message=st.one_of(st.none(), TEXTS),
        note=st.one_of(st.none(), st.just("glob all parts, in order")),
        model=st.one_of(st.none(), TEXTS),
        block=st.one_of(st.none(), st.sampled_from(["pre_queue_gate", "x"])),
        gate=st.one_of(st.none(), TEXTS),
        variable=st.one_of(st.none(), NAMES),
        branches=branches.map(tuple),
    )
    return st.lists(one, max_size=5).map(tuple)


def _step(
    kind: StepKind, tool: str, other: Any, command: str, with_args: dict[str, Any], **fields: Any
) -> Step:
    arguments = {**with_args, "skill_command": command} if tool == "run_skill" else with_args
    subject = tool if kind == "tool" else other
    return Step(origin=PLACE, kind=kind, subject=subject, with_args=arguments, **fields)


INGREDIENTS = st.builds(
    Ingredient,
    name=st.sampled_from(["a", "task", "source_dir", "output_mode", "run_mode"]),
    origin=st.just(PLACE),
    description=TEXTS,
    required=st.booleans(),
    default=st.one_of(st.none(), TEXTS),
    hidden=st.booleans(),
)
DISPATCHES = st.builds(
    Dispatch,
    name=NAMES,
    origin=st.just(PLACE),
    recipe=st.one_of(st.none(), st.sampled_from(["research", "other", "nothing"])),
    task=st.one_of(st.none(), TEXTS),
    ingredients=st.dictionaries(TEXTS, VALUES, max_size=2),
    depends_on=st.lists(NAMES, max_size=2).map(tuple),
    capture=st.dictionaries(TEXTS, TEXTS, max_size=2),
    gate=st.one_of(st.none(), TEXTS, st.just("confirm")),
    message=st.one_of(st.none(), TEXTS),
    skip_when=st.one_of(st.none(), TEXTS),
)
RECIPES = st.builds(
    Recipe,
    name=st.just("research"),
    origin=st.just(PLACE),
    kind=st.sampled_from(get_args(RecipeKind)),
    version=st.one_of(st.none(), TEXTS, st.sampled_from(["0.1", "v99", "1.x"])),
    ingredients=st.lists(INGREDIENTS, max_size=3).map(tuple),
    steps=steps(1),
    kitchen_rules=st.one_of(st.none(), st.lists(TEXTS, max_size=2).map(tuple)),
    requires_packs=st.lists(TEXTS, max_size=2).map(tuple),
    dispatches=st.lists(DISPATCHES, max_size=3).map(tuple),
    requires_recipe_packs=st.lists(TEXTS, max_size=1).map(tuple),
    allowed_recipes=st.lists(TEXTS, max_size=1).map(tuple),
    is_sub_recipe=st.booleans(),
)


@pytest.fixture(scope="module")
def skilled(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose skills have contracts, one of them broken."""
    root = tmp_path_factory.mktemp("project")
    (root / ".git").mkdir()
    contracts = {
        "design": "outputs: [{name: plan_parts, type: file_path_list}]\nwrite_behavior: always\n",
        "audit-impl": "outputs: [{name: verdict, allowed_values: [go, stop]}]\nwrite_behavior: sometimes\n",
        "fix-ci": "inputs: [{name: a, required: true}]\n"
        "expected_output_patterns: ['(']\npattern_examples: [x]\n",
    }
    for name, contract in contracts.items():
        folder = root / ".claude" / "skills" / name
        folder.mkdir(parents=True)
        body = "```bash\ngit push origin {x}\n```\nIf there is nothing to do, stop.\n"
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: x\n---\n{body}")
        (folder / "contract.yaml").write_text(contract)
    return load(root, env={"HOME": str(root)}, home=str(root), managed_dir=str(root / "managed"))


@pytest.fixture(scope="module")
def library(skilled: Project) -> Library:
    return library_of(skilled)


def found(recipe: Recipe, project: Project, library: Library) -> Iterator[Any]:
    held = {recipe.name: Resolved(recipe.name, recipe, (Candidate(recipe),))}
    own = replace(
        library, recipes={**library.recipes, **held}, sub_recipes=held if recipe.is_sub_recipe else {}
    )
    subject = Subject(replace(project, recipes=held, sub_recipes=held if recipe.is_sub_recipe else {}))
    subject.library = own
    for rule in RULES:
        yield from rule.diagnostics(subject)


@settings(max_examples=40, deadline=None)
@given(recipe=RECIPES)
def test_no_rule_raises(recipe: Recipe, skilled: Project, library: Library) -> None:
    for diagnostic in found(recipe, skilled, library):
        assert diagnostic.origin.line is not None, diagnostic
        assert Path(diagnostic.origin.file).name
        assert diagnostic.message


def test_the_rules_do_find(skilled: Project, library: Library) -> None:
    wrong = Step(name="a", origin=PLACE, kind="tool", subject="nonsense", on_success="a")
    recipe = Recipe(name="research", origin=PLACE, steps=(wrong,))
    assert {one.code for one in found(recipe, skilled, library)} >= {"RCP048", "RCP070"}
