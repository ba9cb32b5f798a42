"""Any input gives a verdict: no exception, no hang."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.tools import builtin_tools
from checkrein.policy.values import VERDICTS, Call, Context

FIXED = settings(max_examples=400, derandomize=True, deadline=None)
CONTEXT = Context(cwd="/p", root="/p", home="/h", links={"/p/l": "../x", "/p/loop": "/p/loop"})
SECONDS = 10.0


def policy(*texts: tuple[str, str]) -> Policy:
    origin = Origin("settings.json", "user")
    return compile_policy(parse_rule(text, behavior, origin) for behavior, text in texts)  # type: ignore[arg-type]


GUARDED = policy(
    ("allow", "Bash"),
    ("deny", "Bash(rm *)"),
    ("ask", "Bash(git push*)"),
    ("deny", "Read(.env)"),
    ("deny", "Edit(s/*)"),
)

WORDS = r"""
    rm ls cat cd git push a .env s/x $X ${X} ${X:-y} $(ls) `ls` <(ls) ' " \ ; ;; & && || | |& ( ) { } < > >>
    << <<E E <<- <<< [ ] [[ ]] (( )) if then else elif fi for in do done while until case esac select
    function f() ! =~ X=rm A=(rm ${A[@]} $@ $1 "$@" * ? [ab] {a,b} {1..3} ~ ~/x # $' $" $(( )) $ @ = += -c
    -exec \; {} sh bash eval env sudo xargs find time trap exec source . export local unset set -- alias
    /dev/null 2>&1 é
"""
TOKENS = (*WORDS.split(), "\n", "\t", "\r", "\x00", "\u00a0")

texts = st.one_of(
    st.lists(st.sampled_from(TOKENS), max_size=30).map(" ".join),
    st.lists(st.sampled_from(TOKENS), max_size=30).map("".join),
    st.text(max_size=80),
    st.text(alphabet="$(){}[]<>'\"`\\;&|#*?~!=\n rm", max_size=60),
)


def verdict(text: str) -> str:
    start = time.process_time()
    found = decide(GUARDED, Call("Bash", {"command": text}), CONTEXT).verdict
    assert time.process_time() - start < SECONDS
    assert found in VERDICTS
    return found


@FIXED
@given(texts)
@example("")
@example("\ue000\ue001 rm")
@example("rm\r\n")
@example("ls\r\nrm a")
@example("ls\u00a0; rm a")
@example("\ud800")
@example("$")
@example("${")
@example("<<")
def test_any_shell_text_gets_a_verdict(text: str) -> None:
    verdict(text)


@FIXED
@given(texts, texts)
def test_a_denied_command_behind_anything_is_not_allowed(before: str, after: str) -> None:
    """On a line of its own `rm a` runs, unless what stands before it is a part of it."""
    if any(char in before for char in "'\"`\\<({[#$\x00") or before.rstrip().endswith(("in", "case", "for")):
        return
    assert verdict(f"{before}\nrm a\n{after}") != "allow" or "case" in before or "for" in before


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
FIELDS = (
    *("command", "file_path", "path", "pattern", "glob", "url", "notebook_path", "subagent_type"),
    *("skill", "args"),
)


@FIXED
@given(
    st.sampled_from((*builtin_tools().names(), "mcp__a__b", "", "nonsense", "Task", "MultiEdit")),
    st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=6), values, max_size=4),
)
def test_any_input_of_any_tool_gets_a_verdict(tool: str, input: dict[str, Any]) -> None:
    assert decide(GUARDED, Call(tool, input), CONTEXT).verdict in VERDICTS


@FIXED
@given(st.text(max_size=40), st.sampled_from(("allow", "ask", "deny")), st.text(max_size=30))
def test_any_rule_text_compiles(text: str, behavior: str, path: str) -> None:
    for tool in ("Bash", "Read", "Edit", "WebFetch", "Agent", "Skill", "mcp__a__b", "PowerShell", "*"):
        guarded = policy((behavior, f"{tool}({text})"), (behavior, text))
        for call in (
            Call("Bash", {"command": path}),
            Call("Read", {"file_path": path}),
            Call("WebFetch", {"url": path}),
            Call("PowerShell", {"command": path}),
        ):
            assert decide(guarded, call, CONTEXT).verdict in VERDICTS


LONG: dict[str, str] = {
    "statements": "a;" * 51_200,
    "arguments": "echo " + "a " * 40_000,
    "one word": "x" * 100_000,
    "substitutions": "$(" * 20_000,
    "subshells": "(" * 50_000,
    "braces": "echo " + "{a,b}" * 5_000,
    "quotes": "'\"" * 30_000,
    "pipes": "a|" * 30_000 + "a",
    "loops": "for a in 1 2; do " * 200 + "x=$a$x; " + "done; " * 200,
    "functions": "f() { f; f; }; f",
    "doubling": "a=x; " + "a=$a$a$a$a; " * 40 + "$a",
    "aliases": "alias a=b; alias b=a; a",
    "nested shells": "sh -c " + "'sh -c " * 500,
    "values": "".join(f"case x in x) v=$v{at};; esac; " for at in range(200)) + "$v",
    "sources": "eval " * 3_000 + "ls",
    "heredocs": "cat <<E\n" + "$(a) `b` $c\n" * 3_000 + "E",
}


@pytest.mark.parametrize("name", LONG)
def test_long_text_is_bounded(name: str) -> None:
    assert verdict(LONG[name]) != "deny"


def test_text_of_100_kb_is_asked_for() -> None:
    assert verdict("ls " + "a" * 102_400) == "ask"
