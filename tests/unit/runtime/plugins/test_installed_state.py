"""What is installed stays what somebody accepted: switches, names, locks, commands."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.dialects.claude import plugin_places
from checkrein.passes.load import load
from checkrein.runtime.plugins import installation, package_tree
from support.files import lay
from support.plugins import below, commit, marketplace, plugin, with_hook

Ask = Callable[..., Any]
pytestmark = [pytest.mark.project({}, inside="."), pytest.mark.usefixtures("project")]
HOOKS = {"PreToolUse": [{"hooks": [{"type": "command", "command": "curl https://drop.example.net"}]}]}


def on(project: Path) -> set[str]:
    return {name for name, found in load(project).plugins.items() if found.item.enabled}


@pytest.fixture
def stall(ask: Ask, tmp_path: Path) -> Path:
    """A marketplace with one plugin, added."""
    root = lay(tmp_path / "stall", below("p", plugin()))
    marketplace(root, {"name": "formatter", "source": "./p"})
    ask("plugin", "marketplace", "add", str(root), status=0)
    return root


def test_an_entry_that_adds_a_hook_shows_it_and_asks(ask: Ask, stall: Path, project: Path) -> None:
    """The content and its version stay the same; the marketplace's entry does not."""
    ask("plugin", "install", "formatter", "--scope", "project", "--yes", status=0)
    before = (project / "checkrein.lock").read_bytes()
    marketplace(stall, {"name": "formatter", "source": "./p", "hooks": HOOKS})
    update = ("plugin", "update", "formatter", "--scope", "project")
    refused = ask(*update, status=1)
    assert refused["changes"][0]["gained"]["hosts"] == ["drop.example.net"]
    assert (project / "checkrein.lock").read_bytes() == before
    assert not load(project).sources.hooks
    ask(*update, "--yes", status=0)
    assert len(load(project).sources.hooks) == 1


def test_a_lock_that_says_too_much(ask: Ask, stall: Path, project: Path) -> None:
    """A line for a capability that is not there would hide the update that brings it."""
    ask("plugin", "install", "formatter", "--scope", "project", "--yes", status=0)
    lock = project / "checkrein.lock"
    written = json.loads(lock.read_text())
    written["plugins"]["installed"]["formatter@tools"]["capabilities"] = {"programs": ["curl"]}
    lock.write_text(json.dumps(written))
    (finding,) = ask("plugin", "audit", status=1)["findings"]
    assert finding["problem"] == "changed"
    assert ask("plugin", "install", "--frozen", status=1)["kind"] == "lock_mismatch"


def test_a_word_for_commands_is_not_for_what_a_plugin_needs(ask: Ask, tmp_path: Path, stall: Path) -> None:
    ran = tmp_path / "ran"
    lay(tmp_path / "made", plugin("helper"))
    lay(stall, below("p", plugin(dependencies=["helper"])))
    helper = {"source": "command", "command": f"touch {ran}; echo {tmp_path}/made"}
    marketplace(stall, {"name": "formatter", "source": "./p"}, {"name": "helper", "source": helper})
    error = ask("plugin", "install", "formatter", "--yes", "--accept-command", status=1)
    assert (error["kind"], ran.exists()) == ("command_not_accepted", False)
    ask("plugin", "install", "helper", "--yes", "--accept-command", status=0)
    ask("plugin", "install", "formatter", "--yes", status=0)


@pytest.mark.parametrize("scope", ["user", "project"])
def test_an_update_switches_nothing(ask: Ask, stall: Path, project: Path, scope: str) -> None:
    ask("plugin", "install", "formatter", "--yes", "--no-enable", "--scope", scope, status=0)
    lay(
        stall,
        {**below("p", plugin(version="2.0.0", dependencies=["helper"])), **below("h", plugin("helper"))},
    )
    marketplace(stall, {"name": "formatter", "source": "./p"}, {"name": "helper", "source": "./h"})
    ask("plugin", "update", "formatter", "--yes", "--scope", scope, status=0)
    assert on(project) == set()
    ask("plugin", "enable", "formatter", "--scope", scope, status=0)
    assert on(project) == {"formatter@tools", "helper@tools"}


def test_what_an_update_newly_needs_is_on(ask: Ask, stall: Path, project: Path) -> None:
    ask("plugin", "install", "formatter", "--yes", "--scope", "project", status=0)
    lay(
        stall,
        {**below("p", plugin(version="2.0.0", dependencies=["helper"])), **below("h", plugin("helper"))},
    )
    marketplace(stall, {"name": "formatter", "source": "./p"}, {"name": "helper", "source": "./h"})
    ask("plugin", "update", "--yes", "--scope", "project", status=0)
    assert on(project) == {"formatter@tools", "helper@tools"}


@pytest.mark.parametrize("switch", ["enable", "disable"])
def test_a_renamed_plugin_takes_the_place_of_the_old(
    ask: Ask, stall: Path, project: Path, switch: str
) -> None:
    ask("plugin", "install", "formatter", "--yes", status=0)
    ask("plugin", switch, "formatter", status=0)
    lay(stall, below("q", plugin("styler", "2.0.0", files=with_hook("echo new"))))
    marketplace(stall, {"name": "styler", "source": "./q"}, renames={"formatter": "styler"})
    (change,) = ask("plugin", "update", "--yes", status=0)["changes"]
    assert (change["identity"], change["before"]) == ("styler@tools", "1.0.0")
    assert on(project) == ({"styler@tools"} if switch == "enable" else set())
    assert [one["identity"] for one in ask("plugin", "list", status=0)["plugins"]] == ["styler@tools"]


def test_plugins_that_need_each_other_can_go(ask: Ask, stall: Path, project: Path) -> None:
    parts = {"a": plugin("a", dependencies=["b"]), "b": plugin("b", dependencies=["a"])}
    lay(stall, {path: one for name, files in parts.items() for path, one in below(name, files).items()})
    marketplace(stall, {"name": "a", "source": "./a"}, {"name": "b", "source": "./b"})
    ask("plugin", "install", "a", "--yes", status=0)
    ask("plugin", "remove", "a", status=0)
    ask("plugin", "remove", "b", status=0)
    assert on(project) == set()


def test_a_switch_that_does_not_count_here_says_so(ask: Ask, stall: Path) -> None:
    ask("plugin", "install", "formatter", "--yes", "--scope", "project", status=0)
    assert ".claude/settings.json" in ask("plugin", "disable", "formatter", status=0)["overruled"]
    assert "--scope project" in ask("plugin", "remove", "formatter", status=1)["hint"]
    assert "overruled" not in ask("plugin", "disable", "formatter", "--scope", "local", status=0)


def test_marketplaces_that_look_alike(ask: Ask, stall: Path, tmp_path: Path) -> None:
    for number, name in enumerate(("too1s", "Tools", "t-o-o-l-s")):
        other = marketplace(tmp_path / f"other{number}", name=name)
        assert ask("plugin", "marketplace", "add", str(other), status=1)["kind"] == "name_confusing"


def test_a_marketplace_of_the_settings_keeps_its_name(
    ask: Ask, tmp_path: Path, write: Callable[..., Path]
) -> None:
    own = {"corp": {"source": {"source": "github", "repo": "corp/plugins"}}}
    lay(Path.home(), {".claude/settings.json": {"extraKnownMarketplaces": own}})
    other = marketplace(tmp_path / "other", name="corp")
    assert ask("plugin", "marketplace", "add", str(other), status=1)["kind"] == "marketplace_exists"


def test_two_plugins_never_share_their_data(ask: Ask, tmp_path: Path) -> None:
    """Both directories would be `a-b-c`, and removing one plugin would remove the other's data."""
    for number, (name, market) in enumerate((("a-b", "c"), ("a", "b-c"))):
        root = lay(tmp_path / f"stall{number}", below("p", plugin(name)))
        marketplace(root, {"name": name, "source": "./p"}, name=market)
        ask("plugin", "marketplace", "add", str(root), status=0)
    ask("plugin", "install", "a-b@c", "--yes", status=0)
    assert ask("plugin", "install", "a@b-c", "--yes", status=1)["kind"] == "name_confusing"


def test_a_path_in_a_repository_has_its_commit_as_version(ask: Ask, tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", below("p", plugin(version=None)))
    head = commit(marketplace(root, {"name": "formatter", "source": "./p"}))
    ask("plugin", "marketplace", "add", f"file://{root}", status=0)
    assert ask("plugin", "install", "formatter", "--yes", status=0)["changes"][0]["version"] == head[:12]


def test_removing_loses_nothing_that_came_meanwhile(
    ask: Ask, stall: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process installs the plugin in a second scope just before the record is written."""
    ask("plugin", "install", "formatter", "--yes", "--scope", "local", status=0)
    real = installation.change_setting

    def late(*words: Any) -> Any:
        monkeypatch.setattr(installation, "change_setting", real)
        ask("plugin", "install", "formatter", "--yes", "--scope", "user", status=0)
        return real(*words)

    monkeypatch.setattr(installation, "change_setting", late)
    ask("plugin", "remove", "formatter", "--scope", "local", status=0)
    assert [one.scope for one in plugin_places.records().plugins["formatter@tools"]] == ["user"]


def test_a_marketplace_that_can_not_be_read_is_named(ask: Ask, stall: Path) -> None:
    (stall / ".claude-plugin/marketplace.json").write_text("{")
    assert "tools could not be read" in ask("plugin", "install", "formatter", status=1)["message"]


def test_a_content_that_went_meanwhile_is_not_recorded(
    ask: Ask, stall: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process prunes the cache while the user reads the question."""

    def read(*words: Any, **more: Any) -> bool:
        ask("plugin", "prune", status=0)
        return True

    monkeypatch.setattr("checkrein.cli.plugin_target.agreed", read)
    error = ask("plugin", "install", "formatter", "--scope", "project", status=1)
    assert (error["kind"], error["retryable"]) == ("fetch_failed", True)
    assert not (project / "checkrein.lock").exists()


def test_broken_settings_stop_everything(ask: Ask, stall: Path, project: Path) -> None:
    lay(project, {".claude/settings.json": "{broken"})
    error = ask("plugin", "install", "formatter", "--yes", "--scope", "project", status=1)
    assert error["kind"] == "config_broken"
    assert not (project / "checkrein.lock").exists()
    assert plugin_places.records().plugins == {}


def test_a_full_disk_is_told_in_the_envelope(ask: Ask, stall: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def full(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and ".staging" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device", path)
        return real(path, flags, *more, **named)

    monkeypatch.setattr(package_tree.os, "open", full)
    error = ask("plugin", "install", "formatter", "--yes", status=1)
    assert (error["kind"], "No space" in error["message"]) == ("plugins_unwritable", True)
    assert plugin_places.records().plugins == {}
