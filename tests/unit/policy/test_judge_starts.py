"""What rules say about a program at its start."""

from __future__ import annotations

import pytest

from checkrein.base.origin import Origin
from checkrein.model.rule import Verdict, parse_rule
from checkrein.policy.judge_starts import judge_start, watch
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.starts import Started, Watched
from checkrein.policy.values import Context

HERE = Context(cwd="/w/p", root="/w/p", home="/w/home")


def policy(*texts: str, verdict: Verdict = "deny") -> Policy:
    origin = Origin("/w/p/.claude/settings.json", "project")
    return compile_policy([parse_rule(text, verdict, origin, anchor="/w/p") for text in texts])


def started(*argv: str, names: tuple[str, ...] = (), cwd: str = "/w/p") -> Started:
    given = names or (argv[0], argv[0].rsplit("/", 1)[-1])
    return Started(pid=1, program=argv[0], names=given, argv=argv, cwd=cwd)


def test_a_watch_names_the_programs_of_the_rules_and_the_words_they_need() -> None:
    found = watch(policy("Bash(rm *)", "Bash(git push *)", "Bash(npm run deploy:*)", "Read(.env)"), HERE)
    assert found.programs == (
        Watched("rm"),
        Watched("git"),
        Watched("npm", ("deploy",)),
    )
    assert not found.every


@pytest.mark.parametrize("text", ["Bash(* --force)", "Bash(r*)"])
def test_a_rule_for_any_program_watches_every_start(text: str) -> None:
    assert watch(policy(text), HERE).every


def test_a_watch_holds_for_every_layer_of_a_policy() -> None:
    both = Policy((*policy("Bash(rm *)").layers, *policy("Bash(curl:*)", verdict="ask").layers))
    assert {one.name for one in watch(both, HERE).programs} == {"rm", "curl"}


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (("rm", "x"), ()),
        (("/bin/rm", "-rf", "x"), ()),
        (("./x", "f"), ("./x", "x", "rm")),
        (("innocent", "f"), ("/tmp/y", "rm")),
    ],
)
def test_a_deny_refuses_a_program_by_any_of_its_names(argv: tuple[str, ...], names: tuple[str, ...]) -> None:
    found = judge_start(policy("Bash(rm *)"), started(*argv, names=names), HERE)
    assert found is not None
    assert (found.verdict, found.rule) == ("deny", "Bash(rm *)")
    assert found.origin is not None


@pytest.mark.parametrize(
    "argv",
    [
        ("git", "push"),
        ("git", "-C", "sub", "push", "origin"),
        ("git", "-c", "a.b=c", "push"),
        ("/usr/lib/git-core/git-push", "origin"),
    ],
)
def test_a_deny_reads_the_arguments(argv: tuple[str, ...]) -> None:
    found = judge_start(policy("Bash(git push *)"), started(*argv), HERE)
    assert found is not None
    assert found.verdict == "deny"


@pytest.mark.parametrize(
    "argv",
    [
        ("npm", "run", "deploy"),
        ("npm", "run-script", "deploy", "--tag", "x"),
        ("npm", "urn", "deploy"),
        ("npm", "run", "--silent", "deploy"),
        ("npm", "--prefix", "sub", "run", "--", "deploy"),
    ],
)
def test_other_names_of_a_subcommand_count(argv: tuple[str, ...]) -> None:
    found = judge_start(policy("Bash(npm run deploy:*)"), started(*argv), HERE)
    assert found is not None
    assert found.verdict == "deny"


def test_a_push_by_another_name_is_a_push() -> None:
    assert judge_start(policy("Bash(git push *)"), started("git", "send-pack", "u", "main"), HERE) is not None


@pytest.mark.parametrize("argv", [("git", "status"), ("ls", "push"), ("gitk", "push")])
def test_what_no_rule_names_goes_on(argv: tuple[str, ...]) -> None:
    assert judge_start(policy("Bash(git push *)"), started(*argv), HERE) is None


def test_an_ask_rule_asks_unless_the_command_was_approved() -> None:
    asks = policy("Bash(git push *)", verdict="ask")
    start = started("/usr/bin/git", "push", "origin")
    found = judge_start(asks, start, HERE)
    assert found is not None
    assert found.verdict == "ask"
    assert judge_start(asks, start, HERE, [("git", "push", "origin")]) is None
    assert judge_start(asks, start, HERE, [("git", "push", "other")]) is not None


def test_an_approval_does_not_lift_a_deny() -> None:
    assert judge_start(policy("Bash(rm *)"), started("rm", "x"), HERE, [("rm", "x")]) is not None
