"""Where a memory lies, what of it is loaded, how it is stamped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.passes.load import load
from checkrein.runtime.memory.headlines import MAX_BYTES, MAX_LINES, loaded, memory_segment, size_of
from checkrein.runtime.memory.place import memory_dir
from checkrein.runtime.memory.writes import stamp


def place_of(root: Path, env: dict[str, str] | None = None, **settings: Any) -> str | None:
    values = {"HOME": str(root / "home"), "CHECKREIN_HOME": str(root / "checkrein"), **(env or {})}
    home = str(root / "home")
    return memory_dir(load(root / "repo", env=values, home=home, settings=settings or None), values)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo/.git").mkdir(parents=True)
    return tmp_path


def test_it_lies_beside_the_sessions(root: Path) -> None:
    name = str(root / "repo").replace("/", "-").replace("_", "-")
    assert place_of(root) == str(root / "checkrein/projects" / name / "memory")
    claude = place_of(root, {"CLAUDE_CONFIG_DIR": str(root / "claude")})
    assert claude == str(root / "claude/projects" / name / "memory")
    named = place_of(root, {"CLAUDE_CONFIG_DIR": str(root / "c"), "CLAUDE_CODE_PROJECT_DIR_NAME": "mine"})
    assert named == str(root / "c/projects/mine/memory")


def test_worktrees_and_subdirectories_share_it(root: Path) -> None:
    (root / "repo/sub").mkdir()
    tree = root / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {root}/repo/.git/worktrees/tree\n")
    (root / "repo/.git/worktrees/tree").mkdir(parents=True)
    (root / "repo/.git/worktrees/tree/gitdir").write_text(f"{tree}/.git\n")
    env = {"CHECKREIN_HOME": str(root / "checkrein")}
    found = {
        memory_dir(load(path, env=env, home=str(root / "home")), env)
        for path in (root / "repo", root / "repo/sub", tree)
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("env", "settings", "kept"),
    [
        ({}, {}, True),
        ({}, {"autoMemoryEnabled": False}, False),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, {}, False),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, {"autoMemoryEnabled": False}, True),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": ""}, {"autoMemoryEnabled": False}, False),
    ],
)
def test_switches(root: Path, env: dict[str, str], settings: dict[str, Any], kept: bool) -> None:
    assert (place_of(root, env, **settings) is not None) is kept


def test_another_directory(root: Path) -> None:
    assert place_of(root, autoMemoryDirectory="~/notes") == str(root / "home/notes")
    assert place_of(root, autoMemoryDirectory=str(root / "x")) == str(root / "x")
    assert place_of(root, autoMemoryDirectory="relative") == place_of(root)


@pytest.mark.parametrize("wide", ["/", "~/", "~/.claude", "@ROOT@", "@ROOT@/repo"])
def test_a_place_that_is_too_wide_is_not_taken(root: Path, wide: str) -> None:
    assert place_of(root, autoMemoryDirectory=wide.replace("@ROOT@", str(root))) == place_of(root)


@pytest.mark.parametrize(
    ("text", "lines", "cut"),
    [
        ("a\nb\n", 2, False),
        ("x\n" * MAX_LINES, MAX_LINES, False),
        ("x\n" * (MAX_LINES + 1), MAX_LINES, True),
        ("y" * 1023 + "\n", 1, False),
        (("y" * 1023 + "\n") * 26, 25, True),
        ("ü" * MAX_BYTES, 0, True),
    ],
)
def test_how_much_is_loaded(text: str, lines: int, cut: bool) -> None:
    shown, was_cut = loaded(text)
    assert (len(shown.splitlines()), was_cut) == (lines, cut)
    assert len(shown.encode()) <= MAX_BYTES


def test_the_segment(tmp_path: Path) -> None:
    assert "Contents of" not in memory_segment(str(tmp_path)).text
    (tmp_path / "MEMORY.md").write_text("- [tests](tests.md): run with -n 2\n")
    (tmp_path / "tests.md").write_text("TOPIC")
    segment = memory_segment(str(tmp_path))
    assert "run with -n 2" in segment.text
    assert "TOPIC" not in segment.text
    assert segment.pinned
    assert segment.origin is not None
    assert segment.origin.file == str(tmp_path / "MEMORY.md")


def test_sizes() -> None:
    assert not size_of("x\n" * 180).near
    assert size_of("x\n" * 181).near
    assert not size_of("x\n" * 200).over
    assert size_of("x\n" * 201).over
    assert size_of("x" * (MAX_BYTES + 1)).over


@pytest.mark.parametrize(
    ("text", "stamped"),
    [
        ("---\ntype: user\n---\nBody\n", "---\ntype: user\nmodified: T\n---\nBody\n"),
        ("---\nmodified: old\ntype: user\n---\nB", "---\nmodified: T\ntype: user\n---\nB"),
        ("---\n---\nB", "---\nmodified: T\n---\nB"),
        ("---\ntype: user\n---", "---\ntype: user\nmodified: T\n---"),
        ("no frontmatter\nmodified: x\n", "no frontmatter\nmodified: x\n"),
        ("---\nnever closed\n", "---\nnever closed\n"),
        ("---\na: 1\n---\nmodified: in the body\n", "---\na: 1\nmodified: T\n---\nmodified: in the body\n"),
    ],
)
def test_stamps(text: str, stamped: str) -> None:
    assert stamp(text, "T") == stamped
    assert stamp(stamped, "T") == stamped
