"""The arguments of `checkrein run`, in the forms that scripts written for Claude Code use."""

from __future__ import annotations

from typing import Any

from checkrein.cli.registry import Arg
from checkrein.cli.target import PROJECT_ARG

MODES = ("default", "manual", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
EFFORTS = ("low", "medium", "high", "xhigh", "max")


def _flag(name: str, *flags: str, help: str) -> Arg:
    return Arg(name=name, flags=flags, type="bool", help=help)


def _text(name: str, *flags: str, help: str, metavar: str = "TEXT", **more: Any) -> Arg:
    return Arg(name=name, flags=flags, help=help, metavar=metavar, **more)


def _list(name: str, *flags: str, help: str, metavar: str) -> Arg:
    return Arg(name=name, flags=flags, multiple=True, greedy=True, help=help, metavar=metavar)


RUN_ARGS: tuple[Arg, ...] = (
    Arg(name="prompt", help="What to do. Text from standard input follows it; `-` waits for that."),
    PROJECT_ARG,
    _flag("print_", "--print", "-p", help="Print only the result; never ask."),
    Arg(
        name="output_format",
        flags=("--output-format",),
        type="choice",
        choices=("text", "json", "stream-json"),
        default="text",
        help="Text, one result object, or one JSON object per event.",
    ),
    _flag("as_json", "--json", help="The same as --output-format json."),
    Arg(
        name="input_format",
        flags=("--input-format",),
        type="choice",
        choices=("text", "stream-json"),
        default="text",
        help="The form of prompts on standard input.",
    ),
    _flag("partial", "--include-partial-messages", help="Also print the events of a reply while it arrives."),
    _flag("hook_events", "--include-hook-events", help="Also print when hooks start and end."),
    _flag("replay_user", "--replay-user-messages", help="Also print the prompts that the session takes."),
    _flag("verbose", "--verbose", help="Accepted for scripts; stream-json is always verbose."),
    _text(
        "model",
        "--model",
        metavar="PROVIDER:NAME",
        complete="models",
        help="The model, such as anthropic:sonnet or scripted:FILE.",
    ),
    _text(
        "fallback_model",
        "--fallback-model",
        metavar="MODELS",
        complete="models",
        help="Models to try when the first is overloaded.",
    ),
    Arg(
        name="effort",
        flags=("--effort",),
        type="choice",
        choices=EFFORTS,
        help="How much the model should think.",
    ),
    Arg(
        name="max_thinking_tokens", flags=("--max-thinking-tokens",), type="int", help="Tokens for thinking."
    ),
    Arg(
        name="thinking",
        flags=("--thinking",),
        type="choice",
        choices=("adaptive", "disabled", "enabled"),
        help="Whether the model thinks: as much as it wants, or not at all.",
    ),
    Arg(
        name="thinking_display",
        flags=("--thinking-display",),
        type="choice",
        choices=("summarized", "omitted"),
        help="Show a summary of the model's thoughts, or nothing.",
    ),
    _list("betas", "--betas", metavar="NAMES", help="Features of the service to switch on."),
    _text("system_prompt", "--system-prompt", help="Replaces Checkrein's own system prompt."),
    _text("system_prompt_file", "--system-prompt-file", metavar="FILE", help="The same, from a file."),
    _text("append_system_prompt", "--append-system-prompt", help="Text to add to the system prompt."),
    _text(
        "append_system_prompt_file",
        "--append-system-prompt-file",
        metavar="FILE",
        help="The same, from a file.",
    ),
    _flag("continue_", "--continue", "-c", help="Continue the newest session of this directory."),
    _text(
        "resume",
        "--resume",
        "-r",
        metavar="SESSION",
        bare="",
        complete="sessions",
        help="Continue a session, by id, start of the id, or title.",
    ),
    _text(
        "resume_at",
        "--resume-session-at",
        metavar="UUID",
        help="With --resume: keep the conversation only up to this message.",
    ),
    _text(
        "drops_turn",
        "--resume-drops-turn",
        metavar="UUID",
        help="With --resume-session-at: refuse to drop more than the turn of this prompt.",
    ),
    _flag("session_mirror", "--session-mirror", help="Also print what goes into the transcript."),
    _flag("fork_session", "--fork-session", help="With --continue or --resume: write into a new session."),
    _text(
        "worktree",
        "--worktree",
        "-w",
        metavar="NAME",
        bare="",
        help="Work in a new worktree of the repository; it stays if there is work in it.",
    ),
    _text("session_id", "--session-id", metavar="ID", help="The id of the new session."),
    _text("name", "--name", "-n", help="A title for the session."),
    _flag("no_persist", "--no-session-persistence", help="Do not keep the session."),
    Arg(
        name="max_turns",
        flags=("--max-turns",),
        type="int",
        help="Stop after so many requests that lead to more: tool calls, repairs, pauses.",
    ),
    Arg(name="max_budget_usd", flags=("--max-budget-usd",), type="float", help="Stop after so much money."),
    Arg(name="max_seconds", flags=("--max-seconds",), type="float", help="Stop after so much time."),
    _text("json_schema", "--json-schema", metavar="JSON", help="The final answer must fit this schema."),
    _list(
        "allowed_tools",
        "--allowedTools",
        "--allowed-tools",
        metavar="RULES",
        help="Allow rules, separated by commas or spaces.",
    ),
    _list(
        "disallowed_tools",
        "--disallowedTools",
        "--disallowed-tools",
        metavar="RULES",
        help="Deny rules; a bare name takes the tool away.",
    ),
    _list("tools", "--tools", metavar="NAMES", help="Offer only these built-in tools; `default` is all."),
    Arg(
        name="permission_mode",
        flags=("--permission-mode",),
        type="choice",
        choices=MODES,
        help="How to judge calls that no rule matches.",
    ),
    _flag("skip_permissions", "--dangerously-skip-permissions", help="The mode bypassPermissions."),
    _flag("allow_skip", "--allow-dangerously-skip-permissions", help="Allow a later switch to that mode."),
    _text(
        "prompt_tool",
        "--permission-prompt-tool",
        metavar="NAME",
        help="Who approves calls: `stdio` asks the program on standard input, else a tool of an MCP server.",
    ),
    Arg(
        name="permission_prompts",
        flags=("--permission-prompts",),
        type="choice",
        choices=("host", "none"),
        help="`none` refuses at once what needs approval.",
    ),
    _text("settings", "--settings", metavar="FILE-OR-JSON", help="More settings, above the project's."),
    _text(
        "setting_sources", "--setting-sources", metavar="LIST", help="Which of user, project, local to read."
    ),
    _list("add_dir", "--add-dir", metavar="DIRS", help="More working directories."),
    _list("plugin_dir", "--plugin-dir", metavar="DIRS", help="Plugins to load from directories."),
    _list("mcp_config", "--mcp-config", metavar="FILES", help="MCP servers, as files or JSON."),
    _flag("strict_mcp_config", "--strict-mcp-config", help="Only the servers of --mcp-config."),
    _text("agent", "--agent", metavar="NAME", help="Be this agent: its prompt, tools, model and mode."),
    _text("agents", "--agents", metavar="JSON", help="More agents, by name."),
    _text("record", "--record", metavar="FILE", help="Keep the model's side; --model replay:FILE plays it."),
    _flag("sandbox", "--sandbox", help="Confine shell commands: no network, no writes outside."),
    _flag("trust", "--trust", help="Trust this project for this run: its hooks, env and allow rules count."),
    _flag("init", "--init", help="Run the Setup hooks first, as for a fresh checkout."),
    _flag("maintenance", "--maintenance", help="Run the Setup hooks first, as for a regular clean-up."),
    _flag("no_commands", "--disable-slash-commands", help="A prompt that begins with / is only text."),
    _flag("subagent_text", "--forward-subagent-text", help="Show the text and the thoughts of subagents."),
    _text(
        "debug",
        "--debug",
        "-d",
        metavar="KINDS",
        bare="",
        help="Write what happens into a file below the Checkrein home; kinds, or `!KIND` for all others.",
    ),
    _text("debug_file", "--debug-file", metavar="FILE", help="Write what happens into this file."),
    _flag("debug_stderr", "--debug-to-stderr", help="Write what happens to standard error."),
    Arg(
        name="task_budget",
        flags=("--task-budget",),
        type="int",
        help="About how many tokens the task may take; the model paces itself by it.",
    ),
    _flag(
        "bare",
        "--bare",
        "--safe-mode",
        help="Load no hooks, skills, commands, agents, servers and instructions.",
    ),
)
