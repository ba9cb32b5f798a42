"""Variables, pre-approvals, and skills of plugins and of the user's account."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.model.items import Command, Invocable, Plugin, Skill
from checkrein.model.project import Place, Project, Resolved
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.skills.invoke import (
    DISABLED_SHELL,
    invoke,
    is_synced,
    plugin_variables,
    pre_approvals,
)
from checkrein.runtime.skills.shelf import Shelf

ORIGIN = Origin("/p/.claude/skills/s/SKILL.md", "project")


def skill(name: str = "s", **fields: object) -> Skill:
    values = {"directory": f"/p/.claude/skills/{name}", "origin": ORIGIN, "body": "", **fields}
    return Skill(name=name, **values)  # type: ignore[arg-type]


def shell(command: str, owner: Invocable) -> str:
    return f"<{command}>"


def test_variables_stand_in_bash_rules_alone() -> None:
    rules = (
        "Bash(${CLAUDE_SKILL_DIR}/run.sh *)",
        "Read(${CLAUDE_SKILL_DIR}/x)",
        "Bash(${CLAUDE_PROJECT_DIR}/a)",
    )
    item = skill(allowed_tools=rules)
    assert [rule.text for rule in pre_approvals(item, {"CLAUDE_PROJECT_DIR": "/p"})] == [
        "Bash(/p/.claude/skills/s/run.sh *)",
        "Read(${CLAUDE_SKILL_DIR}/x)",
        "Bash(/p/a)",
    ]


def test_a_rule_that_values_leave_empty_approves_nothing() -> None:
    item = skill(allowed_tools=("Bash(${CLAUDE_EFFORT})", "Bash( ${A}* )", "Bash(*)", "Bash(${A}b)"))
    rules = pre_approvals(item, {"CLAUDE_EFFORT": "", "A": ""})
    assert [(rule.text, rule.specifier) for rule in rules] == [("Bash(*)", None), ("Bash(b)", "b")]


def test_arguments_are_not_put_into_rules() -> None:
    item = skill(allowed_tools=("Bash($ARGUMENTS)", "Bash($0 *)", "Bash(${NOBODY})"), body="x")
    for raw in ("", "rm -rf /"):
        rules = invoke(item, raw, {}, shell).allow
        assert [rule.text for rule in rules] == list(item.allowed_tools)
        assert all(rule.specifier for rule in rules)


def test_a_command_knows_its_folder() -> None:
    item = Command(name="c", origin=Origin("/p/.claude/commands/c.md", "project"), body="${CLAUDE_SKILL_DIR}")
    assert invoke(item, "", {}, shell).text == "/p/.claude/commands"


@pytest.mark.parametrize(
    ("model", "wanted"), [(None, None), ("inherit", None), ("opus", "opus"), ("scripted:x", "scripted:x")]
)
def test_models(model: str | None, wanted: str | None) -> None:
    mine, theirs = skill(model=model, origin=Origin("/h/SKILL.md", "user")), skill(model=model)
    assert invoke(mine, "", {}, shell).model == wanted
    assert invoke(theirs, "", {}, shell).model == (None if model == "scripted:x" else wanted)


def test_skills_of_the_account_run_nothing() -> None:
    synced = skill(
        "t",
        directory="/h/.claude/skills/Synced/t",
        origin=Origin("/h/x", "user"),
        body="!`id` ${CLAUDE_SESSION_ID}",
    )
    assert is_synced(synced)
    assert not is_synced(skill("synced"))
    assert invoke(synced, "", {}, shell).text == f"{DISABLED_SHELL} ${{CLAUDE_SESSION_ID}}"


def plugin(**options: object) -> Plugin:
    origin = Origin("/plugins/tools/.claude-plugin/plugin.json", "plugin")
    return Plugin(
        name="tools", origin=origin, root="/plugins/tools", marketplace="shop", user_config=dict(options)
    )


def test_what_a_plugin_knows(project: Path) -> None:
    settings = {"pluginConfigs": {"tools@shop": {"options": {"region": "eu", "token": "SECRET"}}}}
    loaded = load(project, env={}, home=str(project / "home"), settings=settings)
    made = plugin(region={"type": "string"}, token={"sensitive": True}, size={"default": 3}, other={})
    found = plugin_variables(made, loaded)
    assert found == {
        "CLAUDE_PLUGIN_ROOT": "/plugins/tools",
        "CLAUDE_PLUGIN_DATA": f"{loaded.place.config_dir}/plugins/data/tools-shop",
        "user_config.region": "eu",
        "user_config.size": "3",
    }
    item = skill(
        "tools:s", plugin="tools", body="${user_config.region} ${user_config.token} ${CLAUDE_PLUGIN_ROOT}"
    )
    assert invoke(item, "", found, shell).text == "eu ${user_config.token} /plugins/tools"


def test_a_project_can_not_set_a_plugins_options(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(
        '{"pluginConfigs": {"tools@shop": {"options": {"region": "theirs"}}}}'
    )
    own = load(tmp_path, env={}, home=str(tmp_path / "home"))
    assert "user_config.region" not in plugin_variables(plugin(region={}), own)


def shelf(*items: Invocable) -> Shelf:
    place = Place(cwd="/p", root="/p", root_reason="git", home="/h", config_dir="/h/.claude")
    from checkrein.model.project import Detection, Sources

    project = Project(
        place=place,
        detection=Detection("claude", {}, ()),
        skills={i.name: Resolved(i.name, i, ()) for i in items if isinstance(i, Skill)},
        commands={i.name: Resolved(i.name, i, ()) for i in items if isinstance(i, Command)},
        sources=Sources(),
    )
    return Shelf(View(project), lambda origin: False)


def test_names() -> None:
    command = Command(name="c", origin=ORIGIN)
    found = shelf(skill("a"), command, skill("p:a", plugin="p"), skill("p:b", plugin="p"))
    assert found.find("/a") is not None
    assert getattr(found.find("a"), "name", "") == "a"
    assert getattr(found.find("b"), "name", "") == "p:b"
    assert found.find("c") is command
    assert found.find("nothing") is None
    twice = shelf(skill("p:b", plugin="p"), skill("q:b", plugin="q"))
    assert twice.find("b") is None


def test_what_is_not_trusted_grants_nothing() -> None:
    hooked = skill(allowed_tools=("Bash",))
    assert shelf().safe(hooked).allowed_tools == ()
