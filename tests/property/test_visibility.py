"""What the rules of visibility refuse before a session is what the session refuses; and they only narrow."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.errors import CheckreinError
from checkrein.base.origin import Origin
from checkrein.facts.kitchen import kitchen_tools
from checkrein.llm.cancel import Cancel
from checkrein.model.project import MODES, TIERS, Governance, Placement, Project, SessionMode
from checkrein.model.view import Visibility
from checkrein.passes.load import load
from checkrein.passes.visibility.session_view import default_governance, governed_view, invocables, sights_of
from checkrein.passes.visibility.sights import disabled_subsets
from checkrein.passes.visibility.tool_visibility import Kitchen, visible_tools
from checkrein.runtime.skills.listing import make_listing
from checkrein.runtime.tools.port import Aside
from support.files import lay
from support.sessions import open_session

CATEGORIES = ("github", "ci", "clone", "telemetry", "arch-lens", "audit", "research", "own")
QUICK = settings(max_examples=60, derandomize=True)
HERE = Origin("/checkrein.toml", "project")
FILES = {
    ".git/": None,
    ".claude/skills/a/SKILL.md": "---\ndescription: d\ncategories: [own]\nactivate_deps: [b, audit]\n---\nA",
    ".claude/skills/b/SKILL.md": "---\ndescription: d\nactivate_deps: [a, nowhere]\n---\nB",
    ".claude/skills/diagnose-ci/SKILL.md": "---\ndescription: d\ncategories: [ci, research]\n---\nOURS",
    ".checkrein/skills/c/SKILL.md": "---\ndescription: d\ndisable-model-invocation: true\n---\nC",
    ".claude/commands/d.md": "---\ndescription: d\ncategories: [research]\n---\nD",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("visibility")
    home = root / "home"
    home.mkdir()
    lay(root / "project", FILES)
    return load(root / "project", bundled=True, home=str(home), env={"CHECKREIN_HOME": str(home)})


NAMES = (
    "a",
    "b",
    "c",
    "d",
    "diagnose-ci",
    "audit-tests",
    "lens-boundaries",
    "review-changes",
    "open-kitchen",
)


@st.composite
def rules(draw: st.DrawFn) -> Visibility:
    placed = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TIERS), max_size=5))
    mode = draw(st.sampled_from(MODES))
    return Visibility(
        governance=Governance(
            tiers={name: Placement(tier, HERE) for name, tier in placed.items()},
            disabled=tuple(draw(st.sets(st.sampled_from((*CATEGORIES, "tag")), max_size=3))),
            custom_tags={"tag": tuple(draw(st.sets(st.sampled_from(NAMES), max_size=3)))},
            packs=default_governance().packs,
            enabled=tuple(draw(st.sets(st.sampled_from(CATEGORIES), max_size=2))),
        ),
        mode=mode,
        target=draw(st.sampled_from(NAMES)) if mode == "headless" else None,
        requires_packs=frozenset(draw(st.sets(st.sampled_from(CATEGORIES), max_size=1))),
    )


@settings(max_examples=12, derandomize=True)
@given(of=rules())
def test_a_session_refuses_exactly_what_the_rules_refuse(whole: Project, of: Visibility) -> None:
    view = governed_view(whole, of)
    sights = sights_of(whole, of)
    items = invocables(whole)
    loadable = {
        name
        for name, one in sights.items()
        if one.is_visible and not one.is_quiet and items[name].model_invocable
    }
    typed = {name for name, one in sights.items() if one.is_visible and items[name].user_invocable}
    assert set(make_listing(view, window=None, env={}).names) == loadable
    with open_session(view, persist=False) as session:
        invoker = session.conversation.skills.invoker
        aside = Aside(Cancel(), lambda event: None, "call")
        by_model, by_user = set(), set()
        for name in sights:
            for done, way in ((by_model, invoker.by_model), (by_user, invoker.by_user)):
                try:
                    way(name, "", aside)
                except CheckreinError:
                    continue
                done.add(name)
    assert by_model == loadable
    assert by_user == typed


def seen(project: Project, of: Visibility) -> set[str]:
    return {name for name, one in sights_of(project, of).items() if one.is_visible}


def changed(of: Visibility, **more: object) -> Visibility:
    from msgspec.structs import replace

    return replace(of, governance=replace(of.governance, **more))


@QUICK
@given(of=rules(), category=st.sampled_from((*CATEGORIES, "tag")), mode=st.sampled_from(MODES))
def test_rules_only_narrow(whole: Project, of: Visibility, category: str, mode: SessionMode) -> None:
    from msgspec.structs import replace

    now = seen(whole, of)
    assert seen(whole, changed(of, disabled=(*of.governance.disabled, category))) <= now
    assert seen(whole, changed(of, enabled=(*of.governance.enabled, category))) >= now
    assert now <= seen(whole, replace(of, mode="cook", target=None))
    assert seen(whole, replace(of, mode="plain", target=None)) <= seen(whole, replace(of, mode=mode))


def test_tools_only_narrow() -> None:
    off = [frozenset(), frozenset({"github"}), frozenset({"github", "ci", "clone", "telemetry"})]
    for mode, is_open, (less, more) in product(MODES, (False, True), pairwise(off)):
        wide = set(visible_tools(Kitchen(mode=mode, is_open=is_open, disabled=less)))
        assert set(visible_tools(Kitchen(mode=mode, is_open=is_open, disabled=more))) <= wide
        assert set(visible_tools(Kitchen(mode=mode, is_open=False, disabled=less))) <= wide
        assert wide <= kitchen_tools().keys()


@QUICK
@given(of=rules())
def test_skills_and_tools_have_the_same_disabled_subsets(whole: Project, of: Visibility) -> None:
    """A category that hides a skill of a plain session hides the tools of that category too."""
    hidden = disabled_subsets(of)
    for sight in sights_of(whole, of).values():
        if of.mode != "cook":
            assert (sight.rule in ("subset", "pack")) == bool(hidden & set(sight.categories))


def test_the_files_of_the_project_are_all_used(whole: Project) -> None:
    assert {"a", "b", "c", "diagnose-ci"} <= whole.skills.keys()
    assert "d" in whole.commands
    assert Path(whole.skills["diagnose-ci"].item.origin.file).parts[-4] == ".claude"
