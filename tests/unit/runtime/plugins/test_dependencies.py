"""Plugins that need others: ranges, tags, marketplaces, switches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.passes.load import load
from checkrein.runtime.plugins.versions import highest, parse_range, parse_version
from support.files import lay
from support.plugins import below, commit, marketplace, plugin

Ask = Callable[..., Any]
pytestmark = [pytest.mark.project({}, inside="."), pytest.mark.usefixtures("project")]


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0 2.0.0-rc.1 1.3.0-rc.1"),
        ("^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("^1", "1.0.0 1.9.9", "2.0.0 0.9.9"),
        ("~1.2.3", "1.2.3 1.2.9", "1.3.0"),
        ("~1", "1.0.0 1.9.0", "2.0.0"),
        ("1.2", "1.2.0 1.2.9", "1.3.0"),
        ("1.x", "1.0.0 1.5.1", "2.0.0"),
        ("*", "0.0.1 9.9.9", "1.0.0-a"),
        (">=1.2.0 <2.0.0", "1.2.0 1.9.9", "2.0.0 1.1.9"),
        (">1.2", "1.3.0", "1.2.9"),
        ("<=1.2", "1.2.9", "1.3.0"),
        (">= 1.2.0", "1.2.0", "1.1.0"),
        ("1.0.0 - 1.4.0", "1.0.0 1.4.0", "1.4.1 0.9.0"),
        ("1.0.0 - 1.4", "1.4.9", "1.5.0"),
        ("^1.0.0 || ^3.0.0", "1.1.0 3.1.0", "2.0.0"),
        (">=1.0.0-rc.1 <2.0.0", "1.0.0-rc.2 1.0.0", "1.1.0-rc.1"),
        ("=1.0.0", "1.0.0 v1.0.0 1.0.0+build", "1.0.1"),
    ],
)
def test_ranges(text: str, inside: str, outside: str) -> None:
    wanted = parse_range(text)
    assert wanted is not None
    for sample, expected in [
        *((one, True) for one in inside.split()),
        *((one, False) for one in outside.split()),
    ]:
        version = parse_version(sample)
        assert version is not None
        assert wanted.holds(version) is expected, (text, sample)


def test_order_of_versions_and_intersection() -> None:
    texts = (
        "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.10.0"
    )
    versions = [parse_version(text) for text in texts.split()]
    known = [one for one in versions if one is not None]
    orders = [one.order for one in known]
    assert orders == sorted(set(orders))
    ranges = [one for one in (parse_range("^1.0.0"), parse_range("<1.5.0")) if one is not None]
    assert highest(known, ranges) == parse_version("1.0.1")
    assert parse_range("one.two") is None
    assert parse_range("x" * 300) is None


def shop(tmp_path: Path, *, name: str = "tools", **plugins: Any) -> Path:
    """A marketplace with a plugin of each name, with these fields in its manifest."""
    root = tmp_path / name
    for one, fields in plugins.items():
        lay(root, below(one, plugin(one, **fields)))
    more = {"allowCrossMarketplaceDependenciesOn": ["others"]} if name == "allowing" else {}
    return marketplace(root, *({"name": one, "source": f"./{one}"} for one in plugins), name=name, **more)


def enabled(project: Path) -> set[str]:
    return {name for name, found in load(project).plugins.items() if found.item.enabled}


def test_needed_plugins_come_along_stay_on_and_are_pruned(ask: Ask, tmp_path: Path, project: Path) -> None:
    root = shop(tmp_path, a={"dependencies": ["b"]}, b={"dependencies": [{"name": "c"}]}, c={})
    ask("plugin", "marketplace", "add", str(root), status=0)
    done = ask("plugin", "install", "a", "--yes", status=0)
    assert {one["identity"]: one.get("auto", False) for one in done["changes"]} == {
        "a@tools": False,
        "b@tools": True,
        "c@tools": True,
    }
    assert enabled(project) == {"a@tools", "b@tools", "c@tools"}
    assert ask("plugin", "disable", "c", status=1)["kind"] == "plugin_needed"
    assert ask("plugin", "remove", "b", status=1)["kind"] == "plugin_needed"
    assert ask("plugin", "prune", status=0)["removed"] == []
    ask("plugin", "disable", "a", status=0)
    ask("plugin", "disable", "b", status=0)
    assert ask("plugin", "enable", "a", status=0)["plugins"] == ["b@tools", "c@tools", "a@tools"]
    ask("plugin", "remove", "a", status=0)
    assert sorted(ask("plugin", "prune", "--dry-run", status=0)["removed"]) == ["b@tools"]
    ask("plugin", "prune", status=0)
    assert ask("plugin", "prune", status=0)["removed"] == ["c@tools"]
    assert enabled(project) == set()


def test_tags_name_the_versions(ask: Ask, tmp_path: Path) -> None:
    root = shop(tmp_path, lib={"version": "1.0.0"})
    commit(root, tag="lib--v1.0.0")
    shop(tmp_path, lib={"version": "1.4.0"})
    at = commit(root, tag="lib--v1.4.0")
    need = {"dependencies": [{"name": "lib", "version": "^1.0.0"}]}
    impossible = {"dependencies": [{"name": "lib", "version": "^3.0.0"}]}
    first = {"dependencies": [{"name": "lib", "version": "~1.0.0"}, "app"]}
    shop(tmp_path, lib={"version": "2.0.0"}, app=need, odd=impossible, clash=first)
    commit(root, tag="lib--v2.0.0")
    ask("plugin", "marketplace", "add", f"file://{root}", status=0)
    done = ask("plugin", "install", "app", "--yes", status=0)
    assert {one["identity"]: one["version"] for one in done["changes"]}["lib@tools"] == "1.4.0"
    assert ask("plugin", "install", "odd", "--yes", status=1)["kind"] == "no_matching_tag"
    assert ask("plugin", "install", "clash", "--yes", status=0)["installed"] is True
    assert ask("plugin", "info", "lib", status=0)["commit"] != at


@pytest.mark.parametrize(
    ("need", "kind"),
    [
        ("missing", "dependency_unsatisfied"),
        ({"name": "b", "version": "^9.0.0"}, "dependency_version_unsatisfied"),
        ({"name": "b", "version": "what"}, "dependency_unsatisfied"),
        ({"version": "1"}, "dependency_unsatisfied"),
        ({"name": "b", "marketplace": "others"}, "cross_marketplace"),
    ],
)
def test_what_can_not_be_had(ask: Ask, tmp_path: Path, project: Path, need: object, kind: str) -> None:
    ask("plugin", "marketplace", "add", str(shop(tmp_path, a={"dependencies": [need]}, b={})), status=0)
    assert ask("plugin", "install", "a", "--yes", status=1)["kind"] == kind
    assert enabled(project) == set()


def test_two_ranges_that_exclude_each_other(ask: Ask, tmp_path: Path) -> None:
    b = {"dependencies": [{"name": "c", "version": "^2.0.0"}]}
    a = {"dependencies": [{"name": "c", "version": "^1.0.0"}, "b"]}
    ask("plugin", "marketplace", "add", str(shop(tmp_path, a=a, b=b, c={})), status=0)
    assert ask("plugin", "install", "a", "--yes", status=1)["kind"] == "range_conflict"


def test_the_root_marketplace_may_allow_another(ask: Ask, tmp_path: Path, project: Path) -> None:
    need = {"dependencies": [{"name": "b", "marketplace": "others"}]}
    ask("plugin", "marketplace", "add", str(shop(tmp_path, name="others", b={})), status=0)
    ask("plugin", "marketplace", "add", str(shop(tmp_path, name="allowing", a=need)), status=0)
    ask("plugin", "install", "a", "--yes", status=0)
    assert enabled(project) == {"a@allowing", "b@others"}


def test_renames_are_followed(ask: Ask, tmp_path: Path, project: Path) -> None:
    root = shop(tmp_path, new={})
    entry = {"name": "new", "source": "./new"}
    marketplace(root, entry, renames={"old": "older", "older": "new", "gone": None, "x": "y", "y": "x"})
    ask("plugin", "marketplace", "add", str(root), status=0)
    ask("plugin", "install", "old@tools", "--yes", status=0)
    assert enabled(project) == {"new@tools"}
    assert "withdrawn" in ask("plugin", "install", "gone@tools", "--yes", status=1)["message"]
    assert "circle" in ask("plugin", "install", "x@tools", "--yes")["message"]
