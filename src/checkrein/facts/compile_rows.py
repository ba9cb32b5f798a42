"""The mapping table of the Claude Code dialect: source signal, category, disposition, target.

`informational`, `not_reproduced` and `deferred` are not dispositions: only the report names the signal.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.facts.compile import Category, Disposition, Primitive, Tag

Outcome = Disposition | Literal["informational", "not_reproduced", "deferred", "varies"]


class Row(Struct, frozen=True):
    id: str
    signal: str
    tag: Tag
    category: Category
    outcome: Outcome
    file: str
    symbol: str
    primitive: Primitive = "bundle"


_ROWS = (
    Row("M-01", "name", "CONFIG", "—", "bundle", "__init__.py", "__agent_name__"),
    Row("M-02", "description", "CONFIG", "C1", "bundle", "config.py", "AGENT_DESCRIPTION"),
    Row("M-03", "license", "CONFIG", "—", "bundle", "pyproject.toml", "license"),
    Row("M-04", "compatibility", "CONFIG", "C8", "bundle", "config.py", "COMPATIBILITY_NOTE"),
    Row("M-05", "metadata", "CONFIG", "—", "bundle", "config.py", "METADATA"),
    Row("M-06", "allowed-tools", "TOOL_TEMPLATE", "C6", "varies", "constrained_slots.py", "", "stub"),
    Row("M-07", "tool:Bash", "TOOL_TEMPLATE", "C6", "stub", "constrained_slots.py", "run_bash", "stub"),
    Row("M-08", "tool:file", "TOOL_TEMPLATE", "C6", "stub", "constrained_slots.py", "", "stub"),
    Row("M-09", "tool:WebFetch", "TOOL_TEMPLATE", "C6", "real_impl", "tools.py", "web_fetch", "real_impl"),
    Row("M-10", "tool:mcp", "TOOL_TEMPLATE", "C6", "stub", "constrained_slots.py", "", "stub"),
    Row(
        "M-11",
        "disable-model-invocation",
        "CONFIG",
        "C2",
        "informational",
        "mapping_report.md",
        "",
        "none",
    ),
    Row("M-12", "user-invocable", "CONFIG", "—", "bundle", "main.py", "--user-invocable-mode", "parameter"),
    Row("M-13", "context", "CONFIG", "C1", "not_reproduced", "mapping_report.md", "", "none"),
    Row("M-14", "agent", "ORCHESTRATE", "—", "not_reproduced", "mapping_report.md", "", "none"),
    Row("M-15", "hooks", "ORCHESTRATE", "C9", "delegate_to_runtime", "handlers/", "", "delegate"),
    Row("M-16", "paths", "CONFIG", "—", "informational", "README.md", "", "none"),
    Row("M-17", "shell", "CONFIG", "C8", "bundle", "config.py", "DEFAULT_SHELL"),
    Row(
        "M-18", "arguments", "TOOL_INPUT", "C3", "external_input", "pipeline.py", "run_pipeline", "parameter"
    ),
    Row("M-19", "model", "CONFIG", "C8", "bundle", "config.py", "MODEL_NAME"),
    Row("M-20", "effort", "CONFIG", "C8", "bundle", "config.py", "REASONING_EFFORT"),
    Row("M-21", "body", "ORCHESTRATE", "C2", "varies", "pipeline.py", "run_pipeline", "orchestrate"),
    Row("M-22", "body import", "CONFIG", "C3", "varies", "config.py", ""),
    Row("M-23", "CLAUDE.md", "CONFIG", "C1", "bundle", "config.py", "PREFIX_TEXT"),
    Row("M-24", "CLAUDE.md import", "CONFIG", "C1", "varies", "config.py", "PREFIX_TEXT"),
    Row(
        "M-25", "user CLAUDE.md", "CONFIG", "C3", "external_input", "pipeline.py", "run_pipeline", "parameter"
    ),
    Row("M-26", "permissions.allow", "CONFIG", "C2", "bundle", "requirements.py", "ALLOWED_CALLS"),
    Row(
        "M-27",
        "permissions.ask",
        "CONVERSE",
        "C2",
        "delegate_to_runtime",
        "constrained_slots.py",
        "confirm_action",
        "delegate",
    ),
    Row(
        "M-28",
        "permissions.deny",
        "VALIDATE_OUTPUT",
        "C2",
        "bundle",
        "requirements.py",
        "OPERATING_REQUIREMENTS",
        "requirement",
    ),
    Row("M-29", "env", "TOOL_INPUT", "C7", "external_input", ".env.example", "", "parameter"),
    Row("M-30", "settings hooks", "ORCHESTRATE", "C9", "delegate_to_runtime", "handlers/", "", "delegate"),
    Row("M-31", "settings mcpServers", "TOOL_TEMPLATE", "C6", "stub", "constrained_slots.py", "", "stub"),
    Row("M-32", "defaultMode", "CONFIG", "—", "bundle", "config.py", "DEFAULT_PERMISSION_MODE"),
    Row("M-33", "mcp.json", "TOOL_TEMPLATE", "C6", "stub", "constrained_slots.py", "", "stub"),
    Row("M-34", "plugin name", "CONFIG", "C8", "bundle", "pyproject.toml", "name"),
    Row("M-35", "plugin dependencies", "CONFIG", "C8", "bundle", "pyproject.toml", "dependencies"),
    Row("M-36", "marketplace.json", "NO_DECOMPOSE", "—", "not_reproduced", "mapping_report.md", "", "none"),
    Row("M-37", "hook event", "ORCHESTRATE", "C9", "delegate_to_runtime", "handlers/", "", "delegate"),
    Row("M-38", "hook matcher", "CONFIG", "—", "bundle", "handlers/", "", "none"),
    Row("M-39", "hook contract", "CONFIG", "C8", "informational", "SETUP.md", "", "none"),
    Row(
        "M-40",
        "/loop",
        "ORCHESTRATE",
        "C9",
        "delegate_to_runtime",
        "config.py",
        "SCHEDULE_CONFIG",
        "delegate",
    ),
    Row("M-41", "Routines", "NO_DECOMPOSE", "—", "not_reproduced", "mapping_report.md", "", "none"),
    Row(
        "M-42",
        "MEMORY.md",
        "TOOL_INPUT",
        "C4",
        "delegate_to_runtime",
        "constrained_slots.py",
        "recall_memory",
        "delegate",
    ),
    Row(
        "M-43",
        "subagent memory",
        "TOOL_INPUT",
        "C5",
        "delegate_to_runtime",
        "constrained_slots.py",
        "recall_agent_memory",
        "delegate",
    ),
    Row("M-44", "subagent reference", "NO_DECOMPOSE", "—", "deferred", "mapping_report.md", "", "none"),
)
ROWS: dict[str, Row] = {row.id: row for row in _ROWS}

FILE_TOOLS: dict[str, tuple[str, str]] = {
    "Read": ("read_file", "path"),
    "Write": ("write_file", "path"),
    "Edit": ("edit_file", "path"),
    "MultiEdit": ("edit_file", "path"),
    "NotebookEdit": ("edit_notebook", "path"),
    "NotebookRead": ("read_notebook", "path"),
    "Glob": ("find_files", "pattern"),
    "Grep": ("search_files", "pattern"),
    "LS": ("list_directory", "path"),
}
"""Tools over files: the slot's name and its argument. A tool that no table names becomes `use_<tool>`."""

DEFERRED: dict[str, str] = {
    "8-1": "Subagents are not expanded; compile each agent file by itself.",
    "8-2": "Plugins are read for their metadata; no plugin bundle is written.",
    "8-3": "Marketplace manifests are noted, not reproduced.",
    "8-4": "References to other skills and agents are noted, not resolved.",
    "8-5": "`context: fork` has no counterpart; the steps run in the caller's process.",
    "8-6": "Directories added with --add-dir are not read.",
    "8-7": "Routines are managed in a cloud and have no local form.",
    "8-8": "Auto-compaction (25,000 tokens for all skills, the first 5,000 of each) is not reproduced.",
    "8-9": "`apiKeyHelper` is noted and never run.",
    "8-10": "Permission rules: deny is enforced by the guard, ask needs `confirm_action`, allow is prose.",
}
