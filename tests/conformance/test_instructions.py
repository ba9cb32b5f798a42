"""Instruction files as the product was observed to load them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.model.project import Project
from checkrein.passes.load import load


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def read(root: Path, start: str = "repo") -> Project:
    (root / "repo" / ".git").mkdir(parents=True, exist_ok=True)
    return load(root / start, env={}, home=str(root / "home"), managed_dir=str(root / "managed"))


def at_start(project: Project, root: Path) -> list[str]:
    return [str(Path(item.name).relative_to(root)) for item in project.instructions if not item.lazy]


def test_order_from_a_directory_below_the_root(tmp_path: Path) -> None:
    names = [
        "home/.claude/CLAUDE.md",
        "home/.claude/rules/a.md",
        "repo/CLAUDE.md",
        "repo/.claude/CLAUDE.md",
        "repo/.claude/rules/nested/deep.md",
        "repo/.claude/rules/top.md",
        "repo/CLAUDE.local.md",
        "repo/sub/CLAUDE.md",
        "repo/sub/.claude/CLAUDE.md",
        "repo/sub/deep/CLAUDE.md",
        "repo/sub/deep/CLAUDE.local.md",
    ]
    write(tmp_path, {name: f"Text of {name}" for name in names})
    write(
        tmp_path,
        {
            "repo/sub/deep/below/CLAUDE.md": "not at start",
            "repo/.claude/rules/lazy.md": "---\npaths: src/**\n---\nlater",
            "repo/AGENTS.md": "not read",
        },
    )
    project = read(tmp_path, "repo/sub/deep")
    assert at_start(project, tmp_path) == names
    lazy = [item for item in project.instructions if item.lazy]
    assert [(Path(item.name).name, item.paths, item.text) for item in lazy] == [
        ("lazy.md", ("src/**",), "later")
    ]
    reasons = {Path(c.item.origin.file).name: c.lost for c in project.inactive}
    assert "does not read AGENTS.md" in (reasons["AGENTS.md"] or "")


def test_imports_follow_their_importer_depth_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "repo/CLAUDE.md": "See @docs/a.md and @./docs/b.md here.",
            "repo/docs/a.md": "A @c.md",
            "repo/docs/b.md": "B",
            "repo/docs/c.md": "C",
        },
    )
    project = read(tmp_path)
    assert at_start(project, tmp_path) == [
        "repo/CLAUDE.md",
        "repo/docs/a.md",
        "repo/docs/c.md",
        "repo/docs/b.md",
    ]
    imported = {Path(item.name).name: item.imported_by for item in project.instructions}
    assert imported["c.md"] == str(tmp_path / "repo/docs/a.md")


@pytest.mark.parametrize("target", ["~/home.md", "/etc/hostname", "../out.md"])
def test_imports_that_leave_the_project_are_not_followed(tmp_path: Path, target: str) -> None:
    write(tmp_path, {"repo/CLAUDE.md": f"@{target}", "home/home.md": "H", "out.md": "O"})
    project = read(tmp_path)
    assert at_start(project, tmp_path) == ["repo/CLAUDE.md"]
    if Path(target).exists() or not target.startswith("/"):
        assert [found.code for found in project.diagnostics] == ["IMP002"]


def test_imports_of_the_users_own_file_may_go_anywhere(tmp_path: Path) -> None:
    write(tmp_path, {"home/.claude/CLAUDE.md": "@~/home.md", "home/home.md": "H"})
    assert at_start(read(tmp_path), tmp_path) == ["home/.claude/CLAUDE.md", "home/home.md"]


@pytest.mark.parametrize("text", ["@missing.md", "`@x.md`", "```\n@x.md\n```", "    @x.md", "me@x.md"])
def test_mentions_that_are_no_imports(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"repo/CLAUDE.md": f"Text\n\n{text}\n", "repo/x.md": "X"})
    project = read(tmp_path)
    assert at_start(project, tmp_path) == ["repo/CLAUDE.md"]
    assert [found.code for found in project.diagnostics] == (["IMP001"] if "missing" in text else [])


def test_a_chain_is_followed_four_files_deep(tmp_path: Path) -> None:
    write(tmp_path, {"repo/CLAUDE.md": "@d1.md"} | {f"repo/d{n}.md": f"@d{n + 1}.md" for n in range(1, 10)})
    project = read(tmp_path)
    assert at_start(project, tmp_path) == ["repo/CLAUDE.md", *(f"repo/d{n}.md" for n in range(1, 5))]
    assert [found.code for found in project.diagnostics] == ["IMP003"]


def test_a_cycle_and_a_second_import_add_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"repo/CLAUDE.md": "@a.md @b.md @a.md", "repo/a.md": "@CLAUDE.md", "repo/b.md": "@a.md"})
    project = read(tmp_path)
    assert at_start(project, tmp_path) == ["repo/CLAUDE.md", "repo/a.md", "repo/b.md"]
    assert {found.code for found in project.diagnostics} == {"IMP004"}


def test_block_comments_are_removed_and_inline_ones_kept(tmp_path: Path) -> None:
    text = "One\n<!-- gone\n@x.md -->\nTwo <!-- stays --> three\n\n```\n<!-- code -->\n```\n"
    write(tmp_path, {"repo/CLAUDE.md": text, "repo/x.md": "X"})
    (item,) = read(tmp_path).instructions
    assert item.text == "One\nTwo <!-- stays --> three\n\n```\n<!-- code -->\n```\n"


def test_an_imported_agents_file_is_loaded(tmp_path: Path) -> None:
    write(tmp_path, {"repo/CLAUDE.md": "@AGENTS.md", "repo/AGENTS.md": "Agents"})
    assert at_start(read(tmp_path), tmp_path) == ["repo/CLAUDE.md", "repo/AGENTS.md"]
