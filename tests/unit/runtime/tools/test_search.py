from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

Desk = Any


@pytest.fixture
def tree(desk: Desk) -> Desk:
    for age, name in enumerate(
        ["src/a.py", "src/deep/b.py", "README.md", ".env", "ignored/c.py", "src/d.ts"]
    ):
        path = desk.file(name, f"alpha {name}\nbeta\ngamma Beta\n")
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    desk.file(".gitignore", "ignored/\n")
    desk.file(".git/config", "alpha\n")
    os.utime(desk.root / ".gitignore", (1, 1))
    return desk


def glob(desk: Desk, pattern: str, **more: Any) -> list[str]:
    found: list[str] = desk.run("Glob", {"pattern": pattern, **more}, (".",)).structured["filenames"]
    return found


def grep(desk: Desk, pattern: str, **more: Any) -> Any:
    return desk.run("Grep", {"pattern": pattern, **more}, (".",))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["ignored/c.py", "src/deep/b.py", "src/a.py"]),
        ("**/*.py", ["ignored/c.py", "src/deep/b.py", "src/a.py"]),
        ("src/*.py", ["src/a.py"]),
        ("src/**", ["src/d.ts", "src/deep/b.py", "src/a.py"]),
        ("src/**/*.{py,ts}", ["src/d.ts", "src/deep/b.py", "src/a.py"]),
        ("src/a.py", ["src/a.py"]),
        ("./src/*.ts", ["src/d.ts"]),
        (".env", [".env"]),
        ("*.none", []),
    ],
)
def test_files_by_name_newest_first(tree: Desk, pattern: str, expected: list[str]) -> None:
    assert glob(tree, pattern) == expected


def test_glob_in_a_directory_and_by_absolute_pattern(tree: Desk) -> None:
    assert glob(tree, "*.py", path="src") == ["src/deep/b.py", "src/a.py"]
    assert glob(tree, f"{tree.root}/src/*.py") == ["src/a.py"]
    assert glob(tree, "~/src/*.py") == ["src/a.py"]


def test_a_pattern_can_be_approved_by_itself(tree: Desk, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "x.conf").write_text("")
    pattern = f"{tmp_path}/far/*.conf"
    done = tree.run("Glob", {"pattern": pattern}, (".", pattern))
    assert done.structured["filenames"] == [f"{tmp_path}/far/x.conf"]
    assert "was not approved" in tree.failure("Glob", {"pattern": f"{tmp_path}/far/*"}, (".", pattern))


def test_glob_leaves_out_version_control_unless_named(tree: Desk) -> None:
    assert glob(tree, "config") == []
    assert glob(tree, ".git/*") == [".git/config"]


def test_glob_shows_a_hundred(desk: Desk) -> None:
    for number in range(105):
        desk.file(f"f{number}.txt", "")
    done = desk.run("Glob", {"pattern": "*.txt"}, (".",))
    assert (done.structured["numFiles"], done.structured["truncated"]) == (100, True)
    assert done.structured["totalMatches"] == 105
    assert "100 of 105" in done.content


def test_glob_can_obey_gitignore(tree: Desk) -> None:
    tree.file(".git/HEAD", "ref: refs/heads/main\n")
    tree.env["CLAUDE_CODE_GLOB_NO_IGNORE"] = "false"
    assert "ignored/c.py" not in glob(tree, "*.py")


def test_nothing_is_found_outside(tree: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("alpha")
    (tree.root / "out").symlink_to(tmp_path)
    assert glob(tree, "**/secret.txt") == []
    assert "was not approved" in tree.failure("Glob", {"pattern": "../*.txt"}, (".",))
    assert "was not approved" in tree.failure("Glob", {"pattern": "out/*.txt"}, (".",))
    assert "was not approved" in tree.failure("Grep", {"pattern": "a", "path": "out"}, (".",))
    assert "secret" not in grep(tree, "alpha").content


def test_denied_files_are_not_found(tree: Desk) -> None:
    def may_read(path: str) -> bool:
        return not path.endswith((".env", "b.py"))

    hidden = {"may_read": may_read}
    assert ".env" not in tree.run("Glob", {"pattern": "*"}, (".",), **hidden).content
    for mode in ("files_with_matches", "content", "count"):
        done = tree.run("Grep", {"pattern": "alpha", "output_mode": mode, "-C": 1}, (".",), **hidden)
        assert "a.py" in done.content
        assert ".env" not in done.content
        assert "b.py" not in done.content
    single = tree.run(
        "Grep", {"pattern": "alpha", "path": ".env", "output_mode": "content"}, (".env",), **hidden
    )
    assert single.content == "No matches found"


def test_files_with_matches(tree: Desk) -> None:
    tree.file(".git/HEAD", "ref: refs/heads/main\n")
    done = grep(tree, "alpha")
    assert done.structured["filenames"] == ["src/d.ts", ".env", "README.md", "src/deep/b.py", "src/a.py"]
    assert done.content.startswith("Found 5 files\n")


def test_content_with_numbers_and_context(tree: Desk) -> None:
    done = grep(tree, "^beta", path="src/a.py", output_mode="content", **{"-C": 1})
    assert done.content == "src/a.py-1-alpha src/a.py\nsrc/a.py:2:beta\nsrc/a.py-3-gamma Beta"
    plain = grep(tree, "^beta", path="src/a.py", output_mode="content", **{"-n": False})
    assert plain.content == "src/a.py:beta"
    only = grep(tree, "be..", path="src", glob="*.py", output_mode="content", **{"-o": True, "-i": True})
    assert sorted(only.content.split("\n"))[:2] == ["src/a.py:2:beta", "src/a.py:3:Beta"]


def test_counts_cover_everything(tree: Desk) -> None:
    done = grep(tree, "beta", path="src", output_mode="count", head_limit=1, **{"-i": True})
    assert done.structured["numMatches"] == 6
    assert done.structured["numFiles"] == 3
    assert len(done.structured["content"].split("\n")) == 1


def test_filters(tree: Desk) -> None:
    assert grep(tree, "alpha", path="src", type="ts").structured["filenames"] == ["src/d.ts"]
    found = grep(tree, "alpha", path="src", glob="*.{ts,js}, a.py").structured["filenames"]
    assert found == ["src/d.ts", "src/a.py"]
    assert grep(tree, "beta.gamma", path="src/a.py", multiline=True).structured["numFiles"] == 1
    assert grep(tree, "beta.gamma", path="src/a.py").structured["numFiles"] == 0


def test_pages(tree: Desk) -> None:
    first = grep(tree, "a", path="src", output_mode="content", head_limit=2)
    assert first.structured["appliedLimit"] == 2
    assert first.content.endswith("(1-2 of 9; offset=2 shows more)")
    later = grep(tree, "a", path="src", output_mode="content", head_limit="0", offset=8)
    assert later.structured["numLines"] == 1
    assert "no entries at this offset" in grep(tree, "a", path="src", offset=100).content
    assert grep(tree, "zzz").content == "No files found"


def test_rg_s_own_words_on_an_error(tree: Desk) -> None:
    assert "unclosed group" in tree.failure("Grep", {"pattern": "("}, (".",))
    assert "nosuchtype" in tree.failure("Grep", {"pattern": "a", "type": "nosuchtype"}, (".",))
    assert "does not exist" in tree.failure("Grep", {"pattern": "a", "path": "none"}, ("none",))


def test_a_pattern_is_never_an_option(tree: Desk) -> None:
    ran = tree.file("ran.sh", "#!/bin/sh\ntouch RAN\n")
    ran.chmod(0o755)
    assert grep(tree, f"--pre={ran}").content == "No files found"
    assert grep(tree, "alpha", glob=f"--pre={ran}").content == "No files found"
    assert "unrecognized" in tree.failure("Grep", {"pattern": "a", "type": f"x --pre={ran}"}, (".",))
    assert not (tree.root / "RAN").exists()


def test_rg_runs_without_its_configuration(tree: Desk) -> None:
    tree.env["RIPGREP_CONFIG_PATH"] = str(tree.file("rgrc", "--ignore-case\n"))
    tree.file(".ripgreprc", "--ignore-case\n")
    assert grep(tree, "ALPHA").content == "No files found"


def test_odd_names(desk: Desk) -> None:
    names = ["with space.txt", "new\nline.txt", "-dash.txt", "ünï.txt", "co:lon:1:.txt"]
    for name in names:
        desk.file(name, "needle\n")
    assert sorted(glob(desk, "*.txt")) == sorted(names)
    assert sorted(grep(desk, "needle").structured["filenames"]) == sorted(names)
    single = desk.run("Grep", {"pattern": "needle", "path": "-dash.txt"}, ("-dash.txt",))
    assert single.structured["filenames"] == ["-dash.txt"]


def test_a_missing_ripgrep_is_said(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from checkrein.runtime.tools import search

    monkeypatch.setattr(search, "rg_path", lambda: None)
    assert "checkrein doctor" in desk.failure("Grep", {"pattern": "x"}, (".",))
