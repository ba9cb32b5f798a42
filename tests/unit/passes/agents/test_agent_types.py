from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.model.view import View
from checkrein.passes.agents import AgentType, agent_types
from checkrein.passes.load import load
from checkrein.runtime.trust import standing

Tree = Callable[[Mapping[str, str]], Path]
FILE = "p/.claude/agents/a.md"


def definition(*fields: str, name: str = "a") -> str:
    return "\n".join(("---", f"name: {name}", "description: d", *fields, "---", "Do it.\n"))


def view(root: Path, **options: Any) -> View:
    options.setdefault("env", {})
    return View(load(root / "p", home=str(root / "home"), managed_dir=str(root / "managed"), **options))


def one(root: Path, name: str = "a", **options: Any) -> AgentType:
    return agent_types(view(root, **options), {})[name]


def why(kind: AgentType) -> list[tuple[str, str]]:
    return [(ignored.field, ignored.why) for ignored in kind.ignored]


def test_every_project_has_the_built_in_agents(tree: Tree) -> None:
    found = agent_types(view(tree({"p/": ""})), {})
    assert list(found) == ["general-purpose", "Explore", "Plan"]
    general, explore, plan = found.values()
    assert general.tools is None
    assert not general.lean
    assert not general.one_shot
    for reader in (explore, plan):
        assert reader.tools == ("Read", "Grep", "Glob", "Bash", "WebFetch", "WebSearch")
        assert reader.lean
        assert reader.one_shot
    assert all(kind.body and kind.item is None and kind.origin.scope == "bundled" for kind in found.values())


@pytest.mark.parametrize(
    ("env", "interactive", "left"),
    [
        ({"CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS": "1"}, False, ["general-purpose"]),
        ({"CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS": "0"}, False, ["general-purpose", "Explore", "Plan"]),
        ({"CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS": "1"}, False, []),
        ({"CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS": "1"}, True, ["general-purpose", "Explore", "Plan"]),
    ],
)
def test_variables_switch_built_in_agents_off(
    tree: Tree, env: dict[str, str], interactive: bool, left: list[str]
) -> None:
    assert list(agent_types(view(tree({"p/": ""})), env, interactive=interactive)) == left


def test_a_definition_replaces_the_built_in_agent_of_its_name(tree: Tree) -> None:
    root = tree({"p/.claude/agents/x.md": definition(name="Explore")})
    explore = one(root, "Explore")
    assert explore.body == "Do it."
    assert explore.tools is None
    assert not explore.lean
    off = {"CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS": "1"}
    assert list(agent_types(view(root), off)) == ["general-purpose", "Explore"]


def test_a_narrow_view_hides_built_in_agents_too(tree: Tree) -> None:
    seen = view(tree({FILE: definition()}))
    assert list(agent_types(seen.narrow(agents=()), {})) == []
    assert list(agent_types(seen.narrow(agents=("a", "Plan")), {})) == ["Plan", "a"]


def test_the_winner_is_that_of_the_project(tree: Tree) -> None:
    root = tree({"home/.claude/agents/a.md": definition("maxTurns: 1"), FILE: definition("maxTurns: 2")})
    assert one(root).max_turns == 2
    given = {"a": {"description": "d", "prompt": "From the command line.", "maxTurns": 3}}
    assert one(root, agents=given).max_turns == 3


def test_names_of_agents_are_apart_from_the_tool(tree: Tree) -> None:
    root = tree({FILE: definition("tools: Read, Agent(b, Explore), Task(c)")})
    kind = one(root)
    assert kind.tools == ("Read", "Agent", "Task")
    assert kind.agents == {"b", "Explore", "c"}


@pytest.mark.parametrize("tools", ["Read, Agent", "Agent(b), Agent", "Read", "Agent()"])
def test_without_names_it_may_start_every_agent(tree: Tree, tools: str) -> None:
    assert one(tree({FILE: definition(f"tools: {tools}")})).agents is None


@pytest.mark.parametrize(
    ("tools", "kept", "agents"),
    [
        ("['Agent( , )']", ("Agent",), frozenset()),
        ("['Agent(b', Read]", ("Read",), None),
        ("['', 'Read)']", (), None),
        ("[Task(b), Agent]", ("Task", "Agent"), None),
    ],
)
def test_a_limit_that_is_not_well_formed_gives_nothing(
    tree: Tree, tools: str, kept: tuple[str, ...], agents: frozenset[str] | None
) -> None:
    kind = one(tree({FILE: definition(f"tools: {tools}")}))
    assert (kind.tools, kind.agents) == (kept, agents)


def test_a_removal_that_is_not_well_formed_removes_the_whole_tool(tree: Tree) -> None:
    kind = one(tree({FILE: definition("disallowedTools: ['Bash(rm', 'Write)']")}))
    assert (kind.disallowed, kind.denied) == (("Bash", "Write"), ())
    assert [field for field, _ in why(kind)] == ["disallowedTools", "disallowedTools"]


def test_specifiers_in_disallowed_tools_are_deny_rules(tree: Tree) -> None:
    kind = one(tree({FILE: definition("disallowedTools: Write, Bash(rm *), Agent(b), Edit(*)")}))
    assert kind.disallowed == ("Write", "Edit")
    assert kind.denied == ("Bash(rm *)", "Agent(b)")


def test_a_specifier_in_tools_limits_nothing(tree: Tree) -> None:
    kind = one(tree({FILE: definition("tools: Bash(git *)")}))
    assert kind.tools == ("Bash",)
    assert why(kind) == [
        ("tools", "`Bash(git *)` gives it all of Bash; rules limit the calls of a tool"),
    ]
    assert kind.ignored[0].origin.line == 4


def test_unknown_values_are_ignored(tree: Tree) -> None:
    fields = ("memory: cloud", "effort: huge", "isolation: docker", "permissionMode: yolo", "maxTurns: 0")
    kind = one(tree({FILE: definition(*fields)}))
    found = (kind.memory, kind.effort, kind.isolation, kind.permission_mode, kind.max_turns)
    assert found == (None, None, None, None, None)
    assert dict(why(kind)) == {
        "permissionMode": "`yolo` is not one of default, manual, acceptEdits, plan, auto, dontAsk, "
        "bypassPermissions",
        "maxTurns": "0 is not at least 1",
        "memory": "`cloud` is not one of user, project, local",
        "effort": "`huge` is not one of low, medium, high, xhigh, max",
        "isolation": "`docker` is not one of worktree",
    }


def test_known_values_hold(tree: Tree) -> None:
    fields = (
        *("memory: local", "effort: xhigh", "isolation: worktree", "permissionMode: manual", "maxTurns: 7"),
        *("background: true", "model: inherit", "initialPrompt: Begin."),
    )
    kind = one(tree({FILE: definition(*fields)}))
    assert kind.ignored == ()
    found = (kind.memory, kind.effort, kind.isolation, kind.permission_mode, kind.max_turns)
    assert found == ("local", "xhigh", "worktree", "default", 7)
    assert (kind.background, kind.model, kind.initial_prompt) == (True, None, "Begin.")


def test_a_project_names_no_file_as_a_model(tree: Tree) -> None:
    root = tree({FILE: definition("model: replay:talk.jsonl")})
    assert one(root).model is None
    assert why(one(root)) == [("model", "`replay:talk.jsonl` is a file; only you can choose it")]
    given = {"a": {"description": "d", "prompt": "p", "model": "replay:talk.jsonl"}}
    assert one(root, agents=given).model == "replay:talk.jsonl"


def test_skills_and_servers_that_do_not_exist_are_ignored(tree: Tree) -> None:
    root = tree(
        {
            FILE: definition("skills: [one, two, three, gone]", "mcpServers: [gh, none]"),
            "p/.claude/skills/one/SKILL.md": "---\ndescription: d\n---\nBody",
            "p/.claude/skills/two/SKILL.md": "---\ndescription: d\ndisable-model-invocation: true\n---\nBody",
            "p/.claude/commands/three.md": "---\ndescription: d\n---\nBody",
            "p/.mcp.json": '{"mcpServers": {"gh": {"command": "gh"}}}',
        }
    )
    kind = one(root, settings={"enableAllProjectMcpServers": True})
    assert kind.skills == ("one", "three")
    assert kind.server_names == ("gh",)
    assert why(kind) == [
        ("skills", "only people may use the skill `two` (disable-model-invocation)"),
        ("skills", "the skill `gone` does not exist"),
        ("mcpServers", "the server `none` does not exist here, or is off"),
    ]


HOOKS = "hooks: {Stop: [{hooks: [{type: command, command: ./x.sh}]}]}"


def test_an_agent_of_a_plugin_ignores_what_could_widen_it(tree: Tree) -> None:
    fields = (
        *(HOOKS, "mcpServers: [gh]", "permissionMode: plan", "skills: [s]"),
        "tools: Read, Agent(b, Explore)",
    )
    root = tree(
        {
            "plug/.claude-plugin/plugin.json": '{"name": "plug"}',
            "plug/agents/a.md": definition(*fields),
            "plug/agents/b.md": "Only a body.",
            "plug/skills/s/SKILL.md": "---\ndescription: d\n---\nBody",
            "p/": "",
        }
    )
    found = agent_types(view(root, plugin_dirs=[str(root / "plug")]), {})
    kind = found["plug:a"]
    assert (kind.hooks, kind.server_names, kind.permission_mode) == ((), (), None)
    assert kind.skills == ("plug:s",)
    assert kind.agents == {"plug:b", "Explore"}
    assert [field for field, _ in why(kind)] == ["hooks", "mcpServers", "permissionMode"]
    assert found["plug:b"].description == "Agent from plug plugin"
    assert found["plug:b"].tools is None


def test_hooks_and_own_servers_need_trust(tree: Tree) -> None:
    root = tree({FILE: definition(HOOKS, "mcpServers: [{own: {command: srv}}]"), "p/x.sh": ""})
    whole = view(root)
    trusted = standing(whole.project, trusted=True)
    kind = agent_types(whole, {}, trusts=trusted.trusts)["a"]
    assert len(kind.hooks) == len(kind.servers) == 1
    assert kind.ignored == ()
    untrusted = standing(whole.project, distrusted=True)
    for seen in (whole, View(untrusted.project)):
        kind = agent_types(seen, {}, trusts=untrusted.trusts)["a"]
        assert kind.hooks == kind.servers == ()
        assert [field for field, _ in why(kind)] == ["hooks", "mcpServers"]
        assert "not trusted" in kind.ignored[0].why


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"p/.claude/settings.json": '{"deniedMcpServers": [{"serverName": "own"}]}'},
            "`deniedMcpServers` names it",
        ),
        ({"managed/managed-mcp.json": '{"mcpServers": {}}'}, "only its servers count"),
        ({"managed/managed-settings.json": '{"strictPluginOnlyCustomization": ["mcp"]}'}, "allows only mcp"),
    ],
)
def test_lists_that_keep_a_server_away_hold_for_those_of_agents(
    tree: Tree, files: dict[str, str], said: str
) -> None:
    own = "mcpServers: [{own: {command: srv}}, {other: {command: srv}}]"
    kind = one(tree({FILE: definition(own), **files}))
    assert "own" not in [server.name for server in kind.servers]
    assert said in kind.ignored[0].why


def test_a_strict_command_line_leaves_an_agent_without_servers(tree: Tree) -> None:
    root = tree({FILE: definition("mcpServers: [{own: {command: srv}}]")})
    assert one(root).servers
    assert one(root, strict_mcp_config=True).servers == ()
