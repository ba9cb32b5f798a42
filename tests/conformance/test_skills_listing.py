"""Skills and commands of one project as the product was observed to list them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.model.project import Project
from checkrein.passes.load import load


def skill(text: str, **fields: str) -> str:
    head = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return f"---\n{head}---\n{text}" if head else text


@pytest.fixture
def loaded(project: Path, tmp_path: Path, _own_home: Path) -> Project:
    return load(project, env={}, home=str(_own_home), managed_dir=str(tmp_path / "managed"))


pytestmark = pytest.mark.project(
    {
        ".claude/skills/one/SKILL.md": skill("P", description="The project's"),
        ".claude/skills/folder/SKILL.md": skill("F", name="another", description="d"),
        ".claude/skills/plain/SKILL.md": "# Plain\n\nThe first paragraph.\n\nThe second.\n",
        ".claude/skills/manual/SKILL.md": skill("M", description="d", disable_model_invocation="true"),
        ".claude/skills/silent/SKILL.md": skill("S", description="d", user_invocable="false"),
        ".claude/skills/scoped/SKILL.md": skill("S", description="d", paths="src/**"),
        ".claude/skills/group/inner/SKILL.md": skill("D", description="too deep"),
        "pkg/.claude/skills/nested/SKILL.md": skill("N", description="below"),
        ".claude/commands/ns/inner.md": skill("C", description="d"),
        ".claude/commands/manual.md": skill("C", description="behind a skill"),
    },
    home={".claude/skills/one/SKILL.md": skill("U", description="The user's")},
)


def test_names_come_from_folders(loaded: Project) -> None:
    assert sorted(loaded.skills) == ["folder", "manual", "one", "plain", "scoped", "silent"]
    assert loaded.skills["folder"].item.display_name == "another"
    assert list(loaded.commands) == ["ns:inner"]


def test_the_users_skill_shadows_the_projects(loaded: Project) -> None:
    resolved = loaded.skills["one"]
    assert resolved.item.description == "The user's"
    assert [(c.item.description, c.lost) for c in resolved.candidates] == [
        ("The user's", None),
        ("The project's", "the user's skill of the same name wins over the project's"),
    ]


def test_without_frontmatter_the_first_paragraph_is_the_description(loaded: Project) -> None:
    assert loaded.skills["plain"].item.summary == "The first paragraph."


def test_who_may_use_it(loaded: Project) -> None:
    manual, silent = loaded.skills["manual"].item, loaded.skills["silent"].item
    assert (manual.model_invocable, manual.user_invocable) == (False, True)
    assert (silent.model_invocable, silent.user_invocable) == (True, False)


def test_a_skill_with_paths_waits_for_a_file(loaded: Project) -> None:
    assert loaded.skills["scoped"].item.paths == ("src/**",)


def test_a_skill_beats_a_command_of_its_name(loaded: Project) -> None:
    (lost,) = [c for c in loaded.inactive if c.item.origin.file.endswith("commands/manual.md")]
    assert lost.lost is not None
    assert lost.lost.startswith("the skill of the same name wins")


def test_a_skill_that_lies_too_deep_is_reported(loaded: Project) -> None:
    (found,) = [d for d in loaded.diagnostics if d.code == "FILE007"]
    assert "`inner`" in found.message
