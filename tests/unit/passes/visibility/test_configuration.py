"""The keys of visibility: layers, defaults, warnings, and what each changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.facts.config import KEYS
from checkrein.facts.kitchen import categories
from checkrein.passes.load import load, session_view
from checkrein.passes.visibility.bundled_skills import PLUGIN, bundled_skills, default_tiers
from checkrein.passes.visibility.session_view import refusal_of
from support.sessions import home

Write = Callable[[str, object], Path]
OWN = "---\ndescription: d\ncategories: [rendering]\n---\nx"

pytestmark = pytest.mark.project({".claude/skills/own/SKILL.md": OWN})


def seen(project: Path) -> set[str]:
    return set(session_view(load(project)).skills)


def test_cfg_1_disabled_subsets_resolve_through_the_layers(
    project: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    home().mkdir()
    (home() / "config.toml").write_text('[subsets]\ndisabled = ["rendering"]\n')
    assert "own" not in seen(project)
    write("pyproject.toml", "[tool.checkrein.subsets]\ndisabled = []\n")
    assert "own" in seen(project)
    monkeypatch.setenv("CHECKREIN_SUBSETS__DISABLED", '["rendering"]')
    assert "own" not in seen(project)


def test_cfg_2_an_unknown_subset_warns_and_a_category_of_a_skill_is_known(
    project: Path, write: Write
) -> None:
    write("checkrein.toml", '[subsets]\ndisabled = ["rendering", "own-tag", "rendring"]\n'
          '[subsets.custom_tags]\nown-tag = ["own", "owm"]\n')  # fmt: skip
    told = {one.code: one.message for one in load(project).diagnostics if one.code.startswith("VIS")}
    assert told.keys() == {"VIS002", "VIS003"}
    assert ("`rendring`" in told["VIS003"], "'rendering'" in told["VIS003"]) == (True, True)
    assert ("`owm`" in told["VIS002"], "'own'" in told["VIS002"]) == (True, True)


def test_cfg_3_nothing_is_disabled_by_default(project: Path) -> None:
    found = {
        key.name: key.default for key in KEYS if key.name.startswith(("subsets.", "packs.", "skills.tier"))
    }
    assert found == {
        "skills.tier1": [],
        "skills.tier2": [],
        "skills.tier3": [],
        "subsets.disabled": [],
        "subsets.custom_tags": {},
        "packs.enabled": [],
    }
    assert load(project).governance is None


def test_cat_2_every_bundled_skill_outside_the_plugin_has_a_known_category() -> None:
    extended = [one for one in bundled_skills() if one.name in default_tiers(bundled_skills())]
    assert {one for skill in extended for one in skill.categories} >= {"github", "ci", "arch-lens", "audit"}
    for skill in extended:
        assert skill.categories, skill.name
        assert set(skill.categories) <= categories().keys()


def test_cat_3_a_custom_tag_hides_its_skills(project: Path, write: Write) -> None:
    write("checkrein.toml", '[subsets]\ndisabled = ["mine"]\ncustom_tags = {mine = ["own"]}\n')
    assert "own" not in seen(project)
    write("checkrein.toml", '[subsets]\ncustom_tags = {mine = ["own"]}\n')
    assert "own" in seen(project)


def test_packs_enabled_shows_a_pack(project: Path, write: Write) -> None:
    write(".claude/skills/deep/SKILL.md", "---\ndescription: d\ncategories: research\n---\nx")
    assert "deep" in seen(project), "without rules nothing is hidden"
    write("checkrein.toml", "[packs]\nenabled = []\n")
    assert "deep" not in seen(project)
    write("checkrein.toml", '[packs]\nenabled = ["research"]\n')
    assert "deep" in seen(project)
    assert "deep" in session_view(load(project), requires_packs=["research"]).skills


@pytest.mark.parametrize(
    "text",
    [
        "[skills]\ntier1 = 'own'\n",
        "[subsets]\ndisabled = {}\n",
        "[subsets]\ncustom_tags = ['x']\n",
        "[packs]\nenabled = 3\n",
        "tier1 = [broken",
        "[subsets]\ndisabled = ['\\u0000', '']\n[skills]\ntier3 = ['../../etc', '']\n",
    ],
)
def test_a_broken_configuration_hides_nothing_and_raises_nothing(
    project: Path, write: Write, text: str
) -> None:
    write("checkrein.toml", text)
    assert "own" in seen(project)


def test_a_disabled_skill_is_refused_before_anything_starts(project: Path, write: Write) -> None:
    write("checkrein.toml", '[subsets]\ndisabled = ["ci"]\n')
    loaded = load(project, bundled=True)
    refused = refusal_of(session_view(loaded, "headless", target="diagnose-ci"), "diagnose-ci")
    assert refused == "the subset `ci` is disabled (subsets.disabled)"
    assert refusal_of(session_view(loaded, "headless", target="audit-tests"), "audit-tests") is None
    assert refusal_of(session_view(loaded), "audit-tests") is not None


def test_malformed_categories_are_none(project: Path, write: Write) -> None:
    write("checkrein.toml", '[subsets]\ndisabled = ["github"]\n')
    write(".claude/skills/own/SKILL.md", "---\ndescription: d\ncategories: {a: github}\n---\nx")
    assert "own" in seen(project)
    write(".claude/skills/own/SKILL.md", "---\ndescription: d\ncategories: ci, github\n---\nx")
    assert "own" not in seen(project)


def test_promotion_names_only_what_it_moves() -> None:
    """The default tiers are not lists that a later layer would replace."""
    assert {path.parent.name for path in PLUGIN.glob("skills_extended/*/SKILL.md")} == default_tiers(
        bundled_skills()
    ).keys()


def test_an_administrators_skill_stays_whatever_a_project_says(
    project: Path, write: Write, tmp_path: Path
) -> None:
    managed = tmp_path / "managed"
    (managed / ".claude" / "skills" / "secure").mkdir(parents=True)
    (managed / ".claude" / "skills" / "secure" / "SKILL.md").write_text("---\ncategories: [ci]\n---\nx")
    write("checkrein.toml", '[skills]\ntier3 = ["secure"]\n[subsets]\ndisabled = ["ci"]\n')
    assert "secure" in session_view(load(project, managed_dir=str(managed))).skills
