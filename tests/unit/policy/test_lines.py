"""Records in, answers out; examples of rules; PowerShell."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import Origin, Span
from checkrein.model.rule import Rule, Verdict, parse_rule
from checkrein.policy.examples import check_examples, example_call
from checkrein.policy.lines import RecordError, answer
from checkrein.policy.policy import compile_policy
from checkrein.policy.situation import Situation
from checkrein.policy.values import Call, Context


def test_an_answer() -> None:
    record = {"id": 7, "permissions": {"deny": ["Bash(rm *)"]}, "tool": "Bash", "input": {"command": "rm a"}}
    found = answer(record)
    assert found.line.id == 7
    assert found.line.verdict == "deny"
    assert found.line.offered
    assert found.line.rule == "Bash(rm *)"
    assert found.line.origin == "<stdin> permissions.deny[0]"
    assert found.matched is None


@pytest.mark.parametrize(
    ("want", "matched"),
    [("deny", True), (["ask", "deny"], True), ("ask", False), ("removed", True), (["allow"], False)],
)
def test_what_is_wanted(want: Any, matched: bool) -> None:
    record = {"permissions": {"deny": ["Bash"]}, "tool": "Bash", "input": {"command": "x"}, "want": want}
    assert answer(record).matched is matched


def test_context_of_a_record() -> None:
    base = {"tool": "Read", "cwd": "/p/sub", "root": "/p", "home": "/h"}
    assert answer({**base, "input": {"file_path": "../a"}}).line.verdict == "allow"
    assert answer({**base, "input": {"file_path": "/x/a"}}).line.verdict == "ask"
    assert answer({**base, "input": {"file_path": "/x/a"}, "add_dirs": ["/x"]}).line.verdict == "allow"
    more = {"permissions": {"additionalDirectories": ["/x"]}}
    assert answer({**base, **more, "input": {"file_path": "/x/a"}}).line.verdict == "allow"
    assert answer({**base, **more, "trusted": False, "input": {"file_path": "/x/a"}}).line.verdict == "ask"
    links = {"/p/l": "/x"}
    assert answer({**base, "links": links, "input": {"file_path": "/p/l/a"}}).line.verdict == "ask"
    anchored = {"permissions": {"allow": ["Edit(/a/**)"]}, "rules_dir": "/cfg", "tool": "Edit"}
    assert answer({**base, **anchored, "input": {"file_path": "/cfg/a/b"}}).line.verdict == "allow"
    assert answer({"tool": "Read", "input": {"file_path": "a"}}, cwd="/q").line.verdict == "allow"
    assert answer({"mode": "manual", "tool": "TaskList"}).line.verdict == "allow"


@pytest.mark.parametrize(
    "record",
    [
        [],
        "x",
        {},
        {"tool": 1},
        {"tool": "Bash", "input": []},
        {"tool": "Bash", "mode": "defualt"},
        {"tool": "Bash", "permissions": {"deny": "x"}},
        {"tool": "Bash", "permissions": {"deny": [1]}},
        {"tool": "Bash", "trusted": "yes"},
        {"tool": "Bash", "links": {"a": 1}},
        {"tool": "Bash", "input": {"command": "x"}, "want": "maybe"},
        {"tool": "Bash", "cwd": 3},
    ],
)
def test_a_broken_record_is_named(record: Any) -> None:
    with pytest.raises(RecordError):
        answer(record)


@pytest.mark.parametrize(
    ("record", "meant"),
    [
        ({"tool": "TaskList", "permision": {}}, "permissions"),
        ({"tool": "TaskList", "permissions": {"alow": []}}, "allow"),
        ({"tool": "TaskList", "permissions": {"additionalDirectorys": []}}, "additionalDirectories"),
        ({"tool": "TaskList", "zzz": 1}, "`zzz` is not a field"),
    ],
)
def test_fields_that_mean_nothing_are_errors(record: Any, meant: str) -> None:
    with pytest.raises(RecordError, match=meant):
        answer(record)


def test_a_record_without_permissions_is_judged_in_the_project() -> None:
    asked: list[tuple[str | None, bool | None]] = []

    def project(mode: str | None, trusted: bool | None) -> tuple[Situation, dict[str, str]]:
        asked.append((mode, trusted))
        rule = parse_rule("Read(.env)", "deny", Origin("/p/s.json", "project", Span(4)), anchor="/p")
        return Situation(policy=compile_policy([rule]), root="/p", home="/h"), {"/p/l": "/p/.env"}

    read = {"tool": "Read", "input": {"file_path": ".env"}}
    found = answer(read, cwd="/q", project=project).line
    assert (found.verdict, found.origin) == ("deny", "/p/s.json:4")
    linked = {**read, "input": {"file_path": "l"}}
    assert answer(linked, project=project).line.verdict == "deny"
    assert answer({**linked, "links": {}}, project=project).line.verdict == "allow"
    moved = {"tool": "Read", "input": {"file_path": "/p/a"}, "root": "/x", "cwd": "/x/y"}
    assert answer(moved, project=project).line.verdict == "ask"
    assert answer({**read, "mode": "plan", "trusted": False}, project=project).line.verdict == "deny"
    assert answer({**read, "permissions": {}}, cwd="/q", project=project).line.verdict == "allow"
    assert asked == [(None, None)] * 4 + [("plan", False)]
    with pytest.raises(RecordError, match="rules_dir"):
        answer({**read, "rules_dir": "/x"}, project=project)


# Examples

CONTEXT = Context(cwd="/p", root="/p", home="/h")


def _rule(text: str, behavior: Verdict, match: tuple[str, ...] = (), not_match: tuple[str, ...] = ()) -> Rule:
    return parse_rule(text, behavior, Origin("checkrein.toml", "project"), match=match, not_match=not_match)


def test_examples_that_hold() -> None:
    rules = [
        _rule(
            "Bash(git push *)",
            "deny",
            ("git push", "git -C . push x", "ls && git push"),
            ("git pull", "git pushx"),
        ),
        _rule("Bash(npm test *)", "allow", ("npm test", "timeout 5 npm test"), ("npm tests", "ls")),
        _rule("Read(.env)", "deny", (".env", "a/.env"), (".env.local",)),
        _rule("WebFetch(domain:*.x.org)", "ask", ("https://a.x.org",), ("https://x.org",)),
        _rule("Agent(Explore)", "deny", ("Explore",), ("Plan",)),
        _rule("Skill(deploy *)", "allow", ("deploy", "deploy prod"), ("other",)),
        _rule("mcp__a__b", "deny", ("x",)),
    ]
    assert check_examples(rules, CONTEXT) == ()


def test_examples_that_do_not() -> None:
    found = check_examples([_rule("Bash(git push*)", "deny", ("git pull",), ("git pushx",))], CONTEXT)
    assert [one.code for one in found] == ["PERM002", "PERM002"]
    assert "should match `git pull`, but it does not" in found[0].message
    assert "should not match `git pushx`, but it does" in found[1].message


def test_a_call_for_an_example() -> None:
    assert example_call(_rule("Task(x)", "deny"), "x") == Call("Agent", {"subagent_type": "x"})
    assert example_call(_rule("Skill(x)", "deny"), "x y z") == Call("Skill", {"skill": "x", "args": "y z"})


# PowerShell


@pytest.mark.parametrize(
    ("permissions", "command", "expected"),
    [
        ({"allow": ["PowerShell(Get-ChildItem *)"]}, "gci -Recurse", "allow"),
        ({"allow": ["PowerShell(Get-ChildItem *)"]}, "GET-CHILDITEM", "allow"),
        ({"allow": ["PowerShell(Get-ChildItem *)"]}, "dir; make", "ask"),
        ({"allow": ["PowerShell"], "deny": ["PowerShell(Remove-Item *)"]}, "ls | rm x", "deny"),
        ({"allow": ["PowerShell"], "deny": ["PowerShell(rm:*)"]}, "Remove-Item x", "deny"),
        ({"allow": ["PowerShell"], "ask": ["PowerShell(Stop-Process *)"]}, "kill 1", "ask"),
        ({"allow": ["PowerShell"], "deny": ["PowerShell(Remove-Item *)"]}, "& $x", "ask"),
        ({"allow": ["PowerShell"]}, "Remove-Item C:\\ -Recurse", "deny"),
        ({"allow": ["PowerShell"]}, "Remove-Item *", "deny"),
        ({"allow": ["PowerShell"]}, "$x = 1", "allow"),
        ({}, "Get-Date", "ask"),
        ({}, " ; ", "ask"),
    ],
)
def test_powershell(permissions: dict[str, list[str]], command: str, expected: str) -> None:
    record = {"permissions": permissions, "tool": "PowerShell", "input": {"command": command}}
    assert answer(record).line.verdict == expected
