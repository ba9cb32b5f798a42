"""Signals in the text of a spec: schedules, sessions, memory, other agents, servers' tools."""

from __future__ import annotations

import re

from checkrein.compile.details import Details, LoopDetails, ToolDetails
from checkrein.compile.elements import cleaned
from checkrein.compile.fields import tool_element
from checkrein.compile.values import Element, Spec
from checkrein.facts.compile_rows import DEFERRED, ROWS


class Clue:
    """A pattern that needs one of `marks` in the text: without them there is no search.

    The marks of a pattern that ignores case are in lower case. Patterns that start with plain letters are the
    fastest; their lookbehind comes after these letters.
    """

    def __init__(self, pattern: str, *marks: str, flags: int = 0) -> None:
        self.pattern = re.compile(pattern, flags)
        self.marks = marks

    def search(self, text: str, small: str | None = None) -> re.Match[str] | None:
        """The first match. `small` is the text in lower case, when it is known already."""
        shown = (small or text.lower()) if self.pattern.flags & re.IGNORECASE else text
        return self.pattern.search(text) if any(mark in shown for mark in self.marks) else None


LOOP = Clue(
    r"(?:^|[\s`(\"'])/loop(?:\s+(\d+\s*[smhd]\w*))?(?=$|[\s`).,\"'])|\bCronCreate\b",
    *("/loop", "CronCreate"),
    flags=re.MULTILINE,
)
STREAM = Clue(r"--output-format[ =]stream-json\b", "stream-json")
PRINT = Clue(r"claude(?<=\bclaude)\s+(?:-p|--print)\b", "claude")
RESUME = Clue(
    r"claude(?:(?<=\bclaude)\b[^\n|;]{0,300}\s--(?:resume|continue)\b|(?<![\w-]claude)\s+-[rc]\b)",
    "claude",
)
FORK = Clue(r"(?:^|[\s`])/fork\b(?!/)|--fork-session\b", "/fork", "--fork-session", flags=re.MULTILINE)
ROUTINES = Clue(
    r"\b(?:Claude(?: Code)? Routines|Claude Code routine)\b",
    "claude routines",
    "claude code routine",
    flags=re.IGNORECASE,
)
MEMORY = Clue(r"\bMEMORY\.md\b", "MEMORY.md")
ADD_DIR = Clue(r"--add-dir\b", "--add-dir")
COMPACTION = Clue(
    r"\bauto-?compact\w*\b|\bcompaction\b",
    *("compaction", "autocompact", "auto-compact"),
    flags=re.IGNORECASE,
)
AGENT_TOOL = Clue(r"\b(?:Task tool|Agent tool|subagent_type)\b", "Task tool", "Agent tool", "subagent_type")
MCP_TOOL = re.compile(r"\bmcp__[A-Za-z0-9_-]+__[A-Za-z0-9_-]+")
ARGUMENTS = Clue(r"\$ARGUMENTS\b|\$\d+\b(?!\.\d|,\d)", "$")
INJECTION = Clue(r"(?:^|\s)!`[^`\n]+`", "!`")


def find(spec: Spec, elements: list[Element]) -> tuple[list[Element], dict[str, list[str]]]:
    """Elements that the text implies, and notes for the report."""
    body, small = spec.body, spec.body.lower()
    extra: list[Element] = []
    notes: dict[str, list[str]] = {"not_reproduced": [], "deferred": []}
    known = {one.details.tool for one in elements if isinstance(one.details, ToolDetails)}
    loop = LOOP.search(body)
    if loop is not None:
        extra.append(
            _at(spec, loop, "M-40", "A scheduled task", LoopDetails(cadence=(loop[1] or "").strip() or None))
        )
        notes["not_reproduced"].append(
            "`/loop`: tasks live as long as the session (at most 7 days, 50 tasks)"
        )
    memory = MEMORY.search(body)
    if memory is not None:
        extra.append(_at(spec, memory, "M-42", "Notes kept in MEMORY.md"))
    for name, line in _mcp_tools(spec).items():
        if name not in known:
            extra.append(tool_element(spec.file, str(line), name))
    values = spec.values
    if values.get("context") == "fork":
        notes["not_reproduced"].append("`context: fork`: the steps run in the caller's process")
        notes["deferred"].append(DEFERRED["8-5"])
    if "agent" in values:
        notes["deferred"].append(DEFERRED["8-4"])
    if AGENT_TOOL.search(body):
        notes["deferred"].append(DEFERRED["8-4"])
    if ADD_DIR.search(body):
        notes["deferred"].append(DEFERRED["8-6"])
    if ROUTINES.search(body, small):
        notes["deferred"].append(DEFERRED["8-7"])
    notes["not_reproduced"].append("auto-compaction: the package sends its inputs as they are")
    if COMPACTION.search(body, small):
        notes["deferred"].append(DEFERRED["8-8"])
    if FORK.search(body):
        notes["not_reproduced"].append("`/fork`: branches of a session have no counterpart")
    if INJECTION.search(body):
        notes["not_reproduced"].append("`!` commands: the package runs nothing while it loads the text")
    for field, about in (
        ("allowed-tools", "approves tools in advance on the command line; here it only chooses the tools"),
        ("shell", "chooses the shell of the command line; here the host does"),
    ):
        if field in values:
            notes["not_reproduced"].append(f"`{field}` {about}")
    modes = {e.content_full for e in elements if e.row == "M-32"}
    if "plan" in modes:
        notes["not_reproduced"].append("`defaultMode: plan`: a host reviews the plan; see SETUP.md §7")
    if any(e.row in ("M-26", "M-27", "M-28") for e in elements):
        notes["deferred"].append(DEFERRED["8-10"])
    return extra, notes


def _mcp_tools(spec: Spec) -> dict[str, int]:
    """Tools of MCP servers that the body names, with the line of the first mention."""
    found: dict[str, int] = {}
    for number, text in enumerate(spec.body.split("\n"), spec.body_line) if "mcp__" in spec.body else ():
        for name in MCP_TOOL.findall(text) if "mcp__" in text else ():
            found.setdefault(name, number)
    return found


def _line(spec: Spec, at: int) -> int:
    return spec.body_line + spec.body.count("\n", 0, at)


def _at(
    spec: Spec, match: re.Match[str], row_id: str, summary: str, details: Details | None = None
) -> Element:
    row = ROWS[row_id]
    start = match.start() + (match[0][:1] in "\n")
    return cleaned(
        Element(
            source_file=spec.file,
            source_lines=str(_line(spec, start)),
            tag=row.tag,
            category=row.category,
            content_summary=summary,
            dialect_rule_id=f"claude_code:4:{row.signal}",
            row=row.id,
            signal=f"body:{row.signal}",
            details=details,
        )
    )
