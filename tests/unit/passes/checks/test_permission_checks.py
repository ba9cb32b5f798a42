"""Permission checks beyond their two examples: what each says, and what it keeps silent about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.passes.findings import check
from checkrein.passes.load import load


def findings(
    tmp_path: Path, permissions: dict[str, list[str]], user: dict[str, list[str]] | None = None
) -> list[str]:
    project, home = tmp_path / "project", tmp_path / "home"
    for root, lists in ((project, permissions), (home, user or {})):
        (root / ".claude").mkdir(parents=True)
        (root / ".claude" / "settings.json").write_text(json.dumps({"permissions": lists}), "utf-8")
    loaded = load(project, env={"HOME": str(home)}, home=str(home), managed_dir=str(home / "managed"))
    return [f"{found.code} {found.severity} {found.message}" for found in check(loaded, ["PERM"])]


@pytest.mark.parametrize(
    "rule",
    [
        "Bash(git *)",
        "Bash(make *)",
        "Bash(sed *)",
        "Bash(find *)",
        "Bash(xargs *)",
        "Bash(python -m pytest *)",
        "Bash(node scripts/build.js:*)",
        "Bash(python3 --version)",
        "Bash(git submodule *)",
    ],
)
def test_what_is_narrow_enough_is_not_called_anything(rule: str, tmp_path: Path) -> None:
    assert findings(tmp_path, {"allow": [rule]}) == []


@pytest.mark.parametrize(
    ("rule", "program"),
    [
        ("Bash(python3.12 -c *)", "python"),
        ("Bash(/bin/bash:*)", "bash"),
        ("Bash(npx *)", "npx"),
        ("Bash(uv run *)", "uv run"),
        ("Bash(sudo *)", "sudo"),
        ("Bash(docker exec -it *)", "docker exec"),
    ],
)
def test_programs_that_run_anything(rule: str, program: str, tmp_path: Path) -> None:
    said = f"PERM010 warning `{rule}` in `allow` lets {program} run anything"
    assert findings(tmp_path, {"allow": [rule]}) == [said]


def test_a_users_deny_overrules_the_projects_allow(tmp_path: Path) -> None:
    found = findings(tmp_path, {"allow": ["Bash(git push *)"]}, {"deny": ["Bash(git *)"]})
    assert found == [
        "PERM005 warning `Bash(git push *)` in `allow` never decides: `Bash(git *)` in `deny` covers it"
    ]


def test_a_deny_that_is_ignored_is_an_error_and_an_allow_a_warning(tmp_path: Path) -> None:
    found = findings(tmp_path, {"deny": ["Write(.env*)", "Edit(.env*)"], "allow": ["Grep(src/**)"]})
    assert [line.split(" `")[0] for line in found] == [
        "PERM003 error Claude Code ignores",
        "PERM003 warning Claude Code ignores",
    ]


def test_a_bare_program_is_fine_where_a_wider_rule_stands_beside_it(tmp_path: Path) -> None:
    codes = [line.split()[0] for line in findings(tmp_path, {"deny": ["Bash(curl)", "Bash(curl *)"]})]
    assert codes == ["PERM007"]
    assert findings(tmp_path / "alone", {"ask": ["Bash(curl)"]})[0].startswith("PERM011 warning")


def test_a_missing_tool_is_named_once(tmp_path: Path) -> None:
    found = findings(tmp_path, {"deny": ["Raed(.env)", "bash(rm *)", "Bash(rm *"]})
    assert [line.split()[0] for line in found] == ["PERM008", "PERM008", "PERM001"]
    assert "did you mean `Read`" in found[0]


def test_a_hundred_different_rules_are_silent(tmp_path: Path) -> None:
    assert findings(tmp_path, {"allow": [f"Bash(tool{n} check *)" for n in range(100)]}) == []
