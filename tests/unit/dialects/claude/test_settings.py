from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.origin import Origin
from checkrein.dialects.claude import settings
from checkrein.dialects.claude.place import locate
from checkrein.dialects.codes import Log
from checkrein.dialects.jsonfile import Document, parse
from checkrein.model.project import Place

Tree = Callable[[Mapping[str, str]], Path]


def place_of(root: Path, path: str = "p", **options: Any) -> Place:
    managed = str(root / "managed")
    return locate(str(root / path), env={}, home=str(root / "home"), managed_dir=managed, **options).place


def files_of(root: Path, path: str = "p", add_dirs: tuple[str, ...] = (), **options: Any) -> list[str]:
    log = Log()
    found = settings.read_files(place_of(root, path, add_dirs=add_dirs), log, **options)
    return [f"{file.origin.scope}:{file.value['n']}" for file in found if "n" in file.value]


EVERYWHERE = {
    "managed/managed-settings.json": '{"n": "base"}',
    "managed/managed-settings.d/10.json": '{"n": "first"}',
    "managed/managed-settings.d/20.json": '{"n": "second"}',
    "managed/managed-settings.d/.hidden.json": '{"n": "hidden"}',
    "managed/managed-settings.d/readme.txt": "x",
    "p/.git/": "",
    "p/.claude/settings.json": '{"n": "project"}',
    "p/.claude/settings.local.json": '{"n": "local"}',
    "home/.claude/settings.json": '{"n": "user"}',
    "given.json": '{"n": "file"}',
}


def test_files_in_order_of_precedence(tree: Tree) -> None:
    root = tree(EVERYWHERE)
    assert files_of(root, given={"n": "given"}) == [
        "managed:second",
        "managed:first",
        "managed:base",
        "cli:given",
        "local:local",
        "project:project",
        "user:user",
    ]


def test_given_settings_are_an_object_a_file_or_json(tree: Tree) -> None:
    root = tree(EVERYWHERE)
    assert "cli:file" in files_of(root, given=str(root / "given.json"))
    assert "cli:inline" in files_of(root, given='{"n": "inline"}')
    log = Log()
    settings.read_files(place_of(root), log, given=str(root / "none.json"))
    assert [found.code for found in log] == ["FILE001"]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [([], []), (["user"], ["user:user"]), (["project", "local"], ["local:local", "project:project"])],
)
def test_sources_limit_the_files_but_not_the_managed_ones(
    tree: Tree, sources: list[str], expected: list[str]
) -> None:
    found = files_of(tree(EVERYWHERE), sources=sources)
    assert found == ["managed:second", "managed:first", "managed:base", *expected]


def test_local_settings_lie_at_the_root_of_the_repository(tree: Tree) -> None:
    root = tree(
        EVERYWHERE
        | {"p/sub/.claude/settings.local.json": '{"n": "sub"}', "p/sub/.claude/settings.json": "{}"}
    )
    log = Log()
    found = settings.read_files(place_of(root, "p/sub"), log, sources=["local", "project"])
    assert [file.value.get("n") for file in found if file.origin.scope == "local"] == ["local"]
    assert [entry.code for entry in log] == ["SET001"]


def test_outside_a_repository_local_settings_lie_where_you_start(tree: Tree) -> None:
    root = tree({"q/.claude/settings.local.json": '{"n": "here"}'})
    assert files_of(root, "q") == ["local:here"]


def test_a_worktree_uses_the_local_settings_of_its_main_checkout(tree: Tree) -> None:
    root = tree(EVERYWHERE | {"w/": "", "p/.git/worktrees/w/": ""})
    (root / "w/.git").write_text(f"gitdir: {root}/p/.git/worktrees/w")
    (root / "p/.git/worktrees/w/gitdir").write_text(f"{root}/w/.git\n")
    assert files_of(root, "w", sources=["local"])[-1] == "local:local"


def test_added_directories_give_plugins_only(tree: Tree) -> None:
    root = tree(EVERYWHERE | {"x/.claude/settings.json": '{"n": "x", "enabledPlugins": {"a@b": true}}'})
    found = settings.read_files(place_of(root, add_dirs=(str(root / "x"),)), Log())
    assert {"enabledPlugins": {"a@b": True}} in [file.value for file in found]


def test_a_broken_file_leaves_the_others(tree: Tree) -> None:
    root = tree(EVERYWHERE | {"p/.claude/settings.json": "{"})
    log = Log()
    assert len(settings.read_files(place_of(root), log)) == 5
    assert [(entry.code, entry.origin.scope) for entry in log] == [("JSON001", "project")]


def document(text: str, scope: Any = "project", file: str = "/x/settings.json") -> Document:
    found = parse(text, Origin(file, scope), Log())
    assert found is not None
    return found


def test_every_leaf_and_every_element_is_a_setting() -> None:
    found = list(
        settings.flatten(
            document(
                '{"model": "m", "permissions": {"deny": ["a", "b"], "allow": []}, "env": {"A": "1"},\n'
                '"apiKeyHelper": "x", "myToken": "abcdefgh", "mcpServers": {"s": {"command": "c"}}, '
                '"empty": {}}'
            )
        )
    )
    rows = [(item.name, item.value, item.element, item.sensitive) for item in found]
    assert rows == [
        ("model", "m", False, False),
        ("permissions.deny", "a", True, False),
        ("permissions.deny", "b", True, False),
        ("permissions.allow", [], False, False),
        ("env.A", "1", False, True),
        ("apiKeyHelper", "x", False, False),
        ("myToken", "abcdefgh", False, True),
        ("mcpServers.s", {"command": "c"}, False, False),
        ("empty", {}, False, False),
    ]
    assert found[2].origin.field == "$.permissions.deny[1]"
    assert found[5].origin.line == 2


@pytest.mark.parametrize(
    "keys",
    [
        ("a",),
        ("a", "b"),
        ("enabledPlugins", "x@y.z"),
        ("", "b"),
        ("a", "[b"),
        ("x.y", "z"),
        ("a", "b.c", "d.e"),
    ],
)
def test_dotted_names_go_both_ways(keys: tuple[str, ...]) -> None:
    assert settings.undotted(settings.dotted(keys)) == keys


@pytest.mark.parametrize(
    ("scope", "file", "anchor"),
    [
        ("project", "/r/p/.claude/settings.json", "{cwd}"),
        ("local", "/r/p/.claude/settings.local.json", "{cwd}"),
        ("user", "/h/.claude/settings.json", "{config}"),
        ("cli", "/other/given.json", "/other"),
        ("cli", "<command line>", "{cwd}"),
        ("managed", "/m/managed-settings.json", "/m"),
    ],
)
def test_what_a_slash_in_a_rule_means(tmp_path: Path, scope: str, file: str, anchor: str) -> None:
    place = place_of(tmp_path, ".")
    (rule,) = settings.rules(document('{"permissions": {"deny": ["Read(/x)"]}}', scope, file), place, Log())
    assert rule.anchor == anchor.format(cwd=place.cwd, config=place.config_dir)


def test_rules_with_places_and_problems(tmp_path: Path) -> None:
    log = Log()
    text = '{"permissions": {"allow": ["Bash(git *)", 3, "Read("],\n "ask": "x", "deny": ["Write"]}}'
    found = list(settings.rules(document(text), place_of(tmp_path, "."), log))
    assert [(rule.verdict, rule.tool, rule.specifier, bool(rule.problem)) for rule in found] == [
        ("allow", "Bash", "git *", False),
        ("allow", "Read", None, True),
        ("deny", "Write", None, False),
    ]
    assert [(entry.code, entry.origin.field) for entry in log] == [
        ("SET002", "$.permissions.allow[1]"),
        ("SET002", "$.permissions.ask"),
    ]
    assert list(settings.rules(document('{"permissions": 3}'), place_of(tmp_path, "."), log)) == []


def test_rules_of_the_command_line(tmp_path: Path) -> None:
    place = place_of(tmp_path, ".")
    (rule,) = settings.given_rules({"deny": ["Bash(rm *)"]}, place)
    assert (rule.verdict, rule.origin.scope, rule.anchor) == ("deny", "cli", place.cwd)
