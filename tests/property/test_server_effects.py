"""Declared effects only tighten: with them no verdict on a server's tool is looser than without."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.config import ConfigValue
from checkrein.base.origin import Origin
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.remote import Remote
from checkrein.policy.tools import builtin_tools
from checkrein.policy.values import MODES, Call, Context, rank
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from support.calls import rules

HERE = Origin("/p/checkrein.toml", "project")
NAME, TOOL = "mcp__s__t", Remote("s", "t")
targets = st.sampled_from(
    (
        *("mcp__s", "mcp__s__t", "mcp__s__*", "mcp__s__t(a:x*)", "mcp__other"),
        *("Bash", "Bash(ls *)", "Bash(rm *)", "Read", "Read(.env)", "Edit", "Edit(src/**)"),
        *("WebFetch", "WebFetch(domain:x.com)"),
    )
)
texts = st.tuples(st.sampled_from(["allow", "ask", "deny"]), targets).map(" ".join)
declared = st.lists(
    st.tuples(st.sampled_from(["exec", "read", "search", "write", "net", "odd"]), st.sampled_from("abc")).map(
        ":".join
    ),
    max_size=3,
)
values = st.sampled_from(["ls", "rm -rf x", ".env", "src/a", "https://x.com/", "http://127.0.0.1", "x$(", ""])
inputs = st.dictionaries(st.sampled_from("abc"), values | st.none() | st.lists(values, max_size=2))


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.lists(texts, max_size=5), declared, inputs, st.sampled_from(MODES), st.booleans(), st.booleans())
def test_an_effect_never_loosens(
    written: list[str],
    effects: list[str],
    input: dict[str, Any],
    mode: Any,
    interactive: bool,
    trusted: bool,
) -> None:
    def verdict(found: DeclaredEffects) -> int:
        known = found.meaning(NAME, TOOL, interactive=interactive)
        policy = compile_policy(rules(*written), mode, tools=builtin_tools().with_tool(known))
        context = Context(cwd="/p", root="/p", home="/h", trusted=trusted)
        return rank(decide(policy, Call(NAME, input), context).verdict)

    layers = tuple(ConfigValue({"s": {"t": [one]}}, "project", HERE) for one in effects)
    before = verdict(DeclaredEffects())
    for end in range(1, len(layers) + 1):
        after = verdict(DeclaredEffects(layers[:end]))
        assert after >= before
        before = after
