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
def project(tmp_path: Path) -> Project:
    files = {
        "home/.claude/skills/one/SKILL.md": skill("U", description="The user's"),
        "repo/.claude/skills/one/SKILL.md": skill("P", description="The project's"),
        "repo/.claude/skills/folder/SKILL.md": skill("F", name="another", description="d"),
        "repo/.claude/skills/plain/SKILL.md": "# Plain\n\nThe first paragraph.\n\nThe second.\n",
        "repo/.claude/skills/manual/SKILL.md": skill("M", description="d", disable_model_invocation="true"),
        "repo/.claude/skills/silent/SKILL.md": skill("S", description="d", user_invocable="false"),
        "repo/.claude/skills/scoped/SKILL.md": skill("S", description="d", paths="src/**"),
        "repo/.claude/skills/group/inner/SKILL.md": skill("D", description="too deep"),
        "repo/pkg/.claude/skills/nested/SKILL.md": skill("N", description="below"),
        "repo/.claude/commands/ns/inner.md": skill("C", description="d"),
        "repo/.claude/commands/manual.md": skill("C", description="behind a skill"),
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "repo/.git").mkdir()
    return load(tmp_path / "repo", env={}, home=str(tmp_path / "home"), managed_dir=str(tmp_path / "managed"))


def test_names_come_from_folders(project: Project) -> None:
    assert sorted(project.skills) == ["folder", "manual", "one", "plain", "scoped", "silent"]
    assert project.skills["folder"].item.display_name == "another"
    assert list(project.commands) == ["ns:inner"]


def test_the_users_skill_shadows_the_projects(project: Project) -> None:
    resolved = project.skills["one"]
    assert resolved.item.description == "The user's"
    assert [(c.item.description, c.lost) for c in resolved.candidates] == [
        ("The user's", None),
        ("The project's", "the user's skill of the same name wins over the project's"),
    ]


def test_without_frontmatter_the_first_paragraph_is_the_description(project: Project) -> None:
    assert project.skills["plain"].item.summary == "The first paragraph."


def test_who_may_use_it(project: Project) -> None:
    manual, silent = project.skills["manual"].item, project.skills["silent"].item
    assert (manual.model_invocable, manual.user_invocable) == (False, True)
    assert (silent.model_invocable, silent.user_invocable) == (True, False)


def test_a_skill_with_paths_waits_for_a_file(project: Project) -> None:
    assert project.skills["scoped"].item.paths == ("src/**",)


def test_a_skill_beats_a_command_of_its_name(project: Project) -> None:
    (lost,) = [c for c in project.inactive if c.item.origin.file.endswith("commands/manual.md")]
    assert lost.lost is not None
    assert lost.lost.startswith("the skill of the same name wins")


def test_a_skill_that_lies_too_deep_is_reported(project: Project) -> None:
    (found,) = [d for d in project.diagnostics if d.code == "FILE007"]
    assert "`inner`" in found.message
