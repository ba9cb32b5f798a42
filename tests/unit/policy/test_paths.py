"""Path patterns, spellings of paths, protected and critical paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from checkrein.policy.abstract import ANY, ONE, STAR
from checkrein.policy.globs import compile_path, matches, may_match_path
from checkrein.policy.paths import absolute, follow, inside, is_critical, is_protected, relative, spellings
from checkrein.policy.values import Context

CONTEXT = Context(cwd="/p", root="/p", home="/h")


@pytest.mark.parametrize(
    ("spec", "grants", "path", "expected"),
    [
        (".env", False, ".env", True),
        (".env", False, "a/b/.env", True),
        ("./.env", False, "a/.env", True),
        ("*.ts", False, "a/b.ts", True),
        ("secrets", False, "secrets/k", True),
        ("secrets/**", False, "x/secrets/k", True),
        ("secrets/**", False, "secrets", True),
        ("src/*", False, "src/a/b", True),
        ("src/**", True, "src/a", True),
        ("src/**", True, "x/src/a", False),
        ("src/**", True, "src", False),
        ("src/*", True, "src/a", True),
        ("src/*", True, "src/a/b", False),
        ("docs", True, "docs/a", True),
        ("docs/*.md", True, "docs/d/n.md", False),
        ("src/components/**", False, "x/src/components/a", False),
        ("**/src/**", True, "a/b/src/c", True),
        ("**", True, "anything/at/all", True),
        ("a[12]", False, "x/a2", True),
        ("log.txt", True, "deep/log.txt", True),
    ],
)
def test_patterns(spec: str, grants: bool, path: str, expected: bool) -> None:
    pattern = compile_path(spec, grants=grants)
    assert pattern.base == "root"
    assert matches(pattern, path) is expected
    assert may_match_path(pattern, path) or not expected


@pytest.mark.parametrize(
    ("spec", "base", "path", "expected"),
    [
        ("//etc/**", "abs", "etc/passwd", True),
        ("//etc/**", "abs", "x/etc/passwd", False),
        ("//**/config/**", "abs", "a/config/b", True),
        ("~/.ssh/**", "home", ".ssh/id", True),
        ("~/.ssh/**", "home", "a/.ssh/id", False),
        ("~", "home", "anything", True),
        ("/src/**", "anchor", "src/a", True),
        ("/src/**", "anchor", "x/src/a", False),
    ],
)
def test_bases(spec: str, base: str, path: str, expected: bool) -> None:
    pattern = compile_path(spec, grants=False)
    assert pattern.base == base
    assert matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("spec", "path", "expected"),
    [
        ("secrets/**", f"sec{STAR}/k", True),
        ("secrets/**", f"{STAR}/k", True),
        ("secrets/**", f"s{STAR}t/k", False),
        (".env", f".e{STAR}", True),
        (".env", STAR, False),
        (".env", f"{ONE}env", False),
        (".env", f"x{ONE}.env", False),
        ("a.env", f"{ONE}.env", True),
        ("src/x", f"src{ONE}x", False),
        ("src/x", f"src/{ONE}", True),
        ("src/x", f"s{ANY}", True),
        ("*.pem", f"a{STAR}", True),
        ("x", f"foo{STAR}", False),
        ("/deep/a/b", f"{STAR}/a/{STAR}", True),
    ],
)
def test_paths_that_are_partly_known(spec: str, path: str, expected: bool) -> None:
    assert may_match_path(compile_path(spec, grants=False), path) is expected


def test_paths_are_made_absolute() -> None:
    assert absolute("a/../b", "/p", "/h") == "/p/b"
    assert absolute("~/x", "/p", "/h") == "/h/x"
    assert absolute("//a//b/.", "/p", "/h") == "/a/b"
    assert absolute("../../..", "/p", "/h") == "/"


def test_links_are_followed_like_the_kernel_does() -> None:
    links = {"/p/l": "/q/r", "/p/m": "l/x", "/q/r/x": "../y"}
    assert follow("/p/l/a", links) == "/q/r/a"
    assert follow("/p/l/../a", links) == "/q/a"
    assert follow("/p/m", links) == "/q/y"
    assert follow("/p/loop", {"/p/loop": "loop"}) == "/p/loop"


def test_spellings_of_process_paths() -> None:
    assert "/p/.env" in spellings("/proc/self/cwd/.env", CONTEXT)
    assert "/etc/x" in spellings("/proc/1/root/etc/x", CONTEXT)
    assert "/p/a" in spellings("/proc/self/root/proc/self/cwd/a", CONTEXT)


def test_inside_and_relative() -> None:
    assert inside("/p/a", ("/p",))
    assert inside("/p", ("/p",))
    assert not inside("/px", ("/p",))
    assert inside("/x", ("/",))
    assert relative("/p/a", "/p") == "a"
    assert relative("/p", "/p") == ""
    assert relative("/q", "/p") is None
    assert relative("/q", "/") == "q"


@pytest.mark.parametrize(
    "path",
    [
        "/p/.git/hooks/x",
        "/p/.git",
        "/p/.GIT/x",
        "/p/.bashrc",
        "/h/.config/git/x",
        "/p/.claude/a",
        f"/p/.gi{ONE}/x",
    ],
)
def test_protected(path: str) -> None:
    assert is_protected(path)


@pytest.mark.parametrize(
    "path", ["/p/git/x", "/p/.claude/worktrees/a/b", "/p/.gitignore", "/p/.config/x", f"/p/{STAR}"]
)
def test_not_protected(path: str) -> None:
    assert not is_protected(path)


def test_critical() -> None:
    for path in ("/", "/usr", "/h", "/p", f"/{STAR}", f"/p/{STAR}", f"/h/.{STAR}", "/private/etc"):
        assert is_critical(path, CONTEXT, ()), path
    for path in ("/p/build", "/usr/lib/x", f"/p/build/{STAR}", f"/p/a{STAR}", "/opt/d"):
        assert not is_critical(path, CONTEXT, ("/opt/d",)), path
    assert is_critical(f"/opt/d/{STAR}", CONTEXT, ("/opt/d",))


class Live(Mapping[str, str]):
    """Links that are looked up one by one, as those of the real file system are."""

    def __getitem__(self, path: str) -> str:
        return {"/p/l": "/secret"}[path]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def test_links_that_can_not_be_listed_are_followed() -> None:
    assert follow("/p/l/a", Live()) == "/secret/a"
