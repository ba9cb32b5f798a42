"""The built-in tools as the model sees them: names and input schemas as documented, one entry each.

The description is in the Markdown file with the tool's name beside this module.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Entry(Struct, frozen=True):
    """`place` is `module:function` in this package."""

    name: str
    place: str
    schema: dict[str, Any]
    read_only: bool = False
    eager: bool = False
    aliases: tuple[str, ...] = ()


def _object(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required.split()
    return schema


def _value(kind: str, description: str = "", **more: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": kind, **more}
    if description:
        schema["description"] = description
    return schema


def _text(description: str = "") -> dict[str, Any]:
    return _value("string", description)


def _number(description: str = "") -> dict[str, Any]:
    return _value("integer", description)


def _flag(description: str = "") -> dict[str, Any]:
    return _value("boolean", description)


def _one_of(*choices: str, description: str = "") -> dict[str, Any]:
    return _value("string", description, enum=list(choices))


def _list(items: dict[str, Any], description: str = "", **more: Any) -> dict[str, Any]:
    return _value("array", description, items=items, **more)


_STATUS: tuple[Literal["pending", "in_progress", "completed"], ...] = ("pending", "in_progress", "completed")
_ANY_OBJECT = {"type": "object"}

TOOLS: tuple[Entry, ...] = (
    Entry(
        "Bash",
        "bash:run",
        _object(
            "command",
            command=_text(),
            timeout=_number("ms; default 120000, at most 600000"),
            description=_text("what it does, in 5-10 words"),
            run_in_background=_flag(),
            dangerouslyDisableSandbox=_flag(),
        ),
        eager=True,
    ),
    Entry(
        "Read",
        "read:run",
        _object(
            "file_path",
            file_path=_text(),
            offset=_number("first line, from 1"),
            limit=_number("number of lines"),
            pages=_text('for a PDF, such as "1-5"'),
        ),
        read_only=True,
        eager=True,
        aliases=("NotebookRead",),
    ),
    Entry(
        "Write",
        "write:run",
        _object("file_path content", file_path=_text(), content=_text()),
        eager=True,
    ),
    Entry(
        "Edit",
        "edit:run",
        _object(
            "file_path old_string new_string",
            file_path=_text(),
            old_string=_text(),
            new_string=_text(),
            replace_all=_flag(),
        ),
        eager=True,
        aliases=("MultiEdit",),
    ),
    Entry(
        "Glob",
        "glob:run",
        _object("pattern", pattern=_text(), path=_text("directory; default: the current one")),
        read_only=True,
        eager=True,
    ),
    Entry(
        "Grep",
        "grep:run",
        _object(
            "pattern",
            pattern=_text("regular expression, ripgrep syntax"),
            path=_text("file or directory"),
            glob=_text('such as "*.js"'),
            type=_text("file type, such as py"),
            output_mode=_one_of("content", "files_with_matches", "count"),
            **{
                "-i": _flag("ignore case"),
                "-n": _flag("line numbers"),
                "-o": _flag("only the matches"),
                "-A": _number("lines after"),
                "-B": _number("lines before"),
                "-C": _number("lines around"),
            },
            context=_number(),
            head_limit=_number("first N lines or files; 0: all"),
            offset=_number("skip N of them"),
            multiline=_flag("let . match newlines"),
        ),
        read_only=True,
        eager=True,
    ),
    Entry(
        "TodoWrite",
        "todo:run",
        _object(
            "todos",
            todos=_list(
                _object(
                    "content status activeForm",
                    content=_text(),
                    status=_one_of(*_STATUS),
                    activeForm=_text(),
                )
            ),
        ),
        read_only=True,
        eager=True,
    ),
    Entry(
        "NotebookEdit",
        "notebook:run",
        _object(
            "notebook_path new_source",
            notebook_path=_text(),
            new_source=_text(),
            cell_id=_text("the cell to change; with insert, the one before the new cell"),
            cell_type=_one_of("code", "markdown", description="needed for insert"),
            edit_mode=_one_of("replace", "insert", "delete", description="default: replace"),
        ),
    ),
    Entry(
        "WebFetch",
        "webfetch:run",
        _object("url prompt", url=_text(), prompt=_text("what to find out from the page")),
        read_only=True,
    ),
    Entry(
        "WebSearch",
        "websearch:run",
        _object("query", query=_text(), allowed_domains=_list(_text()), blocked_domains=_list(_text())),
        read_only=True,
    ),
    Entry(
        "Agent",
        "subagents:start",
        _object(
            "description prompt",
            description=_text("the task in three to five words"),
            prompt=_text("the whole task: the agent knows nothing else"),
            subagent_type=_text("a type of the list; default general-purpose"),
            model=_text("another model than the type's own"),
            run_in_background=_flag("default true; false waits for the report"),
            name=_text("a name to speak to it by"),
            isolation=_one_of("worktree", description="work in a copy of the repository"),
            mode=_text("a narrower permission mode"),
            team_name=_text("with a name: it stays as a teammate"),
        ),
        eager=True,
        aliases=("Task",),
    ),
    Entry(
        "SendMessage",
        "subagents:send",
        _object(
            "to message",
            to=_text("the agent's id or name; in a team also lead, or * for everybody"),
            message=_text(),
            summary=_text("the message in a few words"),
        ),
    ),
    Entry("ListAgents", "subagents:listing", _object(""), read_only=True),
    Entry(
        "TaskOutput",
        "background_tasks:output",
        _object(
            "",
            task_id=_text(),
            block=_flag("wait for its end; default true"),
            timeout=_number("longest wait in ms; default 30000"),
        ),
        read_only=True,
        aliases=("BashOutput", "BashOutputTool", "AgentOutput"),
    ),
    Entry(
        "TaskStop",
        "background_tasks:stop",
        _object("", task_id=_text(), shell_id=_text("the same, by its old name")),
        aliases=("KillShell", "KillBash"),
    ),
    Entry(
        "TaskCreate",
        "tasks:create",
        _object(
            "subject description",
            subject=_text("a short title"),
            description=_text(),
            activeForm=_text("shown while it is worked on"),
            metadata=_ANY_OBJECT,
        ),
        read_only=True,
    ),
    Entry(
        "TaskUpdate",
        "tasks:update",
        _object(
            "taskId",
            taskId=_text(),
            status=_one_of(*_STATUS, "deleted"),
            subject=_text(),
            description=_text(),
            activeForm=_text(),
            addBlocks=_list(_text(), "tasks that wait for this one"),
            addBlockedBy=_list(_text(), "tasks that this one waits for"),
            owner=_text(),
            metadata=_ANY_OBJECT,
        ),
        read_only=True,
    ),
    Entry("TaskGet", "tasks:get", _object("taskId", taskId=_text()), read_only=True),
    Entry("TaskList", "tasks:listing", _object(""), read_only=True),
    Entry(
        "AskUserQuestion",
        "ask:run",
        _object(
            "questions",
            questions=_list(
                _object(
                    "question header options multiSelect",
                    question=_text(),
                    header=_text("at most 12 characters"),
                    options=_list(
                        _object("label description", label=_text(), description=_text(), preview=_text()),
                        minItems=2,
                        maxItems=4,
                    ),
                    multiSelect=_flag(),
                ),
                minItems=1,
                maxItems=4,
            ),
            answers=_ANY_OBJECT,
            annotations=_ANY_OBJECT,
            metadata=_ANY_OBJECT,
        ),
        read_only=True,
    ),
    Entry(
        "CronCreate",
        "timed:create",
        _object(
            "cron prompt",
            cron=_text("minute hour day-of-month month day-of-week, in local time"),
            prompt=_text("what you get when it is due"),
            recurring=_flag("false: only once; default true"),
            durable=_flag("no effect: a job lives with its session and returns when that is resumed"),
        ),
    ),
    Entry("CronDelete", "timed:delete", _object("id", id=_text())),
    Entry("CronList", "timed:listing", _object(""), read_only=True),
    Entry(
        "ScheduleWakeup",
        "timed:wake",
        _object(
            "delaySeconds prompt",
            delaySeconds=_number("60 to 3600"),
            reason=_text("what you wait for, in a few words"),
            prompt=_text("what you get then"),
        ),
    ),
    Entry(
        "Monitor",
        "monitor:run",
        _object(
            "command description",
            command=_text("each line of its output comes to you; filter it, as with grep --line-buffered"),
            description=_text("what you watch, in a few words"),
            timeout_ms=_number("default 300000, at most 3600000"),
            persistent=_flag("watch until the session ends or TaskStop"),
        ),
    ),
    Entry("EnterPlanMode", "plan:enter", _object(""), read_only=True),
    Entry(
        "ExitPlanMode",
        "plan:leave",
        _object("", plan=_text("the plan, in Markdown")),
        read_only=True,
    ),
    Entry(
        "EnterWorktree",
        "worktree_tools:enter",
        _object("", name=_text("of a new one"), path=_text("of one that exists")),
    ),
    Entry(
        "ExitWorktree",
        "worktree_tools:leave",
        _object(
            "action",
            action=_one_of("keep", "remove"),
            discard_changes=_flag("give up what is only there"),
        ),
    ),
)
