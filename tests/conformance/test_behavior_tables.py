"""Every cell of the behavior addendum to spec-kit: translation (19 rows by 4), routing (3 by 4).

The rows are written out here, apart from the tables in `facts/behavior`, so that a changed table fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from checkrein.base.origin import Origin
from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.dialects.spec_kit.read import read
from checkrein.facts.agents import targets
from checkrein.model.items import Command
from checkrein.model.project import Sources

OTHERS = ("gemini", "opencode", "qwen", "goose", "zed", "kiro-cli")
COPILOT_READ = {"tools": ["read_file", "list_directory", "search_files"]}
NOTHING: dict[str, Any] = {}

# (row, field, value, claude, copilot, codex, others)
Row = tuple[str, str, Any, dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]
ROWS: list[Row] = [
    ("B01", "execution", "isolated", {"context": "fork"}, {"mode": "agent"}, NOTHING, NOTHING),
    ("B03", "execution", "command", NOTHING, NOTHING, NOTHING, NOTHING),
    ("B04", "capability", "fast", {"model": "claude-haiku-4-5-20251001"}, NOTHING, NOTHING, NOTHING),
    ("B05", "capability", "balanced", {"model": "claude-sonnet-4-6"}, NOTHING, NOTHING, NOTHING),
    ("B06", "capability", "strong", {"model": "claude-opus-4-6"}, NOTHING, NOTHING, NOTHING),
    *[
        ("B07", "effort", level, {"effort": level}, NOTHING, {"effort": level}, NOTHING)
        for level in ("low", "medium", "high", "max")
    ],
    ("B08", "tools", "read-only", {"allowed-tools": "Read Grep Glob"}, COPILOT_READ, NOTHING, NOTHING),
    ("B09", "tools", "write", {"allowed-tools": "Read Write Edit Grep Glob"}, NOTHING, NOTHING, NOTHING),
    ("B10", "tools", "none", {"allowed-tools": ""}, NOTHING, NOTHING, NOTHING),
    ("B11", "tools", "full", NOTHING, NOTHING, NOTHING, NOTHING),
    ("B12", "tools", "Read Write Bash", {"allowed-tools": "Read Write Bash"}, NOTHING, NOTHING, NOTHING),
    (
        "B13",
        "tools",
        ["Read", "Write", "Bash"],
        {"allowed-tools": "Read Write Bash"},
        NOTHING,
        NOTHING,
        NOTHING,
    ),
    ("B14", "invocation", "explicit", {"disable-model-invocation": True}, NOTHING, NOTHING, NOTHING),
    ("B15", "invocation", "automatic", {"disable-model-invocation": False}, NOTHING, NOTHING, NOTHING),
    ("B16", "visibility", "user", {"user-invocable": True}, NOTHING, NOTHING, NOTHING),
    ("B17", "visibility", "model", {"user-invocable": False}, NOTHING, NOTHING, NOTHING),
    ("B18", "visibility", "both", NOTHING, NOTHING, NOTHING, NOTHING),
    *[
        ("B19", "color", color, {"color": color}, NOTHING, NOTHING, NOTHING)
        for color in ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")
    ],
]
# The later revision differs in Copilot's column only.
PR2103: list[tuple[str, Any, dict[str, Any]]] = [
    ("capability", "fast", {"model": "Claude Haiku 4.5"}),
    ("capability", "balanced", {"model": "Claude Sonnet 4.5"}),
    ("capability", "strong", {"model": "Claude Opus 4.5"}),
    ("tools", "none", {"tools": []}),
    ("tools", "write", {"tools": ["*"]}),
    ("tools", "full", {"tools": ["*"]}),
    ("tools", "read-only", COPILOT_READ),
    ("invocation", "explicit", {"disable-model-invocation": True}),
    ("invocation", "automatic", {"disable-model-invocation": False}),
    ("visibility", "user", {"user-invocable": True}),
    ("visibility", "model", {"user-invocable": False}),
    ("visibility", "both", NOTHING),
    ("execution", "isolated", {"mode": "agent"}),
]


def write(agent: str, command: Command, **options: Any) -> Written:
    return write_for(agent, Sources(commands=(command,)), Options(**options))


def command(**fields: Any) -> Command:
    given = {"name": "speckit.x.run", "description": "Does it", "body": "Do it.\n", **fields}
    return Command(origin=Origin("commands/run.md", "project"), **given)


def frontmatter(content: str) -> dict[str, Any]:
    _, head, _ = content.split("---\n", 2)
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found


def emitted(agent: str, item: Command, **options: Any) -> dict[str, Any]:
    """The frontmatter that `behavior` added: the file with it, less the file without it."""
    with_behavior = write(agent, item, **options).files[0].text
    plain = write(agent, command(), **options).files[0].text
    if not with_behavior.startswith("---"):
        assert with_behavior == plain
        return {}
    before, after = frontmatter(plain), frontmatter(with_behavior)
    assert "behavior" not in after
    assert all(after[key] == value for key, value in before.items())
    return {key: value for key, value in after.items() if key not in before}


CELLS = [
    pytest.param(agent, field, value, expected, id=f"{row}-{field}-{value}-{agent}")
    for row, field, value, claude, copilot, codex, others in ROWS
    for agent, expected in (
        ("claude", claude),
        ("copilot", copilot),
        ("codex", codex),
        *((other, others) for other in OTHERS),
    )
]


@pytest.mark.parametrize(("agent", "field", "value", "expected"), CELLS)
def test_translation(agent: str, field: str, value: Any, expected: dict[str, Any]) -> None:
    assert emitted(agent, command(behavior={field: value})) == expected


@pytest.mark.parametrize(("agent", "field", "value", "expected"), CELLS)
def test_what_is_not_emitted_is_listed(agent: str, field: str, value: Any, expected: dict[str, Any]) -> None:
    """A cell that emits nothing is a loss, except where the value means what the agent does anyway."""
    written = write(agent, command(behavior={field: value}))
    lost = [
        outcome
        for outcome in written.outcomes
        if outcome.field == f"behavior.{field}" and outcome.status == "lost"
    ]
    implied = (field, value) in [("tools", "full"), ("visibility", "both"), ("execution", "command")]
    elsewhere = (agent, field, value) == ("codex", "invocation", "explicit")
    assert bool(lost) == (not expected and not implied and not elsewhere), "Codex has a file for it"


@pytest.mark.parametrize(("field", "value", "expected"), PR2103)
def test_later_revision(field: str, value: Any, expected: dict[str, Any]) -> None:
    assert emitted("copilot", command(behavior={field: value}), profile="pr2103") == expected


def test_later_revision_keeps_the_other_columns() -> None:
    for _, field, value, claude, _, codex, others in ROWS:
        item = command(behavior={field: value})
        assert emitted("claude", item, profile="pr2103") == claude
        assert emitted("codex", item, profile="pr2103") == codex
        assert emitted("gemini", item, profile="pr2103") == others


def test_execution_agent_emits_mode_and_tools_for_copilot() -> None:  # B02, R3
    assert emitted("copilot", command(behavior={"execution": "agent"})) == {"mode": "agent"}
    both = command(behavior={"execution": "agent", "tools": "read-only"})
    assert emitted("copilot", both) == {"mode": "agent", **COPILOT_READ}


ROUTES = [
    ("R1", "command", "claude", ".claude/skills/speckit-x-run/SKILL.md"),
    ("R1", "command", "copilot", ".github/agents/speckit.x.run.agent.md"),
    ("R1", "command", "codex", ".agents/skills/speckit-x-run/SKILL.md"),
    ("R1", "command", "opencode", ".opencode/commands/speckit.x.run.md"),
    ("R2", "isolated", "claude", ".claude/skills/speckit-x-run/SKILL.md"),
    ("R2", "isolated", "copilot", ".github/agents/speckit.x.run.agent.md"),
    ("R2", "isolated", "codex", ".agents/skills/speckit-x-run/SKILL.md"),
    ("R2", "isolated", "opencode", ".opencode/commands/speckit.x.run.md"),
    ("R3", "agent", "claude", ".claude/agents/speckit-x-run.md"),
    ("R3", "agent", "copilot", ".github/agents/speckit.x.run.agent.md"),
    ("R3", "agent", "codex", None),
    ("R3", "agent", "opencode", None),
]


@pytest.mark.parametrize(("row", "execution", "agent", "path"), ROUTES)
def test_routing(row: str, execution: str, agent: str, path: str | None) -> None:
    written = write(agent, command(behavior={"execution": execution}))
    if path is None:
        assert written.files == ()
        assert [(loss.code, loss.severity) for loss in written.losses] == [("BEH015", "error")]
    else:
        assert written.files[0].path == path
        assert not written.errors


@pytest.mark.parametrize("agent", [key for key, row in targets().items() if row.command and not row.home])
def test_agent_is_not_supported_elsewhere(agent: str) -> None:
    """An error everywhere but for Claude and Copilot; --degrade writes the nearest thing."""
    item = command(behavior={"execution": "agent", "tools": "read-only"})
    refused = bool(write(agent, item).errors)
    assert refused == (agent not in ("claude", "copilot"))
    degraded = write(agent, item, degrade=True)
    assert degraded.files
    assert not degraded.errors
    if refused:
        assert "DEP003" in {loss.code for loss in degraded.losses}


def test_absent_execution_is_command() -> None:
    for _, execution, agent, path in ROUTES:
        if execution == "command":
            assert write(agent, command()).files[0].path == path


def test_copilot_prompt_holds_only_the_agent() -> None:
    files = {file.path: file.text for file in write("copilot", command()).files}
    assert files[".github/prompts/speckit.x.run.prompt.md"] == "---\nagent: speckit.x.run\n---\n"


def test_later_copilot_layout_uses_skills() -> None:
    assert (
        write("copilot", command(), skills_layout=True).files[0].path
        == ".github/skills/speckit-x-run/SKILL.md"
    )


# Remaps of an agent definition (Claude).


def agent_file(behavior: dict[str, Any], **fields: Any) -> dict[str, Any]:
    item = command(behavior={"execution": "agent", **behavior}, **fields)
    return frontmatter(write("claude", item).files[0].text)


def test_allowed_tools_become_tools() -> None:
    assert agent_file({"tools": "read-only"})["tools"] == "Read Grep Glob"
    from_hatch = agent_file({}, agents={"claude": {"allowed-tools": "Read"}})
    assert from_hatch["tools"] == "Read"
    assert "allowed-tools" not in from_hatch
    assert agent_file({"tools": "none"})["tools"] == ""
    assert "tools" not in agent_file({"tools": "full"})


def test_agent_definitions_hold_no_skill_keys() -> None:
    found = agent_file(
        {
            "invocation": "explicit",
            "visibility": "model",
            "effort": "max",
            "color": "red",
            "capability": "fast",
        },
        metadata={"a": "b"},
        compatibility="x",
        agents={"claude": {"context": "fork", "agent": "x"}},
    )
    assert found == {
        "name": "speckit-x-run",
        "description": "Does it",
        "model": "claude-haiku-4-5-20251001",
        "effort": "max",
        "color": "red",
    }


# Precedence.


def test_hatch_wins_over_behavior_everywhere() -> None:
    for agent, key, field, value in (
        ("claude", "model", "capability", "fast"),
        ("copilot", "tools", "tools", "read-only"),
        ("codex", "effort", "effort", "low"),
    ):
        item = command(behavior={field: value}, agents={agent: {key: "mine"}})
        assert frontmatter(write(agent, item).files[0].text)[key] == "mine"


def test_what_the_file_says_wins_over_both() -> None:
    item = command(behavior={"capability": "fast"}, agents={"claude": {"model": "b"}}, model="opus")
    assert frontmatter(write("claude", item).files[0].text)["model"] == "opus"


def test_the_invocation_flags_are_the_exception() -> None:
    item = command(behavior={"invocation": "automatic"}, model_invocable=False)
    assert frontmatter(write("claude", item).files[0].text)["disable-model-invocation"] is False


def test_only_the_section_of_the_target_is_read() -> None:
    item = command(agents={"claude": {"color": "red"}, "copilot": {"someCustomKey": "someValue"}})
    assert frontmatter(write("copilot", item).files[0].text)["someCustomKey"] == "someValue"
    assert "someCustomKey" not in write("claude", item).files[0].text


def test_unknown_hatch_keys_survive() -> None:
    assert frontmatter(write("codex", command(agents={"codex": {"weird": 1}})).files[0].text)["weird"] == 1


def test_models_can_be_overridden() -> None:
    item = command(behavior={"capability": "fast"})
    written = write("claude", item, models={"claude": {"fast": "claude-haiku-9"}})
    assert frontmatter(written.files[0].text)["model"] == "claude-haiku-9"


@pytest.mark.parametrize("agent", targets())
def test_source_only_keys_never_leak(agent: str) -> None:
    item = command(
        behavior={"execution": "isolated", "effort": "low", "bogus": "x"},
        agents={"claude": {"paths": "src/**"}, "nobody": {"x": 1}, "copilot": "broken"},
    )
    for file in write(agent, item).files:
        assert "behavior" not in file.text
        assert "nobody" not in file.text
        assert "bogus" not in file.text
        assert "agents:" not in file.text


# The full example: an orchestrator and a reusable subagent.

EXTENSION = """\
schema_version: "1.0"
extension:
  id: revenge
  name: Revenge
  version: 1.0.0
  author: someone
provides:
  commands:
    - name: speckit.revenge.extract
      file: commands/extract.md

    - name: speckit.revenge.analyzer
      file: commands/analyzer.md
"""
EXTRACT = """\
---
description: Run the extraction pipeline
behavior:
  invocation: automatic
agents:
  claude:
    argument-hint: "Path to codebase (optional)"
---
Orchestrate extraction for $ARGUMENTS...
"""
ANALYZER = """\
---
description: Analyze codebase structure and extract domain information
behavior:
  execution: agent
  capability: strong
  tools: read-only
  color: green
agents:
  claude:
    paths: "src/**"
---
You are a codebase analysis specialist.
Analyze $ARGUMENTS and return structured domain findings.
"""


@pytest.fixture
def extension(tmp_path: Path) -> Sources:
    (tmp_path / "commands").mkdir()
    (tmp_path / "extension.yml").write_text(EXTENSION)
    (tmp_path / "commands" / "extract.md").write_text(EXTRACT)
    (tmp_path / "commands" / "analyzer.md").write_text(ANALYZER)
    sources = read(str(tmp_path))
    assert sources.diagnostics == ()
    return sources


def test_full_example_claude(extension: Sources) -> None:
    files = {file.path: file.text for file in write_for("claude", extension, Options()).files}
    assert files == {
        ".claude/agents/speckit-revenge-analyzer.md": """\
---
name: speckit-revenge-analyzer
description: Analyze codebase structure and extract domain information
model: claude-opus-4-6
tools: Read Grep Glob
color: green
paths: "src/**"
---
You are a codebase analysis specialist.
Analyze $ARGUMENTS and return structured domain findings.
""",
        ".claude/skills/speckit-revenge-extract/SKILL.md": """\
---
name: speckit-revenge-extract
description: Run the extraction pipeline
compatibility: Requires a spec-kit project with a .specify/ directory
metadata:
  author: someone
  source: "revenge:commands/extract.md"
argument-hint: "Path to codebase (optional)"
disable-model-invocation: false
---
Orchestrate extraction for $ARGUMENTS...
""",
    }


def test_full_example_copilot(extension: Sources) -> None:
    files = {file.path: frontmatter(file.text) for file in write_for("copilot", extension, Options()).files}
    assert files[".github/agents/speckit.revenge.analyzer.agent.md"] == {
        "description": "Analyze codebase structure and extract domain information",
        "mode": "agent",
        "tools": ["read_file", "list_directory", "search_files"],
    }
    assert files[".github/agents/speckit.revenge.extract.agent.md"] == {
        "description": "Run the extraction pipeline"
    }
    assert files[".github/prompts/speckit.revenge.extract.prompt.md"] == {"agent": "speckit.revenge.extract"}


def test_full_example_codex(extension: Sources) -> None:
    written = write_for("codex", extension, Options())
    assert [file.path for file in written.files] == [".agents/skills/speckit-revenge-extract/SKILL.md"]
    assert [loss.code for loss in written.errors] == ["BEH015"]
    assert written.errors[0].origin.line == 4


def test_full_example_lists_the_lint_of_the_analyzer(extension: Sources) -> None:
    """The example's own defect: `$ARGUMENTS` in an agent definition is never replaced."""
    losses = write_for("claude", extension, Options()).losses
    assert [(loss.code, loss.origin.line) for loss in losses if loss.code.startswith("BEH")] == [
        ("BEH016", 13)
    ]
