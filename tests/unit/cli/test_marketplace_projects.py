"""A repository that is a marketplace is a project too: show, deploy and compile see all of its plugins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from support.plugins import below, plugin

Ask = Callable[..., Any]
NAMES = [f"plug{number}" for number in range(8)]
ENTRIES = [{"name": name, "source": f"./plugins/{name}"} for name in NAMES]
FILES: dict[str, object] = {
    ".claude-plugin/marketplace.json": {"name": "tools", "owner": {"name": "Ann"}, "plugins": ENTRIES},
    "CLAUDE.md": "Our own instructions.\n",
}
for one in NAMES:
    FILES |= below(
        f"plugins/{one}", plugin(one, files={"agents/a.md": "---\nname: a\ndescription: d\n---\nA\n"})
    )
pytestmark = [pytest.mark.project(FILES, inside="."), pytest.mark.usefixtures("project")]


def test_show_lists_what_is_for_others(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row for row in ask("show", status=0)["rows"] if row["kind"] == "skill"]
    assert [(row["name"], row["state"]) for row in rows] == [(f"{name}:{name}", "offered") for name in NAMES]
    assert run(["show"]) == 0
    assert "8 for others to install" in capsys.readouterr().out


def test_show_one_plugin(ask: Ask) -> None:
    rows = ask("show", "--plugin", "plug3", status=0)["rows"]
    assert [(row["kind"], row["name"], row["state"]) for row in rows] == [
        ("skill", "plug3:plug3", "effective"),
        ("agent", "plug3:a", "effective"),
        ("plugin", "plug3", "effective"),
    ]
    assert ask("show", "--plugin", "plug33", status=1)["kind"] == "plugin_not_found"


@pytest.mark.parametrize("agent", ["codex", "copilot", "cursor", "gemini", "opencode"])
def test_deploy_takes_all_of_them(ask: Ask, agent: str) -> None:
    steps = ask("deploy", "--to", agent, "--dry-run", status=0)["steps"]
    paths = [step["path"] for step in steps]
    assert [name for name in NAMES if not any(name in path and "SKILL.md" in path for path in paths)] == []


def test_deploy_takes_one(ask: Ask, project: Path) -> None:
    steps = ask("deploy", "--to", "codex", "--plugin", "plug2", "--dry-run", status=0)["steps"]
    skills = [step["path"] for step in steps if step["path"].endswith("SKILL.md")]
    assert skills == [".agents/skills/plug2-plug2/SKILL.md"]


def test_compile_takes_a_skill_of_a_plugin(ask: Ask) -> None:
    done = ask("compile", "--plugin", "plug1", "plug1", "--dry-run", status=0)
    assert "plug1" in done["package"]
    assert ask("compile", "--plugin", "plug1", "nope", "--dry-run", status=1)["kind"] == "plugin_not_found"
