"""Which file a hook's command starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.model.items import Hook, Plugin
from checkrein.model.project import Detection, Place, Project, Sources
from checkrein.passes.checks.scripts import Script, script_of, words_of


def project(plugins: tuple[Plugin, ...] = ()) -> Project:
    place = Place(cwd="/p", root="/p", root_reason="git", home="/h", config_dir="/h/.claude")
    return Project(place=place, detection=Detection("claude_code", {}, ()), sources=Sources(plugins=plugins))


def found(command: str, args: tuple[str, ...] | None = None, plugin: str | None = None) -> Script | None:
    origin = Origin("/p/.claude/settings.json", "project")
    root = Plugin(name="tidy", origin=Origin("/pl/x", "plugin"), root="/pl")
    hook = Hook(name="Stop", origin=origin, type="command", command=command, args=args, plugin=plugin)
    return script_of(hook, project((root,)))


@pytest.mark.parametrize(
    ("command", "path", "direct", "relative"),
    [
        ('"$CLAUDE_PROJECT_DIR"/a/b.sh', "/p/a/b.sh", True, False),
        ("${CLAUDE_PROJECT_DIR:-.}/a/b.sh --x", "/p/a/b.sh", True, False),
        ("bash .claude/hooks/b.sh", "/p/.claude/hooks/b.sh", False, True),
        ("./b.sh && echo done", "/p/b.sh", True, True),
        ("python3 -u b.py", "/p/b.py", False, True),
        ("FOO=1 exec ~/b.sh", "/h/b.sh", True, False),
        ("/usr/bin/env bash $HOME/b.sh", "/h/b.sh", False, False),
        ("uv run scripts/b.py", "/p/scripts/b.py", False, True),
        ("node '/srv/a b.js'", "/srv/a b.js", False, False),
    ],
)
def test_scripts_are_found(command: str, path: str, direct: bool, relative: bool) -> None:
    script = found(command)
    assert script is not None
    assert (script.path, script.direct, script.relative) == (path, direct, relative)


@pytest.mark.parametrize(
    "command",
    [
        "date",
        "bash -c 'x/y.sh'",
        "python3 -m pkg.mod",
        "/usr/bin/afplay x",
        "$TOOLS/x.sh",
        "cd sub && ./x.sh",
        "jq -r .a | xargs prettier",
        "bash 'unclosed",
        "",
        "bash",
        "npx https://x/y",
    ],
)
def test_programs_and_unclear_commands_are_left_alone(command: str) -> None:
    assert found(command) is None


def test_exec_form_and_plugin_root() -> None:
    script = found("bash", ("${CLAUDE_PLUGIN_ROOT}/a.sh",), plugin="tidy")
    assert script is not None
    assert script.path == "/pl/a.sh"
    assert found("${CLAUDE_PLUGIN_ROOT}/a.sh") is None, "without a plugin the variable is unknown"


def test_words_end_at_an_operator() -> None:
    assert words_of("a 'b c'|d") == ["a", "b c"]
    assert words_of("a # b") == ["a", "#", "b"]


def test_existence_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("")
    assert Script("a.sh", str(tmp_path / "a.sh"), True, True).exists
    assert not Script("b.sh", str(tmp_path / "b.sh"), True, True).exists
