"""The same rule, hook and server, with the same file and line, for `why`, `check` and `compile`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import checkrein.compile
from checkrein.cli.main import run
from support.files import lay

SPEC = ".claude/skills/demo/SKILL.md"
SETTINGS = """\
{
  "permissions": {
    "allow": ["Read"],
    "deny": [
      "Bash(curl:*)",
      "Bsh(rm:*)"
    ]
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {"type": "command", "command": "true"},
          {"type": "command", "command": "./missing.sh"}
        ]
      }
    ]
  }
}
"""
SERVERS = """\
{
  "mcpServers": {
    "db": {"command": "true"},
    "web": {"type": "http", "url": "http://example.com"}
  }
}
"""
HOOKED = """\
---
name: demo
description: Does a thing. Use it for tests.
hooks:
  Stop:
    - hooks:
        - type: command
          command: "true"
---

You are kind.
"""

Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {".git/": None, ".claude/settings.json": SETTINGS, ".mcp.json": SERVERS, SPEC: HOOKED}
    monkeypatch.chdir(lay(tmp_path / "project", files))
    monkeypatch.setenv("HOME", str(tmp_path))


def place(origin: dict[str, Any]) -> str:
    return f"{Path(origin['file']).relative_to(Path.cwd())}:{origin['span']['line']}"


def explained(ask: Ask, where: str) -> dict[str, Any]:
    element: dict[str, Any] = ask("compile", SPEC, "--explain", where)["explained"]["element"]
    return element


def found_by_check(ask: Ask, code: str) -> list[str]:
    return [place(one["origin"]) for one in ask("check")["findings"] if one["code"] == code]


def test_a_rule(ask: Ask) -> None:
    [told] = ask("why", "permissions.deny")["explanations"]
    [_, where] = [place(one["origin"]) for one in told["chain"]]
    assert where == ".claude/settings.json:6"
    assert found_by_check(ask, "PERM008") == [where]
    element = explained(ask, where)
    assert f"{element['source_file']}:{element['line']}" == where
    assert (element["content_full"], element["source_lines"]) == ("Bsh(rm:*)", "json:permissions.deny[1]")


def test_the_rule_of_a_call(ask: Ask, tmp_path: Path) -> None:
    told = json.dumps(ask("why", "Bash(curl example.com)"))
    assert '"line": 5' in told
    ask("compile", SPEC, "-o", str(tmp_path / "out"))
    package = tmp_path / "out" / "demo_mellea"
    assert 'source=".claude/settings.json:5"' in (package / "constrained_slots.py").read_text()
    assert ".claude/settings.json:5 json:permissions.deny[0]" in (package / "mapping_report.md").read_text()


def test_a_hook(ask: Ask) -> None:
    places = [place(one["origin"]) for one in ask("why", "PreToolUse")["explanations"]]
    assert places == [".claude/settings.json:14", ".claude/settings.json:15"]
    assert found_by_check(ask, "HOOK009") == places[1:]
    for where in places:
        element = explained(ask, where)
        assert [f"{element['source_file']}:{line}" for line in element["details"]["lines"]] == places
        assert f"{element['source_file']}:{element['line']}" == places[0]


def test_a_hook_of_the_spec_itself(ask: Ask) -> None:
    element = explained(ask, f"{SPEC}:7")
    assert (element["source_lines"], element["line"]) == ("frontmatter.hooks.Stop[0]", 7)


def test_a_server(ask: Ask) -> None:
    [told] = ask("why", "web")["explanations"]
    where = place(told["origin"])
    assert where == ".mcp.json:4"
    assert found_by_check(ask, "MCP008") == [where]
    element = explained(ask, where)
    assert f"{element['source_file']}:{element['line']}" == where
    assert element["details"] == {"server": "web"}


def test_what_the_reader_drops_is_told_as_check_tells_it(
    ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(".mcp.json").write_text('{"mcpServers": {\n"bad": 3}}')
    Path(".claude/settings.json").write_text('{"permissions": {"deny": [\n5]}, "hooks": {"Stop": [\n3]}}')
    assert run(["compile", SPEC, "--dry-run", "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    told = {(one["code"], place(one["origin"])) for one in warnings}
    assert told == {
        ("SET002", ".claude/settings.json:2"),
        ("HANDLER001", ".claude/settings.json:3"),
        ("SERVER001", ".mcp.json:2"),
    }
    for code, where in told:
        assert found_by_check(ask, code) == [where]


def test_imports_that_are_not_followed_name_their_file(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/CLAUDE.md").write_text("I like tea. @more.md\n")
    (tmp_path / ".claude/more.md").write_text("OUTSIDE")
    Path("CLAUDE.md").write_text("We ship tea. @docs/a.md\n")
    Path("docs").mkdir()
    Path("docs/a.md").write_text("Fact.\n\n@../CLAUDE.md @~/.claude/more.md\n")
    told = ask("compile", SPEC, "--scope", "user", "-o", "out")
    assert told["warnings"] == [
        "~/.claude/CLAUDE.md imports a file outside the workspace; it was not read",
        "docs/a.md imports CLAUDE.md again; the second import was skipped",
        "docs/a.md imports a file outside the workspace; it was not read",
    ]
    made = [path for path in Path("out").rglob("*") if path.is_file()]
    assert not any(b"OUTSIDE" in path.read_bytes() for path in made)


@pytest.mark.parametrize("behavior", ["allow", "ask", "deny"])
def test_a_rule_without_a_tool_is_only_told(ask: Ask, behavior: str) -> None:
    Path(".claude/settings.json").write_text(json.dumps({"permissions": {behavior: ["", "(x)"]}}, indent=0))
    element = explained(ask, ".claude/settings.json:5")
    assert (element["tag"], element["source_lines"]) == ("NO_DECOMPOSE", f"json:permissions.{behavior}[1]")
    assert "lints" in ask("compile", SPEC, "--dry-run")


def test_settings_of_another_kind_than_they_should_be(ask: Ask) -> None:
    Path(".claude/settings.json").write_text(
        json.dumps(
            {
                "defaultMode": ["plan"],
                "env": [{}],
                "hooks": {"hooks": [{"type": "command", "command": "x"}], "Stop": {}},
                "mcpServers": {"a": []},
                "permissions": {"deny": "Bash", "defaultMode": {"a": 1}},
            },
            indent=0,
        )
    )
    ask("compile", SPEC, "-o", "out")
    inventory = json.loads(Path("out/demo_mellea/intermediate/inventory.json").read_text())
    found = [
        (one["source_lines"], one["tag"])
        for one in inventory["elements"]
        if one["source_file"] == ".claude/settings.json"
    ]
    assert found == [
        ("json:defaultMode", "NO_DECOMPOSE"),
        ("json:env", "NO_DECOMPOSE"),
        ("json:hooks.hooks[0]", "ORCHESTRATE"),
        ("json:permissions.deny", "NO_DECOMPOSE"),
        ("json:permissions.defaultMode", "NO_DECOMPOSE"),
    ]


READERS = re.compile(
    r"^\s*(?:from checkrein\.base\.(?:frontmatter|jsonc) import|from checkrein\.base import .*\bfrontmatter\b"
    r"|from checkrein\.base\.jsonpos import (?!join$)|from checkrein\.dialects\b.*\bjsonfile\b"
    r"|import tomllib)",
    re.MULTILINE,
)


def test_no_second_reader() -> None:
    """What the files of a project say comes from the dialect's readers; `shapes/` looks into texts."""
    for path in Path(checkrein.compile.__file__).parent.glob("*.py"):
        assert not READERS.search(path.read_text("utf-8")), path
