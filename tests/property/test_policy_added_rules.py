"""Adding a deny or an ask rule never loosens a verdict about a shell command."""

from __future__ import annotations

import random
from functools import cache

import pytest

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.values import Call, Context, rank
from support.attacks import rows

CONTEXT = Context(cwd="/base/proj", root="/base/proj", home="/home/me")
ORIGIN = Origin("/base/proj/.claude/settings.json", "user")
ALLOWED = (
    "Bash",
    "Bash(git *)",
    "Bash(ls *)",
    "Bash(npm *)",
    "Bash(python3 *)",
    "Read",
    "Edit",
    "Bash(echo *)",
)
STRICT = (
    *(
        "Bash(rm *)",
        "Bash(git push *)",
        "Bash(curl:*)",
        "Bash(ls)",
        "Bash(git *)",
        "Bash(* --force)",
        "Bash(npm run x)",
    ),
    *(
        "Read(.env)",
        "Read(./secrets/**)",
        "Edit(src/**)",
        "Edit(config/**)",
        "Read(**/*.pem)",
        "Edit(/docs/**)",
    ),
    *("WebFetch(domain:example.com)", "Read(~/.ssh/**)", "Edit(**)", "Read(src/*.ts)"),
)
MADE = (
    "ls",
    "cat a.txt",
    "echo $X",
    "X=ls; $X",
    "for f in *; do cat $f; done",
    "git -C . log",
    "python3 -c 'print(1)'",
)


@cache
def commands() -> tuple[str, ...]:
    tables = ("attacks.jsonl", "plain-commands.jsonl")
    found = (row["input"].get("command") for table in tables for row in rows(table))
    return (*MADE, *(text for text in found if text))


def verdict(rules: list[tuple[str, str]], text: str) -> int:
    policy = compile_policy([parse_rule(rule, behavior, ORIGIN) for rule, behavior in rules])  # type: ignore[arg-type]
    return rank(decide(policy, Call("Bash", {"command": text}), CONTEXT).verdict)


@pytest.mark.parametrize("shard", range(4))
def test_a_strict_rule_never_loosens(shard: int) -> None:
    random_ = random.Random(shard)
    for _ in range(250):
        text = random_.choice(commands())
        rules = [(rule, "allow") for rule in random_.sample(ALLOWED, random_.randint(0, 3))]
        before = verdict(rules, text)
        for _ in range(3):
            rules.append((random_.choice(STRICT), random_.choice(("deny", "ask"))))
            after = verdict(rules, text)
            assert after >= before, (rules, text)
            before = after
