"""A translation never allows more: over every agent, what is written permits a part of what the source does.

What the files of an agent permit is read back from them, by that agent's documented rules. Where a limit has
no form the loss is a guard's (DEP016), which `--strict` refuses.
"""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.deploy.targets import writer
from checkrein.dialects.generic.tools import WRITERS
from checkrein.dialects.generic.written import Options, Written
from checkrein.facts.agents import Target, targets
from checkrein.model.items import Agent, Command
from checkrein.model.project import Sources
from checkrein.model.rule import Rule, parse_rule, split_rule_list

HERE = Origin("/p/.claude/x", "project")
TOOLS = ("Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "Bash", "WebFetch", "WebSearch", "Agent",
         "TodoWrite", "Bash(git log:*)", "mcp__docs__read", "mcp__docs")  # fmt: skip
LISTS = st.lists(st.sampled_from(TOOLS), unique=True, max_size=5).map(tuple)
WITH_AGENTS = sorted(key for key, row in targets().items() if row.agents is not None)

# What each of our tools can do. Two tools of one power are the same to a user.
POWERS = {
    "Read": {"content", "names"},
    "Grep": {"content", "names"},
    "Glob": {"names"},
    "LS": {"names"},
    "Edit": {"edit", "notebook"},
    "Write": {"edit", "notebook"},
    "MultiEdit": {"edit", "notebook"},
    "NotebookEdit": {"notebook"},
    "WebFetch": {"fetch", "search"},
    "WebSearch": {"search"},
    "Task": {"agent"},
    "Agent": {"agent"},
}


def powers(tools: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for tool in tools:
        if tool.startswith("mcp__"):
            server, _, name = tool.removeprefix("mcp__").partition("__")
            found |= {f"mcp {server} {name or '*'}"}
        else:
            found |= POWERS.get(tool, {tool})
    return found


def meant(name: str, target: Target) -> set[str]:
    """What a name of the agent's stands for: all of our tools that share it."""
    if target.tools.get("*"):
        return powers((name,))
    ours = tuple(tool for tool, theirs in target.tools.items() if theirs == name)
    if ours:
        return powers(ours)
    for tool in ("mcp__docs__read", "mcp__docs"):
        server, _, rest = tool.removeprefix("mcp__").partition("__")
        form = target.mcp_tool if rest else target.mcp_server
        if form is not None and form.format(server=server, tool=rest) == name:
            return powers((tool,))
    raise AssertionError(f"{target.key} has no tool {name}")


def values_of(written: Written, target: Target) -> dict[str, Any]:
    """The head of the one agent file."""
    form = target.agents
    assert form is not None
    folder = form.path.partition("{")[0]
    text = next(file.text for file in written.files if file.path.startswith(folder))
    values: dict[str, Any]
    if form.format == "toml":
        values = tomllib.loads(text)
    elif form.format == "json":
        values = json.loads(text)
    else:
        values = yaml.safe_load(text.split("---\n")[1]) or {}
    return values


def permitted(values: dict[str, Any], target: Target) -> set[str] | None:
    """The powers that a file leaves; None for all."""
    form = target.agents
    assert form is not None
    if form.tools == "permission":
        held = values.get("permission")
        if held is None:
            return None
        names = [name for name, verdict in held.items() if verdict == "allow"]
        return None if held.get("*") != "deny" else {one for name in names for one in meant(name, target)}
    if form.tools in ("sandbox", "readonly"):
        limited = values.get("sandbox_mode") == "read-only" or values.get("readonly") is True
        return {"reads"} if limited else None
    listed = values.get("tools")
    if listed is None:
        return None
    names = split_rule_list(listed) if isinstance(listed, str) else listed
    return {one for name in names for one in meant(name, target)}


def assert_limited(written: Written, target: Target, tools: tuple[str, ...]) -> None:
    found = permitted(values_of(written, target), target)
    if found is None:
        assert any(loss.code == "DEP016" for loss in written.losses), "a limit was lost without a word"
    elif found == {"reads"}:
        assert WRITERS.isdisjoint(tools)
    else:
        assert found <= powers(tools)


@pytest.mark.parametrize("key", WITH_AGENTS)
@given(tools=LISTS)
def test_an_agent_gains_no_tool(key: str, tools: tuple[str, ...]) -> None:
    target = targets()[key]
    agent = Agent(name="a", origin=HERE, description="d", tools=tools, body="x\n")
    assert_limited(writer(target)(Sources(agents=(agent,)), Options()), target, tools)


@pytest.mark.parametrize("key", WITH_AGENTS)
@given(denied=LISTS.filter(bool))
def test_a_denied_tool_stays_denied(key: str, denied: tuple[str, ...]) -> None:
    target = targets()[key]
    agent = Agent(name="a", origin=HERE, description="d", disallowed_tools=denied, body="x\n")
    written = writer(target)(Sources(agents=(agent,)), Options())
    values = values_of(written, target)
    found = permitted(values, target)
    key_of_denied = target.agents.fields.get("disallowed_tools") if target.agents else None
    listed = values.get(key_of_denied or "", [])
    names = listed.split(", ") if isinstance(listed, str) else list(listed)
    names += [name for name, verdict in values.get("permission", {}).items() if verdict == "deny"]
    kept_from = {one for name in names if name for one in meant(name, target)}
    lost = any(loss.code == "DEP016" for loss in written.losses)
    plain = powers(tuple(tool for tool in denied if "(" not in tool and tool in target.tools))
    if found is None:
        assert lost or plain <= kept_from
    elif found != {"reads"}:
        assert found <= powers(tuple(tool for tool in target.tools if tool not in denied)) or lost


@pytest.mark.parametrize("key", ["claude", "copilot", *(key for key in WITH_AGENTS if key not in
                                                        ("claude", "copilot"))])  # fmt: skip
@given(tools=LISTS.filter(bool), wide=st.sampled_from(["write", "full", "read-only", "Bash Edit"]))
def test_the_files_own_tools_beat_behavior(key: str, tools: tuple[str, ...], wide: str) -> None:
    target = targets()[key]
    behavior = {"execution": "agent", "tools": wide}
    for item in (
        Command(name="a", origin=HERE, description="d", unknown={"tools": list(tools)}, behavior=behavior),
        Command(name="a", origin=HERE, description="d", allowed_tools=tools, behavior=behavior),
    ):
        written = writer(target)(Sources(commands=(item,)), Options(degrade=True))
        assert_limited(written, target, tools)


# Rules


COMMANDS = ("git push", "git *", "git push *", "git push * --force", "npm test:*", "npm", "*", "ls*")
RULES = st.lists(
    st.tuples(
        st.sampled_from(["allow", "ask", "deny"]),
        st.one_of(
            st.sampled_from(COMMANDS).map(lambda text: f"Bash({text})"),
            st.sampled_from(["Bash", "Read", "Edit", "Write", "Read(./.env)", "Edit(src/**)", "WebFetch",
                             "WebFetch(domain:a.example)", "mcp__docs", "mcp__docs__read", "Skill(x)"]),
        ),
    ).map(lambda pair: parse_rule(pair[1], pair[0], HERE)),  # type: ignore[arg-type]  # a verdict
    max_size=6,
)  # fmt: skip
WITH_RULES = sorted(key for key, row in targets().items() if row.rules is not None and key != "claude")


@pytest.mark.parametrize("key", WITH_RULES)
@given(rules=RULES)
def test_an_allow_is_written_only_beside_its_guards(key: str, rules: list[Rule]) -> None:
    """Every deny and ask is written or named; no allow that covers a named one is written."""
    from checkrein.dialects.generic.rule_subjects import overlap, subject_of

    target = targets()[key]
    written = writer(target)(Sources(rules=tuple(rules)), Options())
    whole = [outcome for outcome in written.outcomes if outcome.field == ""]
    assert len(whole) == len(rules)
    weak = [
        rule
        for rule, outcome in zip(rules, whole, strict=True)
        if rule.verdict != "allow" and outcome.code == "DEP016"
    ]
    for rule, outcome in zip(rules, whole, strict=True):
        assert rule.verdict == "allow" or outcome.status != "lost" or outcome.code == "DEP016"
        if rule.verdict == "allow" and outcome.status != "lost":
            assert not any(overlap(subject_of(rule), subject_of(guard)) for guard in weak)
