"""Recipes through the server: read, checked, opened, started, answered. A worker beside it executes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp.shared.exceptions import MCPError

from checkrein.runtime.session.options import Options
from checkrein.serve.mcp.kitchen import OPEN
from checkrein.serve.recipes.house import open_house
from support.files import lay
from support.mcp_guests import Guest, text

Visit = Callable[..., Any]
DEMO = """\
name: demo
description: asks, then writes
kitchen_rules: ["NEVER use Read, Grep, Glob, Edit, Write, Bash, Agent, WebFetch, WebSearch or NotebookEdit."]
ingredients:
  word: {description: What to write, required: true}
steps:
  ask: {action: confirm, message: "Write ${{ inputs.word }}?", on_success: make, on_failure: left}
  make:
    tool: run_cmd
    effect: pure
    with: {cmd: "printf %s ${{ inputs.word | quote }} > made"}
    on_success: over
    on_failure: left
  over: {action: stop, message: Written.}
  left: {action: stop, message: Not written.}
"""
STEP = "steps:\n  over: {action: stop, message: x}\n"
BAD = (
    f"name: bad\nkitchen_rules: [x]\n{STEP}  lost: {{tool: run_cmd, with: {{cmd: x}}, on_success: nowhere}}\n"
)
PUSH = DEMO.replace("name: demo", "name: push").replace(
    'tool: run_cmd\n    effect: pure\n    with: {cmd: "printf %s ${{ inputs.word | quote }} > made"}',
    'tool: get_issue_title\n    with: {issue_url: "${{ inputs.word }}"}',
)
FILES = {
    ".checkrein/recipes/demo.yaml": DEMO,
    ".checkrein/recipes/bad.yaml": BAD,
    ".checkrein/recipes/push.yaml": PUSH,
    ".checkrein/recipes/broken.yaml": "name: [",
    "checkrein.toml": '[subsets]\ndisabled = ["github", "ci"]\n',
}
QUESTION = "Write it?"

pytestmark = pytest.mark.project(FILES)


def test_recipes_are_listed_loaded_and_validated(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        listed = await guest.data("list_recipes")
        own = [one["name"] for one in listed["recipes"] if one["source"] == "project"]
        assert own == ["bad", "demo", "push"]
        assert listed["count"] == len(listed["recipes"])
        assert any(one["file"].endswith("broken.yaml") for one in listed["errors"])
        loaded = await guest.data("load_recipe", name="demo", overrides={"word": "a|b"})
        assert (loaded["valid"], loaded["content"]) == (True, DEMO)
        assert "| word | What to write | yes | a\\|b |" in loaded["ingredients_table"]
        assert [one["name"] for one in loaded["steps"]] == ["ask", "make", "over", "left"]
        assert loaded["diagram"].startswith("flowchart")
        found = await guest.data("validate_recipe", script_path=".checkrein/recipes/bad.yaml")
        assert found["valid"] is False
        assert any("nowhere" in one["message"] and one["line"] for one in found["errors"])
        found = await guest.data("validate_recipe", script_path=".checkrein/recipes/broken.yaml")
        assert (found["valid"], bool(found["errors"])) == (False, True)
        for tool, input in (
            ("load_recipe", {"name": "dem"}),
            ("load_recipe", {"name": "../demo"}),
            ("load_recipe", {"name": "broken"}),
            ("validate_recipe", {"script_path": "none.yaml"}),
            ("migrate_recipe", {"name": "none"}),
        ):
            assert (await guest.call(tool, **input)).is_error, (tool, input)

    visit(talk)


@pytest.mark.project({**FILES, ".claude/settings.json": {"permissions": {"deny": ["Read(.checkrein/**)"]}}})
def test_a_recipe_that_nobody_may_read_is_not_read(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        for tool, input in (
            ("load_recipe", {"name": "demo"}),
            ("validate_recipe", {"script_path": ".checkrein/recipes/demo.yaml"}),
            ("migrate_recipe", {"name": "demo"}),
            (OPEN, {"name": "demo"}),
        ):
            refused = await guest.call(tool, **input)
            assert refused.is_error
            assert "Read(.checkrein/**)" in text(refused)
            assert "printf" not in text(refused)
        with pytest.raises(MCPError, match="Read"):
            await guest.client.read_resource("recipe://demo")

    visit(talk)


def test_recipes_are_resources(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        listed = (await guest.client.list_resources()).resources
        assert "recipe://demo" in [str(one.uri) for one in listed]
        (template,) = (await guest.client.list_resource_templates()).resource_templates
        assert template.uri_template == "recipe://{name}"
        (read,) = (await guest.client.read_resource("recipe://demo")).contents
        assert getattr(read, "text", "") == DEMO
        for uri in ("recipe://none", "recipe://..%2Fdemo", "recipe:///etc/passwd", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await guest.client.read_resource(uri)

    visit(talk)


def test_a_worker_has_no_recipes(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        assert (await guest.client.list_resources()).resources == []
        assert (await guest.client.list_resource_templates()).resource_templates == []
        with pytest.raises(MCPError):
            await guest.client.read_resource("recipe://demo")
        for tool in ("load_recipe", "start_recipe", "approve_step", "get_recipe_runs"):
            assert (await guest.call(tool, name="demo")).is_error

    visit(talk, worker=True)


def test_10_12_open_kitchen_with_a_recipe_opens_all_or_nothing(visit: Visit) -> None:
    """REQ-VAL-004: what is switched off refuses a recipe before anything opens; so does an error in it."""

    async def talk(guest: Guest) -> None:
        for name, why in (("bad", "nowhere"), ("push", "github"), ("none", "no recipe")):
            refused = await guest.data(OPEN, name=name)
            assert refused["success"] is False
            assert why in str(refused), refused
            assert "run_cmd" not in await guest.names()
        opened = await guest.data(OPEN, name="demo", overrides={"word": "x"})
        assert (opened["success"], opened["kitchen"], opened["name"]) == (True, "open", "demo")
        assert opened["content"] == DEMO
        assert "run_cmd" in await guest.names()

    visit(talk)


@pytest.mark.project(
    {
        ".claude/skills/review-changes/SKILL.md": "---\ndescription: ours\n---\nLook.\n",
        ".checkrein/recipes/look.yaml": """\
name: look
kitchen_rules: [x]
steps:
  see:
    tool: run_skill
    with: {skill_command: /autoskillit:review-changes, cwd: .}
    on_success: done
    on_failure: done
""",
    }
)
def test_req_ovr_004_a_local_override_is_a_finding_for_clients_too(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        found = await guest.data("validate_recipe", script_path=".checkrein/recipes/look.yaml")
        told = [one for one in found["findings"] if "review-changes" in one["message"]]
        assert any("project" in one["message"] and one["severity"] == "warning" for one in told), found

    visit(talk)


@pytest.mark.project(
    {".checkrein/recipes/old.yaml": DEMO.replace("name: demo", "name: old\nautoskillit_version: 0.1.0")}
)
def test_a_recipe_is_migrated_where_writing_is_allowed(visit: Visit, project: Path) -> None:
    file = project / ".checkrein/recipes/old.yaml"
    before = file.read_text()

    async def refused(guest: Guest) -> None:
        await guest.call(OPEN)
        assert (await guest.call("migrate_recipe", name="old")).is_error

    async def allowed(guest: Guest) -> None:
        await guest.call(OPEN)
        found = await guest.data("migrate_recipe", name="old")
        assert (found["status"], found["applied"]) == ("migrated", ["version"])
        assert (await guest.data("migrate_recipe", name="old"))["status"] == "up_to_date"

    visit(refused, says="deny")
    assert file.read_text() == before
    visit(allowed, says="allow")
    assert "checkrein_version" in file.read_text()


def go_on(project: Path, run: str) -> Any:
    """What `checkrein recipe resume` does."""
    options = Options(kind="sdk", allowed=("Bash",))
    with open_house(str(project)) as house:
        return house.go_on_here(run, options, _Silent())


class _Silent:
    def saw(self, path: str, entry: Any) -> None:
        pass


def test_a_run_is_started_watched_and_answered_by_the_person(
    visit: Visit, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECKREIN_USER", "ann")

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        for input in ({"name": "demo"}, {"name": "bad"}, {"name": "demo", "inputs": {"other": "x"}}):
            assert (await guest.call("start_recipe", **input)).is_error
        assert (await guest.data("get_recipe_runs"))["runs"] == []
        started = await guest.data("start_recipe", name="demo", inputs={"word": "it"})
        run = started["run_id"]
        assert started["state"] == "queued"
        assert "recipe worker" in started["hint"]
        view = await asyncio.to_thread(go_on, project, run)
        assert view.state == "waiting"
        (seen,) = (await guest.data("get_recipe_runs"))["runs"]
        assert (seen["run_id"], seen["state"], seen["waits"][0]["shown"]) == (run, "waiting", QUESTION)
        before = len(guest.asked)
        answer = {"run_id": run, "step": "ask"}
        wrong = await guest.call("approve_step", **answer, shown="Harmless?")
        assert wrong.is_error
        assert QUESTION in text(wrong)
        assert (await guest.data("approve_step", **answer, shown=QUESTION))["success"]
        assert QUESTION in guest.asked[-1], "the person has read what the run asks"
        assert len(guest.asked) == before + 2
        assert (await guest.call("reject_step", **answer, shown=QUESTION)).is_error
        view = await asyncio.to_thread(go_on, project, run)
        assert (view.state, view.message) == ("stopped", "Written.")
        (seen,) = (await guest.data("get_recipe_runs", run_id=run))["runs"]
        (entry,) = [one["entry"] for one in seen["steps"] if one["entry"].get("by")]
        assert (entry["by"], entry["shown"]) == ("ann through the MCP server", QUESTION)

    visit(talk, says="allow")
    assert (project / "made").read_text() == "it"


@pytest.mark.parametrize("says", ["deny", None])
def test_a_model_neither_starts_nor_answers_alone(visit: Visit, project: Path, says: str | None) -> None:
    from checkrein.serve.recipes.house import Ask
    from checkrein.serve.recipes.project_recipes import plan_of

    with open_house(str(project)) as house:
        run = house.add(plan_of("demo", str(project), {"word": "it"}), str(project), Ask())
    assert go_on(project, run).state == "waiting"

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        assert (await guest.call("start_recipe", name="demo", inputs={"word": "x"})).is_error
        for tool in ("approve_step", "reject_step"):
            assert (await guest.call(tool, run_id=run, step="ask", shown=QUESTION)).is_error
        assert len((await guest.data("get_recipe_runs"))["runs"]) == 1

    visit(talk, says=says)
    assert go_on(project, run).state == "waiting"
    assert not (project / "made").exists()


def test_runs_of_other_projects_stay_theirs(visit: Visit, project: Path, tmp_path: Path) -> None:
    from checkrein.serve.recipes.house import Ask
    from checkrein.serve.recipes.project_recipes import plan_of

    other = lay(tmp_path / "other", {".git/": None, ".checkrein/recipes/demo.yaml": DEMO})
    with open_house(str(other)) as house:
        run = house.add(plan_of("demo", str(other), {"word": "secret"}), str(other), Ask())

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        assert (await guest.data("get_recipe_runs"))["runs"] == []
        for tool, more in (("get_recipe_runs", {}), ("approve_step", {"step": "ask", "shown": "x"})):
            refused = await guest.call(tool, run_id=run, **more)
            assert refused.is_error
            assert "secret" not in text(refused)

    visit(talk, says="allow")


def test_req_val_004_enable_once_opens_only_what_is_needed(visit: Visit, project: Path) -> None:
    """A run that a person lets have `github` gets it, and neither `ci` nor another run does."""

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        refused = await guest.data("start_recipe", name="push", inputs={"word": "1"})
        assert "github" in refused["error"]
        started = await guest.data("start_recipe", name="push", inputs={"word": "1"}, enable_once=True)
        assert started["success"], started
        assert '"enable_once": true' in guest.asked[-1]
        assert "get_issue_title" not in await guest.names(), "the kitchen stays as it was"

    visit(talk, says="allow")
    with open_house(str(project)) as house:
        (row,) = house.database.runs(5)
    assert '"enabled":["github"]' in row.plan


TIMES = """\
name: times
kitchen_rules: ["NEVER use Bash yourself."]
steps:
  look: {tool: get_timing_summary, on_success: done}
"""


@pytest.mark.project(
    {".checkrein/recipes/times.yaml": TIMES, "checkrein.toml": '[subsets]\ndisabled = ["telemetry"]\n'}
)
def test_req_val_004_what_is_enabled_once_reaches_the_steps_of_that_run_alone(project: Path) -> None:
    from checkrein.base.errors import RunError
    from checkrein.serve.recipes.house import Ask
    from checkrein.serve.recipes.project_recipes import Enabling, plan_of

    root = str(project)
    with pytest.raises(RunError, match="telemetry"):
        plan_of("times", root, {})
    once = plan_of("times", root, {}, Enabling(once=True))
    assert once.enabled == ("telemetry",)
    options = Options(kind="sdk")
    with open_house(root) as house:
        assert house.run_here(once, root, Ask(), options, _Silent()).state == "done"
        without = msgspec.structs.replace(once, enabled=())
        refused = house.run_here(without, root, Ask(), options, _Silent())
    assert (refused.state, "telemetry" in refused.message) == ("failed", True)
