"""The built-in tools: their names, the rules for them, and the input field that says what they touch.

`family` is the tool whose rules govern this one: `Read` rules govern Grep, `Edit` rules govern Write.
`effect` says what `field` holds: a command to execute, a path to read or write, an address to fetch;
`glob` is the field with a glob that may name another place.
A `free` tool needs no approval, an `interactive` one always needs its user.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

EffectKind = Literal["exec", "read", "search", "write", "net", "use"]


class ToolFact(Struct, frozen=True, kw_only=True):
    name: str
    family: str = ""
    effect: EffectKind = "use"
    field: str | None = None
    fields: tuple[str, ...] = ()
    free: bool = False
    interactive: bool = False
    language: str = "bash"
    notebook: bool = False
    glob: str | None = None
    aliases: tuple[str, ...] = ()


def _use(name: str, *fields: str, free: bool = False, aliases: tuple[str, ...] = ()) -> ToolFact:
    return ToolFact(name=name, fields=fields, free=free, aliases=aliases)


TOOLS: tuple[ToolFact, ...] = (
    ToolFact(
        name="Bash",
        family="Bash",
        effect="exec",
        field="command",
        fields=("command", "timeout", "description", "run_in_background", "dangerouslyDisableSandbox"),
    ),
    ToolFact(
        name="Monitor",
        family="Bash",
        effect="exec",
        field="command",
        fields=("command", "description", "timeout_ms", "persistent", "ws"),
    ),
    ToolFact(
        name="PowerShell",
        family="PowerShell",
        effect="exec",
        field="command",
        language="powershell",
        fields=("command", "timeout", "description", "run_in_background"),
    ),
    ToolFact(
        name="Read",
        family="Read",
        effect="read",
        field="file_path",
        fields=("file_path", "offset", "limit", "pages"),
        free=True,
        aliases=("NotebookRead",),
    ),
    ToolFact(
        name="Grep",
        family="Read",
        effect="search",
        field="path",
        glob="glob",
        fields=("path", "pattern", "glob", "type", "output_mode", "multiline", "head_limit", "offset"),
        free=True,
    ),
    ToolFact(
        name="Glob",
        family="Read",
        effect="search",
        field="path",
        glob="pattern",
        fields=("path", "pattern"),
        free=True,
    ),
    ToolFact(name="LS", family="Read", effect="search", field="path", fields=("path", "ignore"), free=True),
    ToolFact(
        name="LSP",
        family="Read",
        effect="read",
        field="file_path",
        fields=("file_path", "operation", "line", "character"),
        free=True,
    ),
    ToolFact(
        name="Write",
        family="Edit",
        effect="write",
        field="file_path",
        fields=("file_path", "content"),
    ),
    ToolFact(
        name="Edit",
        family="Edit",
        effect="write",
        field="file_path",
        fields=("file_path", "old_string", "new_string", "replace_all"),
        aliases=("MultiEdit",),
    ),
    ToolFact(
        name="NotebookEdit",
        family="Edit",
        effect="write",
        field="notebook_path",
        fields=("notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"),
        notebook=True,
    ),
    ToolFact(name="WebFetch", family="WebFetch", effect="net", field="url", fields=("url", "prompt")),
    _use("WebSearch", "query", "allowed_domains", "blocked_domains"),
    _use(
        "Agent",
        "subagent_type",
        "description",
        "prompt",
        "model",
        "run_in_background",
        "name",
        "isolation",
        "team_name",
        "mode",
        free=True,
        aliases=("Task",),
    ),
    _use("Skill", "skill", "args", aliases=("SlashCommand",)),
    _use("TaskOutput", "task_id", "block", "timeout", free=True, aliases=("BashOutput", "AgentOutputTool")),
    _use("TaskStop", "task_id", "shell_id", free=True, aliases=("KillShell", "KillBash")),
    _use("TodoWrite", "todos", free=True),
    _use("TaskCreate", "subject", "description", "activeForm", "metadata", free=True),
    _use("TaskUpdate", "taskId", "status", "subject", "description", "owner", free=True),
    _use("TaskGet", "taskId", free=True),
    _use("TaskList", free=True),
    ToolFact(name="AskUserQuestion", fields=("questions", "answers"), interactive=True),
    _use("EnterPlanMode", free=True),
    _use("ExitPlanMode", "plan"),
    _use("ToolSearch", "query", free=True),
    _use("EnterWorktree", "name", "path"),
    _use("ExitWorktree", "action", "discard_changes", free=True),
    _use("CronCreate", "cron", "prompt", "recurring", "durable", free=True),
    _use("CronDelete", "id", free=True),
    _use("CronList", free=True),
    _use("ListMcpResourcesTool", "server", free=True),
    _use("ReadMcpResourceTool", "server", "uri", free=True),
    _use("Workflow", "script", "name", "scriptPath", "args", "resumeFromRunId"),
    _use("SendMessage", "to", "message", free=True),
    _use("ListAgents", free=True),
    _use("ScheduleWakeup", "delaySeconds", "reason", "prompt", free=True),
    _use("WaitForMcpServers", "servers", free=True),
    _use("ReportFindings", "findings", free=True),
)

SHELL_TOOLS: tuple[str, ...] = ("Bash", "Monitor")
"""Tools that run a command in the same shell: the sandbox and hooks for Bash bind them all."""

DEFAULT_AGENT = "general-purpose"
"""The agent for a call of Agent without `subagent_type`."""

VALUE_FIELDS: dict[str, tuple[str, ...]] = {"Agent": ("subagent_type",), "Skill": ("skill", "args")}
"""Tools whose specifier names a value of the input: `Agent(Explore)`, `Skill(deploy *)`."""

RULE_ALIASES: dict[str, str] = {"Task": "Agent", "SlashCommand": "Skill", "KillShell": "TaskStop"}
"""Old tool names that a rule may still use."""

PATH_FAMILIES: tuple[str, ...] = ("Read", "Edit")

PATH_RULES_IGNORED: tuple[str, ...] = ("Write", "NotebookEdit", "MultiEdit", "Glob", "Grep", "LS")
"""Path rules for these allow nothing: `Edit(...)` and `Read(...)` are the rules that count."""
