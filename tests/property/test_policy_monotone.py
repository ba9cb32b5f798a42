"""Adding a deny never loosens anything: for random rules at any position, modes, and calls that name files,
trees and hosts (contract 1)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.values import MODES, Call, Context, rank

FIXED = settings(max_examples=500, derandomize=True, deadline=None)

NAMES = ("src", "secrets", ".env", ".aws", "k.txt", "a.pem", "sub", "vendor")
WILD = ("*.pem", "*.env", "**", "*", ".*", "k.*")
PREFIXES = ("", "./", "/", "//p/", "~/", "**/")
PROGRAMS = (
    *(
        "cat",
        "grep -r x",
        "grep -R x",
        "rg x",
        "rg --hidden x",
        "ag x",
        "ls",
        "cp -r",
        "mv",
        "tar cf t",
        "rm -r",
    ),
    *(
        "find",
        "git grep x --",
        "git diff --",
        "git log -p --",
        "rsync -a",
        "diff -r sub",
        "sed -n p",
        "sed -i s/a/b/",
    ),
    *(
        "touch",
        "tee",
        "python3 x.py",
        "node -e 1",
        "make -C",
        "env -C sub cat",
        "ln -s",
        "chmod -R 7",
        "zip -r z",
    ),
    *(
        "curl",
        "wget -O",
        "unknown --out",
        "patch",
        "tar xf",
        "git checkout --",
        "grep -r x --exclude-dir=secrets",
    ),
    *("grep -r x --include=*.pem", "rg x -g !secrets", "cat <", "echo x >", "black", "eslint --fix"),
)
PLAIN = (
    "Read(.env)",
    "Read(secrets/**)",
    "Read(**/*.pem)",
    "Edit(src/**)",
    "Edit(vendor/**)",
    "Read(.aws/**)",
)
"""The rules that people write."""
HOSTS = ("example.com", "127.0.0.1", "*.org", "localhost")

segments = st.sampled_from((*NAMES, *WILD))
patterns = st.builds(
    lambda prefix, parts, tail: prefix + "/".join(parts) + tail,
    st.sampled_from(PREFIXES),
    st.lists(segments, min_size=1, max_size=2),
    st.sampled_from(("", "/**", "/")),
)
texts = st.one_of(
    st.builds(lambda tool, pattern: f"{tool}({pattern})", st.sampled_from(("Read", "Edit")), patterns),
    st.builds(lambda host: f"WebFetch(domain:{host})", st.sampled_from(HOSTS)),
    st.sampled_from(
        ("Bash", "Read", "Edit", "Bash(rm *)", "Bash(cat *)", "Bash(git *)", "Bash(grep *)", "mcp__a__b")
    ),
)
origin = Origin("/p/.claude/settings.json", "project")


def _rule(text: str, verdict: str) -> Rule:
    return parse_rule(text, verdict, origin, anchor="/p")  # type: ignore[arg-type]  # a verdict


rules = st.one_of(
    st.builds(_rule, texts, st.sampled_from(("allow", "ask", "deny"))),
    st.builds(_rule, st.sampled_from(PLAIN), st.just("deny")),
)
file_texts = st.one_of(st.sampled_from(PLAIN), texts)


def _with_bash(given_rules: list[Rule]) -> list[Rule]:
    """Mostly with a rule that allows every command: only then a deny is all that holds one back."""
    return given_rules if len(given_rules) == 1 else [*given_rules, _rule("Bash", "allow")]


paths = st.one_of(
    st.sampled_from((".", "./", "", "src", "*", "/p", "..")),
    st.builds(
        lambda parts, tail: "/".join(parts) + tail,
        st.lists(st.sampled_from((*NAMES, ".", "..", "*", "*.pem", "l", "/p", "$X")), min_size=1, max_size=3),
        st.sampled_from(("", "/")),
    ),
)
lines = st.lists(
    st.builds(lambda program, path: f"{program} {path}", st.sampled_from(PROGRAMS), paths),
    min_size=1,
    max_size=2,
)
calls = st.one_of(
    st.builds(lambda parts: Call("Bash", {"command": "; ".join(parts)}), lines),
    st.builds(
        lambda tool, path: Call(tool, {"file_path": path}), st.sampled_from(("Read", "Edit", "Write")), paths
    ),
    st.builds(lambda path, glob: Call("Grep", {"pattern": "x", "path": path, "glob": glob}), paths, segments),
    st.builds(lambda host: Call("Bash", {"command": f"curl http://{host}/x"}), st.sampled_from(HOSTS)),
    st.builds(lambda host: Call("WebFetch", {"url": f"http://{host}/x"}), st.sampled_from(HOSTS)),
    st.sampled_from((Call("mcp__a__b__c", {}), Call("ReadMcpResourceTool", {"server": "a__b", "uri": "x"}))),
)


@FIXED
@given(
    st.lists(rules, max_size=4).map(_with_bash),
    file_texts,
    st.integers(0, 5),
    st.sampled_from(MODES),
    calls,
    st.booleans(),
)
def test_adding_a_deny_at_any_position_never_loosens(
    given_rules: list[Rule], text: str, position: int, mode: str, call: Call, linked: bool
) -> None:
    links = {"/p/l": "/p/secrets", "/p/sub/l": "../.env"} if linked else {}
    context = Context(cwd="/p", root="/p", home="/h", links=links)
    added = [*given_rules[:position], _rule(text, "deny"), *given_rules[position:]]
    before = decide(compile_policy(given_rules, mode), call, context)  # type: ignore[arg-type]  # a mode
    after = decide(compile_policy(added, mode), call, context)  # type: ignore[arg-type]  # a mode
    assert rank(after.verdict) >= rank(before.verdict)


@pytest.mark.parametrize("base", PLAIN)
def test_no_second_deny_hides_the_first(base: str) -> None:
    """Every program that reads or writes a tree, under pairs of rules that people write, in both orders."""
    context = Context(cwd="/p", root="/p", home="/h")
    allow, one = _rule("Bash", "allow"), _rule(base, "deny")
    loosened = []
    for program in PROGRAMS:
        for root in (".", "src", ""):
            call = Call("Bash", {"command": f"{program} {root}"})
            before = decide(compile_policy([allow, one], "default"), call, context)
            for other in PLAIN:
                more = _rule(other, "deny")
                for rules in ([allow, more, one], [allow, one, more]):
                    after = decide(compile_policy(rules, "default"), call, context)
                    if rank(after.verdict) < rank(before.verdict):
                        loosened.append((call.input["command"], base, other))
    assert loosened == []
