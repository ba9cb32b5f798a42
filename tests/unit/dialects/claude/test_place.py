import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from checkrein.base.errors import NotFoundError
from checkrein.dialects.claude.place import Located, chain, locate, main_checkout

Tree = Callable[[Mapping[str, str]], Path]


def find(root: Path, path: str, **options: object) -> Located:
    return locate(str(root / path), env={}, home=str(root / "home"), **options)  # type: ignore[arg-type]  # passed on


def test_a_claude_directory_makes_the_root(tree: Tree) -> None:
    root = tree({"p/.claude/": "", "p/a/b/": ""})
    place = find(root, "p/a/b").place
    assert (place.root, place.root_reason, place.cwd) == (str(root / "p"), "claude", str(root / "p/a/b"))


def test_git_without_claude_makes_the_root(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/a/": ""})
    place = find(root, "p/a").place
    assert (place.root, place.root_reason, place.repo_root) == (str(root / "p"), "git", str(root / "p"))


def test_the_home_directory_ends_the_search(tree: Tree) -> None:
    root = tree({"home/x/y/": "", ".git/": ""})
    place = find(root, "home/x/y").place
    assert (place.root, place.root_reason) == (str(root / "home/x/y"), "fallback")
    place = find(root, "home").place
    assert (place.root, place.root_reason) == (str(root / "home"), "home")


def test_without_any_marker_the_directory_itself_is_the_root(tree: Tree) -> None:
    root = tree({"p/a/": ""})
    place = find(root, "p/a").place
    assert (place.root, place.root_reason, place.repo_root) == (str(root / "p/a"), "fallback", None)


@pytest.mark.parametrize("path", ["p/.claude/skills/s/SKILL.md", "p/.claude/skills/s"])
def test_a_skill_is_read_from_its_project(tree: Tree, path: str) -> None:
    root = tree({"p/.claude/skills/s/SKILL.md": "x", "p/.git/": ""})
    located = find(root, path)
    assert located.spec == str(root / "p/.claude/skills/s/SKILL.md")
    assert located.place.cwd == str(root / "p")


def test_a_directory_inside_claude_means_its_project(tree: Tree) -> None:
    root = tree({"p/.claude/skills/": ""})
    located = find(root, "p/.claude/skills")
    assert (located.place.cwd, located.spec) == (str(root / "p"), None)


def test_a_checkout_below_claude_is_a_project_of_its_own(tree: Tree) -> None:
    root = tree({"p/.claude/worktrees/w/.git": "gitdir: x", "p/.git/": ""})
    assert find(root, "p/.claude/worktrees/w").place.cwd == str(root / "p/.claude/worktrees/w")


def test_config_and_managed_directories(tree: Tree) -> None:
    root = tree({"p/": "", "cfg/": ""})
    located = locate(
        str(root / "p"), env={"CLAUDE_CONFIG_DIR": str(root / "cfg"), "HOME": str(root)}, add_dirs=["../x"]
    )
    assert located.place.config_dir == str(root / "cfg")
    assert located.place.home == str(root)
    assert located.place.add_dirs == (str(root / "x"),)
    assert located.place.managed_dir is not None


def test_the_chain_goes_up_to_the_repository(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/a/b/": "", "q/a/": "", "q/.claude/": ""})
    assert chain(find(root, "p/a/b").place) == [str(root / name) for name in ("p/a/b", "p/a", "p")]
    assert chain(find(root, "q/a").place) == [str(root / "q/a"), str(root / "q")]


def test_worktrees_belong_to_their_main_checkout(tree: Tree) -> None:
    root = tree(
        {"main/.git/worktrees/w/": "", "sub/.git": "gitdir: ../main/.git/modules/s", "plain/.git/": ""}
    )
    (root / "w").mkdir()
    (root / "w/.git").write_text(f"gitdir: {root}/main/.git/worktrees/w\n")
    assert main_checkout(str(root / "w")) == str(root / "w"), "the main checkout does not know it"
    for back in (f"{root}/w/.git\n", "../../../../w/.git\n"):
        (root / "main/.git/worktrees/w/gitdir").write_text(back)
        assert main_checkout(str(root / "w")) == str(root / "main")
    assert main_checkout(str(root / "sub")) == str(root / "sub")
    assert main_checkout(str(root / "plain")) == str(root / "plain")


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        locate(str(tmp_path / "none"), env=os.environ)
