"""The guard that travels in every package."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checkrein.compile.payload.guards import DeniedError, Guard, Rule, split_commands


def guard(*deny: str, ask: tuple[str, ...] = (), root: str = ".") -> Guard:
    from checkrein.model.rule import split_rule

    def rules(texts: tuple[str, ...]) -> list[Rule]:
        return [Rule(*split_rule(text)[:2], "settings.json") for text in texts]

    return Guard(rules(deny), rules(ask), root)


def refused(made: Guard, tool: str, argument: str) -> bool:
    try:
        made.check(tool, argument, lambda tool, argument: True)
    except DeniedError:
        return True
    return False


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "ls; rm x",
        "ls && rm x",
        "ls | rm x",
        "true\nrm x",
        "/bin/rm x",
        "X=1 rm x",
        "'rm' x",
        "r''m x",
        "$(echo rm) x",
        "`echo rm` x",
        "bash -c 'rm x'",
        "sudo rm x",
        "env rm x",
        "xargs rm",
        "find . -exec rm {} +",
        "eval rm x",
        "r\\m x",
        "$RM x",
        "rm",
        "ls & rm x",
        "(rm x)",
        "{ rm x; }",
        "rm 'unclosed",
        "python -c 'import os'",
    ],
)
def test_nothing_gets_around_a_deny_rule(command: str) -> None:
    assert refused(guard("Bash(rm:*)"), "Bash", command)


@pytest.mark.parametrize(
    "command", ["ls", "git log --oneline", "echo 'rm x'", "grep -n rm file.txt", "rmdir x"]
)
def test_other_commands_go_on(command: str) -> None:
    assert not refused(guard("Bash(rm:*)"), "Bash", command)


def test_without_deny_rules_everything_goes_on() -> None:
    assert not refused(guard(), "Bash", "$(anything)")


def test_pipes_in_a_rule_are_matched_as_written() -> None:
    assert refused(guard("Bash(curl * | sh)"), "Bash", "curl x | sh")


def test_paths(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "a").write_text("x")
    os.symlink(tmp_path / "secrets" / "a", tmp_path / "link")
    made = guard("Read(./.env)", "Edit(/secrets/**)", "Read(*.pem)", root=str(tmp_path))
    for tool, path in (
        ("Read", ".env"),
        ("Read", "./x/../.env"),
        ("Read", str(tmp_path / ".env")),
        ("Write", "secrets/a"),
        ("Edit", "secrets/deep/b"),
        ("Edit", "link"),
        ("Read", "keys/server.pem"),
        ("Bash", "cat .env"),
        ("Bash", "cp secrets/a /tmp/x"),
        ("Bash", "dd if=.env"),
    ):
        assert refused(made, tool, path), (tool, path)
    for tool, path in (("Read", "src/.envrc"), ("Read", "secrets2/a"), ("Edit", "src/a")):
        assert not refused(made, tool, path), (tool, path)


def test_hosts_and_servers() -> None:
    made = guard("WebFetch(domain:evil.com)", "mcp__db", "mcp__x__drop_*")
    assert refused(made, "WebFetch", "https://evil.com/a")
    assert refused(made, "WebFetch", "https://www.EVIL.com./a")
    assert refused(made, "WebFetch", "not a url")
    assert not refused(made, "WebFetch", "https://good.com/?evil.com")
    assert refused(made, "mcp__db__query", "{}")
    assert refused(made, "mcp__x__drop_table", "{}")
    assert not refused(made, "mcp__x__list", "{}")


def test_ask_needs_a_plain_yes() -> None:
    made = guard(ask=("Bash(git push:*)",))
    with pytest.raises(DeniedError):
        made.check("Bash", "git push")
    with pytest.raises(DeniedError):
        made.check("Bash", "git push", lambda tool, argument: 1)  # type: ignore[arg-type,return-value]  # on purpose
    made.check("Bash", "git push", lambda tool, argument: True)


def test_code_in_an_answer_is_judged_prose_is_not() -> None:
    made = guard("Bash(rm:*)")
    assert made.mentions_denied("Run `rm -rf x`.") is not None
    assert made.mentions_denied("```sh\nls\nrm x\n```") is not None
    assert made.mentions_denied("Never rm anything.") is None


def test_split_commands() -> None:
    assert split_commands("a b && c 'd e' | f") == [["a", "b"], ["c", "d e"], ["f"]]
    assert split_commands("a $(b)") is None
