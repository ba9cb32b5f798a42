from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.passes.findings import check
from checkrein.passes.load import load


def test_rules_of_the_configuration_count_with_their_place(project: Path) -> None:
    first = '\n[[permissions.rules]]\nask = "Bash(make *)"\n'
    text = first + '\n[[permissions.rules]]\ndeny = "Bash(rm *)"\nmatch = ["rm x"]\n'
    (project / "checkrein.toml").write_text(text)
    loaded = load(project)
    assert [(rule.verdict, rule.text, rule.origin.line) for rule in loaded.rules] == [
        ("ask", "Bash(make *)", 2),
        ("deny", "Bash(rm *)", 5),
    ]
    assert loaded.rules[1].match == ("rm x",)


def test_pyproject_too(project: Path) -> None:
    (project / "pyproject.toml").write_text('[[tool.checkrein.permissions.rules]]\ndeny = "Read(.env)"\n')
    assert [rule.text for rule in load(project).rules] == ["Read(.env)"]


def test_examples_are_checked(project: Path) -> None:
    rule = (
        '[[permissions.rules]]\ndeny = "Bash(rm *)"\nmatch = ["ls"]\nnot_match = ["sudo rm x", "git rm x"]\n'
    )
    (project / "checkrein.toml").write_text(rule)
    found = [one.message for one in check(load(project), select=["PERM002"])]
    assert len(found) == 2
    assert any("should match `ls`" in message for message in found)
    assert any("should not match `sudo rm x`" in message for message in found)


@pytest.mark.parametrize(
    "entry", ['dney = "x"', 'deny = "a"\nallow = "b"', "deny = 3", 'deny = "a"\nother = 1']
)
def test_entries_that_are_no_rule_are_reported(project: Path, entry: str) -> None:
    (project / "checkrein.toml").write_text(f"[[permissions.rules]]\n{entry}\n")
    loaded = load(project)
    assert loaded.rules == ()
    assert [one.code for one in loaded.diagnostics] == ["CFG006"]


def test_a_project_does_not_take_back_what_its_user_denies(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = project / "checkrein-home"
    home.mkdir()
    (home / "config.toml").write_text('[[permissions.rules]]\ndeny = "Bash(rm *)"\n')
    (project / "checkrein.toml").write_text("[permissions]\nrules = []\n")
    monkeypatch.setenv("CHECKREIN_HOME", str(home))
    (rule,) = load(project).rules
    assert (rule.text, rule.origin.scope, rule.origin.line) == ("Bash(rm *)", "user", 1)
