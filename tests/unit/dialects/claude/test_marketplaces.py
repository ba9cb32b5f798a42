import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.dialects.claude import installed, marketplaces
from checkrein.dialects.claude.place import locate
from checkrein.dialects.claude.settings import read_files
from checkrein.dialects.codes import Log
from checkrein.dialects.jsonfile import parse
from checkrein.model.items import Marketplace
from checkrein.model.project import Sources

Tree = Callable[[Mapping[str, str]], Path]
SKILL = "---\ndescription: d\n---\nBody"


def read(**values: Any) -> tuple[Marketplace | None, list[Diagnostic]]:
    log = Log()
    document = parse(
        json.dumps({"name": "m", "owner": {"name": "o"}, **values}), Origin("m.json", "project"), log
    )
    assert document is not None
    return marketplaces.parse(document, log), log


@pytest.mark.parametrize(
    ("source", "kind", "problem"),
    [
        ("./x", "path", None),
        ("./", "path", None),
        ("x", "path", "must start with"),
        ("./../x", "path", "holds `..`"),
        ({"source": "github", "repo": "a/b", "ref": "v1"}, "github", None),
        ({"source": "github"}, "github", "needs `repo`"),
        ({"source": "url", "url": "https://x/y.git"}, "url", None),
        ({"source": "git-subdir", "url": "a/b", "path": "p"}, "git-subdir", None),
        ({"source": "git-subdir", "url": "a/b"}, "git-subdir", "needs `path`"),
        ({"source": "npm", "package": "x"}, "npm", None),
        ({"source": "archive", "url": "https://x/y.zip", "sha256": "0"}, "archive", None),
        ({"source": "command", "command": "x"}, "command", None),
        ({"source": "local", "path": "./x"}, "local", "unknown kind"),
        (3, "unknown", "must be a path"),
        (None, "unknown", "is missing"),
    ],
)
def test_every_kind_of_source(source: Any, kind: str, problem: str | None) -> None:
    found, log = read(plugins=[{"name": "p", "source": source}])
    assert found is not None
    assert found.entries[0].source_kind == kind
    if problem is None:
        assert log == []
    else:
        assert [entry.code for entry in log] == ["MARKET002"]
        assert problem in log[0].message


def test_a_bare_path_is_fine_below_a_plugin_root() -> None:
    _, log = read(plugins=[{"name": "p", "source": "x"}], metadata={"pluginRoot": "./plugins"})
    assert log == []


def test_marketplaces_and_entries_that_are_wrong() -> None:
    assert read(plugins=3)[1][0].code == "MARKET001"
    found, log = read(
        plugins=[3, {"source": "./x"}, {"name": "ok", "source": "./x", "odd": 1}], owner=3, extra=1
    )
    assert found is not None
    assert [entry.code for entry in log] == ["MARKET001", "MARKET002", "MARKET002"]
    assert [(entry.name, entry.unknown) for entry in found.entries] == [("ok", {"odd": 1})]
    assert found.unknown == {"extra": 1}


def session(
    root: Path, path: str = "p", env: dict[str, str] | None = None, plugin_dirs: tuple[str, ...] = ()
) -> Sources:
    place = locate(str(root / path), env={}, home=str(root / "home"), managed_dir=str(root / "managed")).place
    files = read_files(place, Log())
    folders = installed.in_skills_directories(place)
    return installed.read(place, files, env=env or {}, plugin_dirs=plugin_dirs, skills_dirs=folders)


def names(found: Sources) -> list[tuple[str, str | None, bool]]:
    return [(plugin.name, plugin.marketplace, plugin.enabled) for plugin in found.plugins]


CACHE = "home/.claude/plugins/cache/m/fmt"
CACHED = {
    "p/.git/": "",
    f"{CACHE}/1.9.0/.claude-plugin/plugin.json": '{"name": "fmt", "version": "1.9.0"}',
    f"{CACHE}/1.10.0/.claude-plugin/plugin.json": '{"name": "fmt", "version": "1.10.0"}',
    f"{CACHE}/1.10.0/skills/s/SKILL.md": SKILL,
}


def test_the_newest_cached_version_of_an_enabled_plugin(tree: Tree) -> None:
    root = tree(CACHED | {"home/.claude/settings.json": '{"enabledPlugins": {"fmt@m": true}}'})
    found = session(root)
    assert [(plugin.version, plugin.enabled) for plugin in found.plugins] == [("1.10.0", True)]
    assert [skill.name for skill in found.skills] == ["fmt:s"]


def test_the_recorded_install_wins_over_the_newest(tree: Tree) -> None:
    root = tree(CACHED | {"home/.claude/settings.json": '{"enabledPlugins": {"fmt@m": true}}'})
    path = str(root / "home/.claude/plugins/cache/m/fmt/1.9.0")
    record = {"version": 2, "plugins": {"fmt@m": [{"installPath": path}]}}
    (root / "home/.claude/plugins/installed_plugins.json").write_text(json.dumps(record))
    assert [plugin.version for plugin in session(root).plugins] == ["1.9.0"]


def test_the_higher_file_switches_a_plugin_off(tree: Tree) -> None:
    root = tree(
        CACHED
        | {
            "home/.claude/settings.json": '{"enabledPlugins": {"fmt@m": true}}',
            "p/.claude/settings.json": '{"enabledPlugins": {"fmt@m": false}}',
        }
    )
    found = session(root)
    assert names(found) == [("fmt", "m", False)]
    assert found.skills == ()


def test_an_enabled_plugin_that_is_not_installed(tree: Tree) -> None:
    root = tree(
        {"p/.claude/settings.json": '{"enabledPlugins": {"x@m": true, "../a@m": true, "off@m": false}}'}
    )
    found = session(root)
    assert [(entry.code, entry.origin.field) for entry in found.diagnostics] == [
        ("PLUGIN002", '$.enabledPlugins["x@m"]'),
        ("PLUGIN002", '$.enabledPlugins["../a@m"]'),
    ]


def test_another_cache_directory(tree: Tree) -> None:
    root = tree(
        {
            "p/.claude/settings.json": '{"enabledPlugins": {"x@m": true}}',
            "other/cache/m/x/1/.claude-plugin/plugin.json": '{"name": "x"}',
        }
    )
    found = session(root, env={"CLAUDE_CODE_PLUGIN_CACHE_DIR": str(root / "other")})
    assert names(found) == [("x", "m", True)]


@pytest.mark.parametrize("where", ["home/.claude/plugins/marketplaces/m", "shop"])
def test_plugins_of_local_marketplaces(tree: Tree, where: str) -> None:
    root = tree(
        {f"{where}/.claude-plugin/marketplace.json": "", f"{where}/plugins/x/skills/s/SKILL.md": SKILL}
    )
    catalog = {"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "x", "source": "./plugins/x"}]}
    (root / where / ".claude-plugin/marketplace.json").write_text(json.dumps(catalog))
    wanted: dict[str, Any] = {"enabledPlugins": {"x@m": True}}
    if where == "shop":
        wanted["extraKnownMarketplaces"] = {
            "m": {"source": {"source": "directory", "path": str(root / "shop")}}
        }
    owner = "home" if where == "shop" else "p"
    tree({"p/": "", f"{owner}/.claude/settings.json": json.dumps(wanted)})
    assert [skill.name for skill in session(root).skills] == ["x:s"]


def test_plugins_of_the_command_line_and_of_skills_directories(tree: Tree) -> None:
    root = tree(
        {
            "p/.claude/skills/mine/.claude-plugin/plugin.json": '{"name": "mine"}',
            "home/.claude/skills/theirs/.claude-plugin/plugin.json": '{"name": "theirs"}',
            "given/.claude-plugin/plugin.json": '{"name": "given"}',
            "given.zip": "x",
        }
    )
    found = session(root, plugin_dirs=(str(root / "given"), str(root / "given.zip")))
    assert names(found) == [
        ("given", "inline", True),
        ("theirs", "skills-dir", True),
        ("mine", "skills-dir", True),
    ]
    assert [entry.code for entry in found.diagnostics] == ["PLUGIN001"]


def test_a_project_that_is_a_plugin(tree: Tree) -> None:
    root = tree(
        {"p/.claude-plugin/plugin.json": '{"name": "self"}', "p/.git/": "", "p/skills/s/SKILL.md": SKILL}
    )
    found = session(root)
    assert names(found) == [("self", "inline", True)]
    assert [skill.name for skill in found.skills] == ["self:s"]


def test_a_project_that_is_a_marketplace(tree: Tree) -> None:
    catalog = {
        "name": "shop",
        "owner": {"name": "o"},
        "plugins": [
            {"name": "a", "source": "./a"},
            {"name": "b", "source": {"source": "github", "repo": "x/y"}},
            {"name": "gone", "source": "./gone"},
        ],
    }
    root = tree(
        {
            "p/.claude-plugin/marketplace.json": json.dumps(catalog),
            "p/.git/": "",
            "p/a/skills/s/SKILL.md": SKILL,
        }
    )
    found = session(root)
    assert [len(market.entries) for market in found.marketplaces] == [3]
    assert names(found) == [("a", "shop", False)]
    assert [skill.name for skill in found.skills] == ["a:s"]
