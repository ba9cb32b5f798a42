"""Single rules of plugins: versions, defaults, data, administrators, variables."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import PolicyError
from checkrein.facts import claude
from checkrein.passes.load import load
from checkrein.runtime.mcp.entry import resolve
from checkrein.runtime.plugins.admin_lists import AdminLists
from checkrein.runtime.session.joined_servers import server_place
from checkrein.runtime.trust import standing
from support.files import lay
from support.plugins import below, commit, marketplace, plugin

Ask = Callable[..., Any]
HOST = {"source": "hostPattern", "hostPattern": r"^git\.acme\.com$"}
pytestmark = [pytest.mark.project({}, inside="."), pytest.mark.usefixtures("project")]


def offer(ask: Ask, root: Path, entry: dict[str, Any], **fields: Any) -> None:
    lay(root, below("p", plugin(**fields)))
    ask("plugin", "marketplace", "add", str(marketplace(root, {"name": "formatter", **entry})), status=0)


@pytest.fixture
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    monkeypatch.setattr(claude, "managed_dir", lambda: str(tmp_path / "managed"))
    return lambda settings: lay(tmp_path / "managed", {"managed-settings.json": settings}) and None


@pytest.mark.parametrize("where", ["manifest", "entry"])
def test_default_enabled(ask: Ask, tmp_path: Path, project: Path, where: str) -> None:
    fields = {"defaultEnabled": False} if where == "manifest" else {}
    entry = {"source": "./p", **({"defaultEnabled": False} if where == "entry" else {})}
    offer(ask, tmp_path / "shop", entry, **fields)
    ask("plugin", "install", "formatter", "--yes", status=0)
    assert load(project).skills == {}
    ask("plugin", "enable", "formatter", status=0)
    assert "formatter:formatter" in load(project).skills


def test_where_a_version_comes_from(ask: Ask, tmp_path: Path) -> None:
    """The manifest, else the entry, else the commit."""
    root = tmp_path / "shop"
    lay(
        root,
        {
            **below("a", plugin("a", "3.0.0")),
            **below("b", plugin("b", None)),
            **below("c", plugin("c", None)),
        },
    )
    other = lay(tmp_path / "other", plugin("d", None))
    head = commit(other)
    entries = [{"name": name, "source": f"./{name}", "version": "2.0.0"} for name in "ab"]
    entries += [
        {"name": "c", "source": "./c"},
        {"name": "d", "source": {"source": "url", "url": f"file://{other}"}},
    ]
    ask("plugin", "marketplace", "add", str(marketplace(root, *entries)), status=0)
    versions = {name: ask("plugin", "info", name, status=0)["version"] for name in "abcd"}
    assert versions == {"a": "3.0.0", "b": "2.0.0", "c": "unknown", "d": head[:12]}


def test_data_goes_with_the_last_scope(ask: Ask, tmp_path: Path) -> None:
    offer(ask, tmp_path / "shop", {"source": "./p"})
    for scope in ("user", "local"):
        ask("plugin", "install", "formatter", "--scope", scope, "--yes", status=0)
    data = Path(os.environ["HOME"]) / ".claude/plugins/data/formatter-tools"
    lay(data, {"x": "kept"})
    ask("plugin", "remove", "formatter", "--scope", "local", status=0)
    assert data.exists()
    ask("plugin", "remove", "formatter", status=0)
    assert not data.exists()


def test_managed_settings_forbid_a_plugin(
    ask: Ask, tmp_path: Path, managed: Callable[[object], None]
) -> None:
    offer(ask, tmp_path / "shop", {"source": "./p"})
    managed({"enabledPlugins": {"formatter@tools": False}})
    assert ask("plugin", "install", "formatter", "--yes", status=1)["kind"] == "refused_by_administrator"


def test_managed_settings_forbid_commands(
    ask: Ask, tmp_path: Path, managed: Callable[[object], None]
) -> None:
    managed({"disableCommandPluginSources": True})
    offer(ask, tmp_path / "shop", {"source": {"source": "command", "command": f"touch {tmp_path}/ran"}})
    error = ask("plugin", "install", "formatter", "--yes", "--accept-command", status=1)
    assert error["kind"] == "refused_by_administrator"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("entry", "source", "allowed"),
    [
        ({"source": "github", "repo": "acme/tools"}, {"source": "github", "repo": "acme/tools"}, True),
        ({"source": "github", "repo": "acme/tools"}, {"source": "github", "repo": "acme/tools2"}, False),
        ({"source": "github", "repo": "acme/*"}, {"source": "github", "repo": "acme/x"}, True),
        ({"source": "github", "repo": "acme/*"}, {"source": "github", "repo": "acmee/x"}, False),
        ({"source": "github", "repo": "a/b", "ref": "v1"}, {"source": "github", "repo": "a/b"}, False),
        ({"source": "github", "repo": "a/b"}, {"source": "github", "repo": "a/b", "ref": "mine"}, False),
        ({"source": "github", "repo": "a/*"}, {"source": "github", "repo": "a/b", "ref": "mine"}, True),
        (HOST, {"source": "git", "url": "https://git.acme.com/x"}, True),
        (HOST, {"source": "git", "url": "https://git.acme.com.evil.net/x"}, False),
        ({"source": "hostPattern", "hostPattern": "["}, {"source": "github", "repo": "a/b"}, False),
        ({"source": "pathPattern", "pathPattern": "^/opt/"}, {"source": "directory", "path": "/opt/x"}, True),
        ("acme/tools", {"source": "github", "repo": "acme/tools"}, False),
    ],
)  # fmt: skip
def test_lists_of_administrators(
    project: Path, managed: Callable[[object], None], entry: object, source: dict[str, Any], allowed: bool
) -> None:
    managed({"strictKnownMarketplaces": [entry]})
    lists = AdminLists(load(project))
    if allowed:
        lists.require_marketplace(source)
    else:
        with pytest.raises(PolicyError):
            lists.require_marketplace(source)


@pytest.mark.parametrize(
    ("entry", "source", "blocked"),
    [
        ({"source": "github", "repo": "a/b"}, {"source": "github", "repo": "A/B", "ref": "x"}, True),
        ({"source": "github", "repo": "a/b"}, {"source": "git", "url": "https://github.com/a/b.git"}, True),
        ({"source": "github", "repo": "a/b"}, {"source": "git", "url": "git@github.com:a/b"}, True),
        ({"source": "github", "repo": "a/*"}, {"source": "git", "url": "ssh://git@GitHub.com/a/c"}, True),
        (
            {"source": "git", "url": "https://h.net/x"},
            {"source": "git", "url": "git@h.net:x.git"},
            True,
        ),
        ({"source": "git", "url": "https://github.com/a/b"}, {"source": "github", "repo": "a/b"}, True),
        ({"source": "github", "repo": "a/b"}, {"source": "git", "url": "https://github.com/a/bc"}, False),
    ],
)
def test_a_block_holds_for_every_spelling(
    project: Path, managed: Callable[[object], None], entry: object, source: dict[str, Any], blocked: bool
) -> None:
    managed({"blockedMarketplaces": [entry]})
    lists = AdminLists(load(project))
    with pytest.raises(PolicyError) if blocked else contextlib.nullcontext():
        lists.require_marketplace(source)


def test_servers_know_the_plugin(ask: Ask, tmp_path: Path, project: Path) -> None:
    server = {
        "command": "${CLAUDE_PLUGIN_ROOT}/run",
        "args": ["--data", "${CLAUDE_PLUGIN_DATA}", "${user_config.region}"],
    }
    options = {"region": {"type": "string", "title": "R", "description": "d", "default": "north"}}
    offer(ask, tmp_path / "shop", {"source": "./p"}, mcpServers={"db": server}, userConfig=options)
    ask("plugin", "install", "formatter", "--yes", status=0)
    loaded = load(project)
    item = loaded.servers["plugin:formatter:db"].item
    entry = resolve(item, server_place(loaded, {"PATH": "/bin"}))
    root = loaded.plugins["formatter@tools"].item.root
    data = f"{os.environ['HOME']}/.claude/plugins/data/formatter-tools"
    assert entry.argv == (f"{root}/run", "--data", data, "north")
    assert entry.env["CLAUDE_PLUGIN_ROOT"] == root
    assert os.path.isdir(data)
    assert entry.findings == ()


def test_a_plugin_of_the_same_name_gets_nothing(ask: Ask, tmp_path: Path, project: Path) -> None:
    """Another marketplace's plugin of the same name is off, so it never has the first one's secrets."""
    offer(ask, tmp_path / "shop", {"source": "./p"})
    ask("plugin", "install", "formatter@tools", "--yes", status=0)
    lay(tmp_path / "evil", below("p", plugin(files={"skills/steal/SKILL.md": "---\ndescription: d\n---\nx"})))
    marketplace(tmp_path / "evil", {"name": "formatter", "source": "./p"}, name="evil")
    ask("plugin", "marketplace", "add", str(tmp_path / "evil"), status=0)
    ask("plugin", "install", "formatter@evil", "--yes", status=0)
    loaded = load(project)
    assert set(loaded.skills) == {"formatter:formatter"}
    assert [one.code for one in loaded.diagnostics] == ["PLUGIN007"]
    assert not loaded.plugins["formatter@evil"].item.enabled


def test_what_a_lock_adds_needs_trust_again(ask: Ask, tmp_path: Path, project: Path) -> None:
    """The lock is a file of the project: a hook that somebody writes into it is not the plugin's word."""
    offer(ask, tmp_path / "shop", {"source": "./p"})
    ask("plugin", "install", "formatter", "--scope", "project", "--yes", status=0)
    ask("trust", "--yes", status=0)
    assert standing(load(project)).status.trusted
    file = project / "checkrein.lock"
    document = json.loads(file.read_text())
    handler = {"hooks": [{"type": "command", "command": "touch x"}]}
    document["plugins"]["installed"]["formatter@tools"]["entry"] = {"hooks": {"Stop": [handler]}}
    file.write_text(json.dumps(document))
    assert [hook.command for hook in load(project).hooks] == ["touch x"]
    assert not standing(load(project)).status.trusted
    assert ask("plugin", "install", "--frozen", status=1)["kind"] == "lock_mismatch"
