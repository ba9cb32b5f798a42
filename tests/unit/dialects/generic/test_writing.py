"""The parts of the writer: emitters, names, bodies, tools, secrets, hooks, rules."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.dialects.generic import emit, names
from checkrein.dialects.generic.body import convert
from checkrein.dialects.generic.tools import convert_tool, read_tool
from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Ledger, Options, Written
from checkrein.facts.agents import targets
from checkrein.model.items import Agent, Command, Hook, Instruction, Item, Server, Setting, Skill
from checkrein.model.project import Sources
from checkrein.model.rule import parse_rule

HERE = Origin("/p/x", "project")
TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), max_size=30)
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-(2**31), 2**31),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.dictionaries(TEXT.filter(bool), VALUES, max_size=4))
def test_yaml_comes_back_as_it_was(values: dict[str, Any]) -> None:
    text = emit.yaml_text(values)
    assert (yaml.safe_load(text) or {}) == values
    assert emit.yaml_text(values) == text


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.dictionaries(TEXT, VALUES | st.dictionaries(TEXT, TEXT, max_size=2), max_size=4))
def test_toml_comes_back_as_it_was(values: dict[str, Any]) -> None:
    assert tomllib.loads(emit.toml_text(values)) == values


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "null", "true", "1", "1.0", "2026-01-02", "0x1", "~", "=", ""]
)
def test_words_that_yaml_takes_for_something_else_are_quoted(word: str) -> None:
    assert yaml.safe_load(emit.yaml_text({"a": word})) == {"a": word}
    assert f'"{word}"' in emit.yaml_text({"a": word})


def test_lists_are_written_in_block_style() -> None:
    assert emit.yaml_text({"a": ["x", "y: z"], "b": []}) == 'a:\n- x\n- "y: z"\nb: []\n'


@pytest.mark.parametrize(
    ("name", "skill", "flat"),
    [
        ("speckit.a.b", "speckit-a-b", "speckit.a.b"),
        ("ns:inner", "ns-inner", "ns.inner"),
        ("../../etc/passwd", "etc-passwd", "etc.passwd"),
        ("Grüße & Co", "gr-e-co", "Grüße-Co"),
        ("///", "unnamed", "unnamed"),
        ("a" * 200, "a" * 64, "a" * 120),
    ],
)
def test_names(name: str, skill: str, flat: str) -> None:
    assert names.skill_name(name) == skill
    assert names.flat_name(name) == flat


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=40))
def test_names_never_leave_their_directory(name: str) -> None:
    for made in (names.skill_name(name), names.flat_name(name)):
        assert made
        assert "/" not in made
        assert made not in (".", "..")
        assert not made.startswith((".", "-"))


def body(text: str, agent: str, **fields: Any) -> tuple[str, str]:
    item = Command(name="x", origin=HERE, body=text, **fields)
    ledger = Ledger(targets()[agent], "command", item)
    converted = convert(text, targets()[agent].body, ledger, item.arguments)
    return converted, ledger.outcomes["body"].message


@pytest.mark.parametrize(
    ("agent", "text", "expected"),
    [
        ("gemini", "do $ARGUMENTS now", "do {{args}} now"),
        ("forge", "do $ARGUMENTS", "do {{parameters}}"),
        ("goose", "do $ARGUMENTS", "do {{args}}"),
        ("gemini", r"keep \$ARGUMENTS", r"keep \$ARGUMENTS"),
        ("gemini", "$ARGUMENTSX", "$ARGUMENTSX"),
        ("gemini", "see !`git log` ok", "see !{git log} ok"),
        ("gemini", "read @docs/a.md.", "read @{docs/a.md}."),
        ("gemini", "mail a@b.com and @types/node", "mail a@b.com and @types/node"),
        ("opencode", "$0 and $ARGUMENTS[2]", "$1 and $3"),
        ("opencode", "costs $5a", "costs $5a"),
        ("claude", "$0 !`x` @a.md ${CLAUDE_SKILL_DIR}", "$0 !`x` @a.md ${CLAUDE_SKILL_DIR}"),
        ("codex", "${CLAUDE_SKILL_DIR}/scripts/x.sh", "scripts/x.sh"),
    ],
)
def test_placeholders(agent: str, text: str, expected: str) -> None:
    assert body(text, agent)[0] == expected


@pytest.mark.parametrize(
    ("agent", "text", "remark"),
    [
        ("codex", "use $0", "single arguments"),
        ("codex", "!`date`", "not run there"),
        ("codex", "```!\ndate\n```", "blocks"),
        ("codex", "read @a/b.md", "not attached"),
        ("gemini", "a {{args}} b", "literal `{{args}}`"),
        ("codex", "${CLAUDE_SESSION_ID}", "${CLAUDE_SESSION_ID} is not replaced"),
    ],
)
def test_what_a_body_loses_is_said(agent: str, text: str, remark: str) -> None:
    assert remark in body(text, agent)[1]


def test_named_arguments_are_said() -> None:
    assert "$issue" in body("fix $issue", "codex", arguments=("issue",))[1]


@pytest.mark.parametrize(
    ("agent", "tool", "expected"),
    [
        ("copilot", "mcp__gh__list_issues", "gh/list_issues"),
        ("copilot", "mcp__gh", "gh/*"),
        ("copilot", "mcp__gh__*", "gh/*"),
        ("gemini", "mcp__gh__list_issues", "mcp_gh_list_issues"),
        ("copilot", "Bash", "execute"),
        ("gemini", "Read", "read_file"),
        ("gemini", "Bash(git log:*)", None),
        ("gemini", "Nope", None),
        ("claude", "Bash(git log:*)", "Bash(git log:*)"),
    ],
)
def test_tool_names(agent: str, tool: str, expected: str | None) -> None:
    assert convert_tool(tool, targets()[agent]) == expected
    if expected is not None and "*" not in tool:
        assert read_tool(expected, targets()[agent]) == tool


def write(agent: str, **items: Any) -> Written:
    return write_for(agent, Sources(**items), Options())


def text_of(written: Written, path: str) -> str:
    return next(file.text for file in written.files if file.path == path)


SECRET = "ghp_abcdefghijklmnopqrstuvwx1234"


@pytest.mark.parametrize("agent", [key for key, row in targets().items() if row.servers])
def test_secrets_are_never_written(agent: str) -> None:
    servers = (
        Server(
            name="a",
            origin=HERE,
            command="run",
            args=("--token", "hunter2hunter2", f"x={SECRET}"),
            env={"GITHUB_TOKEN": SECRET, "API_KEY": "plainlooking", "OK": "1"},
        ),
        Server(
            name="b",
            origin=HERE,
            transport="http",
            url=f"https://user:{SECRET}@x.example/",
            headers={"Authorization": f"Bearer {SECRET}", "X-Api-Key": "plainlooking"},
        ),
    )
    agents = (Agent(name="z", origin=HERE, description="d", servers=servers),)
    written = write(agent, servers=servers, agents=agents)
    for file in written.files:
        for secret in (SECRET, "plainlooking", "hunter2hunter2"):
            assert secret not in file.text
    assert [loss for loss in written.losses if loss.code == "DEP004"]
    for loss in written.losses:
        assert SECRET not in loss.message


def test_secrets_of_settings_become_references() -> None:
    from checkrein.dialects.claude.write import write as write_claude

    setting = Setting(name="env.API_TOKEN", origin=HERE, value=SECRET, sensitive=True)
    written = write_claude(Sources(settings=(setting,)), Options())
    assert json.loads(written.files[0].text) == {"env": {"API_TOKEN": "${API_TOKEN}"}}
    assert [loss.code for loss in written.losses] == ["DEP004"]


def hook(**fields: Any) -> Hook:
    given_fields = {"name": "PreToolUse", "type": "command", "command": "./x", "timeout": 5.0, **fields}
    return Hook(origin=HERE, **given_fields)


def test_hook_timeouts_change_their_unit() -> None:
    seconds = json.loads(text_of(write("codex", hooks=(hook(),)), ".codex/hooks.json"))
    assert seconds["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] == 5
    milliseconds = json.loads(text_of(write("gemini", hooks=(hook(),)), ".gemini/settings.json"))
    assert milliseconds["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] == 5000
    named = json.loads(text_of(write("copilot", hooks=(hook(),)), ".github/hooks/checkrein.json"))
    assert named["hooks"]["preToolUse"] == [{"type": "command", "bash": "./x", "timeoutSec": 5}]


def test_secrets_in_hooks_are_never_written() -> None:
    for agent in ("claude", "codex", "gemini", "copilot"):
        written = write(agent, hooks=(hook(command=f"curl -H 'X: {SECRET}' https://x.example"),))
        for file in written.files:
            assert SECRET not in file.text
            assert "curl -H 'X: ${SECRET}' https://x.example" in file.text
        assert "DEP004" in {loss.code for loss in written.losses}


def test_claude_hooks_keep_what_claude_knows() -> None:
    full = hook(
        type="http",
        command=None,
        url="https://x.example",
        headers={"A": "b"},
        allowed_env=("X",),
        condition="Bash(git:*)",
        status_message="…",
        once=True,
        run_async=True,
        fail_closed=True,
        unknown={"rewakeMessage": "x"},
    )
    written = write("claude", hooks=(full,))
    (group,) = json.loads(text_of(written, ".claude/settings.json"))["hooks"]["PreToolUse"]
    assert group == {
        "hooks": [
            {
                "type": "http",
                "url": "https://x.example",
                "headers": {"A": "b"},
                "allowedEnvVars": ["X"],
                "if": "Bash(git:*)",
                "timeout": 5,
                "statusMessage": "…",
                "once": True,
                "async": True,
                "failClosed": True,
                "rewakeMessage": "x",
            }
        ]
    }
    assert written.losses == ()


def test_all_tools_and_denied_tools_of_an_agent() -> None:
    every = Agent(name="a", origin=HERE, description="d", tools=("*",))
    assert "tools" not in text_of(write("copilot", agents=(every,)), ".github/agents/a.agent.md")
    denied = Agent(name="a", origin=HERE, description="d", disallowed_tools=("Bash", "Nope"))
    text = text_of(write("opencode", agents=(denied,)), ".opencode/agents/a.md")
    assert yaml.safe_load(text.split("---\n")[1])["permission"] == {"bash": "deny"}
    kept = text_of(write("claude", agents=(denied,)), ".claude/agents/a.md")
    assert "disallowedTools: Bash, Nope" in kept


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": "TaskCreated"}, "no event like"),
        ({"type": "prompt", "command": None, "prompt": "x"}, "no hooks of type"),
        ({"matcher": "Nope"}, "no tool like"),
        ({"matcher": "mcp__.*"}, "has no form"),
    ],
)
def test_hooks_that_are_lost(fields: dict[str, Any], why: str) -> None:
    written = write("gemini", hooks=(hook(**fields),))
    assert written.files == ()
    assert why in written.losses[0].message


def test_a_lost_hook_does_not_take_others_with_it() -> None:
    written = write("gemini", hooks=(hook(matcher="Nope"), hook(matcher="Bash")))
    document = json.loads(text_of(written, ".gemini/settings.json"))
    assert document["hooks"]["BeforeTool"][0]["matcher"] == "run_shell_command"


def rules(*texts: str) -> tuple[Any, ...]:
    return tuple(parse_rule(text.split()[1], text.split()[0], HERE) for text in texts)  # type: ignore[arg-type]


def test_opencode_rules_end_with_the_denies() -> None:
    written = write("opencode", rules=rules("deny Bash(rm:*)", "allow Bash(git:*)", "ask Bash(npm:*)"))
    permission = json.loads(text_of(written, "opencode.json"))["permission"]
    assert list(permission["bash"].items()) == [
        ("*", "ask"),
        ("git *", "allow"),
        ("npm *", "ask"),
        ("rm *", "deny"),
    ]


def test_an_allow_that_would_allow_more_is_lost() -> None:
    written = write("opencode", rules=rules("allow Write", "deny Write"))
    assert json.loads(text_of(written, "opencode.json")) == {"permission": {"edit": "deny"}}


def test_amp_rules_start_with_the_denies() -> None:
    written = write("amp", rules=rules("allow Bash", "deny Bash(rm:*)"))
    entries = json.loads(text_of(written, ".amp/settings.json"))["amp.permissions"]
    assert [entry["action"] for entry in entries] == ["reject", "allow"]


def test_a_lost_deny_weighs_more_than_a_lost_allow() -> None:
    written = write("codex", rules=rules("deny Bash", "allow Bash"))
    assert [loss.severity for loss in written.losses] == ["warning", "info"]


def test_rules_for_paths_keep_them_where_there_is_a_word_for_it() -> None:
    item = Instruction(
        name="r",
        origin=Origin(".claude/rules/ts.md", "project"),
        kind="rule",
        text="Strict.\n",
        paths=("a/**", "b.ts"),
    )
    heads = {
        "copilot": (".github/instructions/ts.instructions.md", {"applyTo": "a/**,b.ts"}),
        "cursor-agent": (".cursor/rules/ts.mdc", {"globs": "a/**,b.ts", "alwaysApply": False}),
        "windsurf": (".windsurf/rules/ts.md", {"trigger": "glob", "globs": "a/**,b.ts"}),
        "kiro-cli": (
            ".kiro/steering/ts.md",
            {"inclusion": "fileMatch", "fileMatchPattern": ["a/**", "b.ts"]},
        ),
        "claude": (".claude/rules/ts.md", {"paths": ["a/**", "b.ts"]}),
    }
    for agent, (path, values) in heads.items():
        written = write(agent, instructions=(item,))
        assert yaml.safe_load(text_of(written, path).split("---\n")[1]) == values
        assert not written.losses
    joined = write("codex", instructions=(item,))
    assert text_of(joined, "AGENTS.md") == "## For files that match `a/**`, `b.ts`\n\nStrict.\n"
    assert [loss.code for loss in joined.losses] == ["DEP003"]


def test_every_kind_is_lost_by_name_for_agents_without_it() -> None:
    items: dict[str, tuple[Item, ...]] = {
        "skills": (Skill(name="s", origin=HERE, directory="/p"),),
        "commands": (Command(name="c", origin=HERE),),
        "agents": (Agent(name="a", origin=HERE),),
        "hooks": (hook(),),
        "servers": (Server(name="v", origin=HERE),),
        "settings": (Setting(name="model", origin=HERE, value="x"),),
        "instructions": (Instruction(name="i", origin=HERE, kind="memory", text="t"),),
    }
    written = write("none", **items)
    assert written.files == ()
    assert {outcome.kind for outcome in written.outcomes if outcome.status == "lost"} == {
        "skill",
        "command",
        "agent",
        "hook",
        "server",
        "setting",
        "instruction",
    }


def test_an_agent_that_reads_only_from_home_gets_nothing() -> None:
    written = write("hermes", skills=(Skill(name="s", origin=HERE, directory="/p"),))
    assert written.files == ()
    assert "home directory" in written.losses[0].message
