"""Every command that answers with the envelope, in a small project: `data` is what its schema publishes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from checkrein.cli import registry
from checkrein.cli.main import run
from checkrein.cli.schema import make_schema, schema_names
from checkrein.passes.checks.recipe_examples import RECIPE, recipe

EXAMPLE = Path(__file__).parents[3] / "examples" / "first"

RUN_VERBS = ("run", "resume", "approve", "reject", "reconcile", "pause", "cancel", "worker")
CALLS: dict[str, list[tuple[list[str], int]]] = {
    "show": [
        ([], 0),
        (["skills"], 0),
        (["reviewer"], 0),
        (["--detect"], 0),
        (["CLAUDE.md"], 0),
        (["hooks"], 0),
    ],
    "why": [
        (["Bash(git status && rm -rf build)"], 0),
        (["CLAUDE.md"], 0),
        (["reviewer"], 0),
        (["permissions"], 0),
        (["AGENTS.md"], 0),
        (["shop/price.py"], 0),
        (["--prompt"], 0),
    ],
    "check": [([], 1), (["--explain", "PERM003"], 0), (["--fix"], 1), (["--select", "AS"], 0)],
    "audit": [([], 0), (["--suggest"], 0)],
    "policy diff": [],
    "policy test": [],
    "worker": [],
    "deploy": [(["--list"], 0), (["--to", "codex", "--dry-run"], 0), (["--to", "codex", "--diff"], 0)],
    "convert": [([".claude/agents/reviewer.md", "--to", "copilot"], 0)],
    "import": [(["--from", "codex", "--dry-run"], 1)],
    "compile": [
        (["--list-dialects"], 0),
        ([".claude/skills/fix-failing-test/SKILL.md", "--dry-run"], 0),
    ],
    "sessions list": [([], 0), (["--all", "--limit", "1"], 0)],
    "sessions search": [(["needle"], 1)],
    "sessions show": [],
    "sessions export": [],
    "sessions delete": [],
    "init": [(["--dry-run"], 0)],
    "skill test": [],
    "mcp add": [(["tracker", "tracker-mcp", "stdio"], 0)],
    "mcp add-json": [(["tracker", '{"command": "tracker-mcp"}', "--scope", "project"], 0)],
    "mcp list": [(["--no-probe"], 0)],
    "mcp get": [(["wiki", "--no-probe"], 0)],
    "mcp remove": [(["wiki"], 0)],
    "mcp login": [],
    "mcp logout": [(["wiki"], 0)],
    "mcp test": [],
    "mcp approve": [([], 0)],
    **{f"plugin {verb}": [] for verb in ("install", "enable", "disable", "update", "remove", "info")},
    "plugin config": [],
    "plugin list": [([], 0), (["--available"], 0)],
    "plugin validate": [(["."], 0)],
    "plugin audit": [([], 0), (["--write-skills"], 0)],
    "plugin adopt": [([], 0)],
    "plugin init": [(["reviewer"], 0)],
    "plugin tag": [],
    "plugin prune": [([], 0)],
    "plugin marketplace add": [],
    "plugin marketplace list": [([], 0)],
    "plugin marketplace remove": [],
    "plugin marketplace update": [([], 0)],
    "recipe list": [([], 0), (["--all"], 0)],
    "recipe show": [(["build"], 0)],
    "recipe check": [([], 0), (["build"], 0)],
    "recipe graph": [(["build"], 0), (["build", "--write"], 0)],
    "recipe card": [(["build"], 0), (["build", "--write"], 0)],
    "recipe migrate": [([], 0)],
    "recipe status": [([], 0)],
    **{f"recipe {verb}": [] for verb in RUN_VERBS},
    "worktree list": [],
    "worktree clean": [],
    "trust": [(["--list"], 0), (["--yes"], 0)],
    "doctor": [([], None)],
    "config show": [([], 0)],
    "config set": [(["model.default", "sonnet"], 0)],
    "config unset": [(["model.default"], 0)],
    "schema": [([], 0), (["model"], 0)],
    "completion": [(["bash"], 0)],
}
"""Arguments and the status they end with; None where that depends on the machine."""

WIKI = {"mcpServers": {"wiki": {"command": "wiki-mcp"}}}
WITHOUT = {
    **{f"recipe {verb}": "it needs a run; tests/unit/recipes has some" for verb in RUN_VERBS},
    **{
        f"sessions {verb}": "it needs a session; test_sessions_and_init has one"
        for verb in ("show", "export", "delete")
    },
    "policy diff": "it needs commits; test_audit_command has some",
    "policy test": "it needs rows; test_audit_command has some",
    "worker": "it needs a model; tests/unit/runtime/worker has some",
    "skill test": "it needs a model; tests/unit/runtime/skills has its report",
    "mcp login": "it needs a server; test_mcp_commands has one",
    "mcp test": "it needs a server; test_mcp_commands has one",
    **{
        f"plugin {verb}": "it needs a marketplace; test_plugin_commands has some"
        for verb in (
            *("install", "enable", "disable", "update", "remove", "info", "config", "tag"),
            *("marketplace add", "marketplace remove"),
        )
    },
    "worktree list": "it needs commits; test_worktree_commands has some",
    "worktree clean": "it needs commits; test_worktree_commands has some",
}


def closed(schema: Any) -> Any:
    """The schema with every object closed, so that a field which is not published fails."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


def example() -> dict[str, object]:
    """The files of the example project, with something for every command."""
    files: dict[str, object] = {
        path.relative_to(EXAMPLE).as_posix(): path.read_text("utf-8")
        for path in EXAMPLE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    settings = json.loads((EXAMPLE / ".claude/settings.json").read_text())
    settings["permissions"]["allow"] = [*settings["permissions"].get("allow", []), "Write(docs/**)"]
    return {
        **files,
        ".claude/settings.json": settings,
        "AGENTS.md": "For other agents.\n",
        ".mcp.json": WIKI,
        RECIPE: recipe(),
    }


def test_every_envelope_command_is_called() -> None:
    declared = {
        name
        for name in registry.names()
        if registry.command(name).output == "envelope" and not name.startswith("machine ")
    }
    assert set(CALLS) == declared
    assert {name for name in declared if not CALLS[name]} == set(WITHOUT)


@pytest.mark.project(example(), name="first", inside=".")
@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    [(name, arguments, status) for name, calls in CALLS.items() for arguments, status in calls],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_data_is_what_the_schema_says(
    project: Path, name: str, arguments: list[str], status: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run([*name.split(" "), *arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert ended == document["exit_code"]
    assert status is None or ended == status, document.get("error")
    jsonschema.validate(document, closed(make_schema("envelope")))
    jsonschema.validate(document["data"], closed(make_schema(f"command/{name.replace(' ', '/')}")))


def test_a_field_that_is_not_published_fails() -> None:
    schema = closed(make_schema("command/config/show"))
    jsonschema.validate({"values": []}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"values": [], "more": 1}, schema)


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_one(name: str) -> None:
    schema = make_schema(name)
    json.dumps(schema)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_the_schemas_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[:4] == ["model", "config", "events", "envelope"]
    assert "command/machine/" in "\n".join(listed)


def test_events_are_told_apart_by_their_type() -> None:
    from checkrein.runtime.session.events import ModeChanged

    schema = make_schema("events")
    jsonschema.validate(msgspec.to_builtins(ModeChanged("plan")), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"type": "no_event"}, schema)
