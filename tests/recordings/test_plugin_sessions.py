"""What a session does with installed plugins: what runs, with which values, and what does not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run as cli
from checkrein.passes.load import load
from checkrein.runtime.plugins.option_values import set_option
from checkrein.runtime.session.events import ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.turn.plugin_changes import changed
from checkrein.testing import Call, ScriptedModel, Turn
from support.files import lay
from support.plugins import below, marketplace, plugin, served, with_hook

OPTIONS = {
    "region": {"type": "string", "title": "R", "description": "d", "default": "north"},
    "token": {"type": "string", "title": "T", "description": "d", "sensitive": True},
}
SECRET = "tok-5b21c0ffee9d44"


def install(tmp_path: Path, files: dict[str, object], scope: str, **fields: Any) -> Path:
    """Put a plugin into a marketplace and install it."""
    shop = lay(tmp_path / "shop", below("p", plugin(files=files, **fields)))
    marketplace(shop, {"name": "formatter", "source": "./p"})
    assert cli(["plugin", "marketplace", "add", str(shop)]) == 0
    assert cli(["plugin", "install", "formatter", "--scope", scope, "--yes"]) == 0
    return shop


def bash(project: Path, command: str, **options: Any) -> str:
    """What the model gets back from one Bash call."""
    model = ScriptedModel((Turn(tool_calls=(Call("Bash", {"command": command}),)), Turn(text="ok")), idle=5)
    with Session(load(project), model=model, options=Options(allowed=("Bash",), **options)) as session:
        events = list(session.run("go"))
    (done,) = [event for event in events if isinstance(event, ToolFinished)]
    return str(done.content)


@pytest.mark.project({}, inside=".")
def test_hooks_programs_and_options_of_a_plugin(project: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = (
        f'#!/bin/sh\nenv | grep -E "^CLAUDE_PLUGIN" | sort > {seen}\n'
        f'test -d "$CLAUDE_PLUGIN_DATA" && echo data >> {seen}\n'
    )
    files = {
        **with_hook('"${CLAUDE_PLUGIN_ROOT}"/scripts/note'),
        "scripts/note": script,
        "bin/frobnicate": "#!/bin/sh\necho frobnicated\n",
        "bin/ls": "#!/bin/sh\necho shadowed\n",
    }
    install(tmp_path, files, "user", userConfig=OPTIONS)
    loaded = load(project)
    item = loaded.plugins["formatter@tools"].item
    set_option(loaded, os.environ, item, "formatter@tools", "token", SECRET)
    assert "frobnicated" in bash(project, "frobnicate")
    told = seen.read_text()
    assert f"CLAUDE_PLUGIN_ROOT={item.root}" in told
    assert "CLAUDE_PLUGIN_OPTION_REGION=north" in told
    assert f"CLAUDE_PLUGIN_OPTION_TOKEN={SECRET}" in told
    assert told.endswith("data\n")
    assert "shadowed" not in bash(project, "ls")
    assert SECRET not in bash(project, f"cat {seen}")


@pytest.mark.project({}, inside=".")
def test_updated_disabled_and_removed_hooks_do_not_run(project: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    shop = install(tmp_path, with_hook(f"touch {first}"), "user")
    bash(project, "true")
    assert first.exists()
    first.unlink()
    lay(shop, below("p", plugin(version="2.0.0", files=with_hook(f"touch {second}"))))
    assert cli(["plugin", "update", "--yes"]) == 0
    bash(project, "true")
    assert (first.exists(), second.exists()) == (False, True)
    second.unlink()
    assert cli(["plugin", "disable", "formatter"]) == 0
    bash(project, "true")
    assert cli(["plugin", "enable", "formatter"]) == 0
    assert cli(["plugin", "remove", "formatter"]) == 0
    bash(project, "true")
    assert (first.exists(), second.exists()) == (False, False)


@pytest.mark.project({}, inside=".")
def test_a_plugin_that_the_project_enables_needs_trust(project: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    install(tmp_path, {**with_hook(f"touch {ran}"), "bin/frobnicate": "#!/bin/sh\necho yes\n"}, "project")
    said = bash(project, "frobnicate")
    assert "this project is not trusted" in said
    assert "yes" not in said
    assert not ran.exists()
    assert "yes" in bash(project, "frobnicate", trust=True)
    assert ran.exists()


def test_an_untrusted_project_causes_no_fetch(
    project: Path,
    write: Callable[[str, object], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    with served() as site:
        source = {"source": "url", "url": f"{site.url}/marketplace.json"}
        write(
            ".claude/settings.json",
            {
                "extraKnownMarketplaces": {"evil": {"source": source}},
                "enabledPlugins": {"x@evil": True},
            },
        )
        bash(project, "true")
        assert cli(["plugin", "list", "--available"]) == 0
        assert cli(["plugin", "install", "x@evil", "--yes"]) == 1
        assert cli(["plugin", "marketplace", "update"]) == 0
        assert site.asked == []
        assert cli(["trust", "--yes"]) == 0
        site.pages["/marketplace.json"] = json.dumps(
            {"name": "evil", "owner": {"name": "E"}, "plugins": []}
        ).encode()
        capsys.readouterr()
        assert cli(["plugin", "list", "--available"]) == 0
        assert site.asked == ["/marketplace.json"]


@pytest.mark.project({}, inside=".")
def test_output_styles_of_plugins(project: Path, tmp_path: Path) -> None:
    files = {"output-styles/terse.md": "---\nname: terse\ndescription: d\n---\nSay little.\n"}
    shop = install(tmp_path, files, "user")
    lay(Path(os.environ["HOME"]), {".claude/settings.json": _with(style="formatter:terse")})

    def prompt() -> str:
        model = ScriptedModel((Turn(text="ok"),), idle=5)
        with Session(load(project), model=model, options=Options()) as session:
            list(session.run("go"))
        return str(model.requests[0].system)

    assert "Say little." in prompt()
    lay(Path(os.environ["HOME"]), {".claude/settings.json": _with(style=None)})
    assert "Say little." not in prompt()
    forced = {"output-styles/terse.md": "---\nforce-for-plugin: true\n---\nSay nothing.\n"}
    lay(shop, below("p", plugin(version="1.1.0", files=forced)))
    assert cli(["plugin", "update", "--yes"]) == 0
    assert "Say nothing." in prompt()


def _with(style: str | None) -> dict[str, object]:
    named = {"outputStyle": style} if style else {}
    return {"enabledPlugins": {"formatter@tools": True}, **named}


@pytest.mark.project({}, inside=".")
def test_reloading_never_breaks_the_cache(project: Path, tmp_path: Path) -> None:
    shop = install(tmp_path, {}, "user")
    model = ScriptedModel((Turn(text="one"), Turn(text="two")), idle=5)
    with Session(load(project), model=model, options=Options()) as session:
        list(session.run("go"))
        assert "as they were" in str(list(session.run("/reload-plugins")))
        server = {".mcp.json": '{"mcpServers": {"late": {"command": "serve"}}}'}
        lay(shop, below("p", plugin(version="1.0.1", files=server)))
        assert cli(["plugin", "update", "--yes"]) == 0
        news = changed(session.conversation)
        assert (news.servers_added, news.servers_removed) == (("plugin:formatter:late",), ())
        said = str(list(session.run("/reload-plugins")))
        assert "would break the prompt cache" in said
        assert "formatter@tools" in said
        assert "start a new one" in str(list(session.run("/reload-plugins --force")))
        list(session.run("again"))
    assert model.requests[1].system == model.requests[0].system
