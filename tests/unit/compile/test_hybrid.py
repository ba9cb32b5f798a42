"""Projects of two runtimes: both are inventoried, and what is not mapped is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.compile.package import Compiled, Options, compile_spec
from support.files import lay

SKILL = "---\nname: demo\ndescription: Writes a report.\n---\n\n# Demo\n\nYou are careful.\n\n## Process\n\n"
CREW = {
    "crew.py": "from crewai import Crew\n@CrewBase\nclass X:\n    @agent\n    def ada(self): ...\n",
    "config/agents.yaml": "ada:\n  role: Writer\n  goal: Write\n  allow_delegation: true\n",
    "config/tasks.yaml": "plan:\n  description: Plan it\nship:\n  description: Ship it\n",
}


pytestmark = pytest.mark.project(CREW)


def build(path: Path, **options: object) -> Compiled:
    return compile_spec(path, Options(**options), env={"HOME": str(path.anchor) + "nowhere"})  # type: ignore[arg-type]  # fields of Options


def report(compiled: Compiled) -> str:
    return compiled.files[f"{compiled.package}/mapping_report.md"].decode()


def section(compiled: Compiled, number: int) -> str:
    return report(compiled).split(f"\n## {number}. ")[1].split("\n## ")[0]


def test_a_skill_inside_a_crew(project: Path) -> None:
    path = project / ".claude" / "skills" / "demo" / "SKILL.md"
    lay(project, {".claude/skills/demo/SKILL.md": SKILL + "1. Read the input\n2. Write the report\n"})
    compiled = build(path)
    assert compiled.classification.source_runtime == "hybrid"
    assert compiled.classification.hybrid_threshold_triggered
    assert compiled.classification.hybrid_contributors == ["claude_code", "crewai"]
    inventory = json.loads(compiled.files[f"{compiled.package}/intermediate/inventory.json"])
    runtimes = {element["dialect_rule_id"].split(":")[0] for element in inventory["elements"]}
    assert runtimes == {"claude_code", "crewai"}
    assert {file["path"] for file in inventory["files"]} == {
        ".claude/skills/demo/SKILL.md",
        "config/agents.yaml",
        "config/tasks.yaml",
    }
    assert [step.source.split(":")[0] for step in compiled.blueprint.steps] == [
        *[".claude/skills/demo/SKILL.md"] * 2,
        *["config/tasks.yaml"] * 2,
    ]
    assert "| Contributors | claude_code, crewai |" in section(compiled, 1)
    assert "signals of several runtimes: claude_code, crewai" in section(compiled, 1)
    assert "- crewai: delegation between agents is not mapped" in section(compiled, 8)
    manifest = json.loads(compiled.files[f"{compiled.package}/melleafy.json"])
    assert manifest["hybrid_primary"] == "claude_code"
    assert manifest["hybrid_contributors"] == ["claude_code", "crewai"]
    assert [one.lint_id for one in compiled.lints if one.verdict == "fail"] == []


def test_a_crew_with_a_soul(project: Path) -> None:
    lay(project, {"SOUL.md": "You are Ada.\n", "IDENTITY.md": "Ada.\n", "HEARTBEAT.md": "Look.\n"})
    compiled = build(project)
    assert compiled.classification.source_runtime == "hybrid"
    assert set(compiled.classification.hybrid_contributors) == {"openclaw", "crewai"}
    files = {file.path for file in compiled.inventory.files}
    assert {"SOUL.md", "config/agents.yaml"} <= files
    assert "- openclaw: channels, cron jobs and the memory wiki are not mapped" in section(compiled, 8)
    assert "- crewai: delegation between agents is not mapped" in section(compiled, 8)
    assert build(project).files == compiled.files


def test_of_two_that_say_the_same_the_first_one_counts(project: Path) -> None:
    same = "Plan it"
    lay(project, {".claude/skills/demo/SKILL.md": SKILL + f"1. {same}\n2. Write the report\n"})
    compiled = build(project / ".claude" / "skills" / "demo" / "SKILL.md")
    assert [e.source_file for e in compiled.inventory.elements if e.content_full == same] == [
        ".claude/skills/demo/SKILL.md"
    ]
    assert any("says what claude_code says already" in text for text in compiled.warnings)


def test_naming_one_runtime_leaves_the_others_out(project: Path) -> None:
    lay(project, {".claude/skills/demo/SKILL.md": SKILL + "1. Read the input\n2. Write the report\n"})
    path = project / ".claude" / "skills" / "demo" / "SKILL.md"
    one = build(path, runtime="claude_code")
    assert {e.source_file for e in one.inventory.elements} == {".claude/skills/demo/SKILL.md"}
    assert "--source-runtime claude_code leaves out crewai" in one.classification.warnings
    both = build(path, runtime="hybrid", contributors=("crewai", "claude_code"))
    assert both.classification.hybrid_primary == "crewai"
    assert not both.classification.hybrid_threshold_triggered
    assert both.inventory.elements[0].source_file == "config/agents.yaml"
    assert {e.source_file for e in both.inventory.elements} >= {".claude/skills/demo/SKILL.md"}
