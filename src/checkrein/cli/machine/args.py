"""Arguments that several verbs share, and the reading of their values."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import UsageError
from checkrein.cli.machine.examples import EXAMPLES
from checkrein.cli.registry import Arg, Command
from checkrein.protocol.machine.verbs import EXITS

if TYPE_CHECKING:
    from checkrein.protocol.machine.setup import Setup

PERMISSION_MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
_MAX_INPUT = 10 * 1024 * 1024

PROJECT = Arg(
    name="project", flags=("--project", "-C"), default=".", metavar="DIR", help="The project's directory."
)
DIRECTORY = Arg(
    name="directory",
    flags=("--directory",),
    metavar="DIR",
    help="The root of the session store; default: the user's own.",
)
SESSION_ID = Arg(name="session_id", required=True, complete="sessions", help="The exact id of a session.")
LIMIT = Arg(name="limit", flags=("--limit",), type="int", default=5, help="The most matches to return.")
PROMPT = Arg(name="prompt", required=True, help="The prompt; `-` reads it from standard input.")
TIMEOUT = Arg(
    name="timeout_seconds",
    flags=("--timeout-seconds",),
    type="float",
    metavar="SECONDS",
    help="Stop after this much time in total.",
)
GRACE = Arg(
    name="grace_seconds",
    flags=("--grace-seconds",),
    type="float",
    default=2.0,
    metavar="SECONDS",
    help="The time that the work gets to acknowledge a stop.",
)
DENY = (
    Arg(
        name="deny_tool",
        flags=("--deny-tool",),
        multiple=True,
        metavar="NAME",
        help="Remove this tool; may be repeated.",
    ),
    Arg(
        name="deny_prefix",
        flags=("--deny-prefix",),
        multiple=True,
        metavar="TEXT",
        help="Remove all tools whose names begin with this; may be repeated.",
    ),
)
PERMISSIONS = (
    Arg(
        name="permission_mode",
        flags=("--permission-mode",),
        type="choice",
        choices=PERMISSION_MODES,
        help="The mode: how to judge calls that no rule names.",
    ),
    Arg(
        name="allow",
        flags=("--allow",),
        multiple=True,
        metavar="RULE",
        help="An allow rule; may be repeated.",
    ),
    *DENY,
    Arg(name="trust", flags=("--trust",), type="bool", help="Trust the project for this call."),
)
MODEL = Arg(
    name="model",
    flags=("--model",),
    complete="models",
    metavar="PROVIDER:NAME",
    help="The model, such as anthropic:sonnet or scripted:FILE.",
)
_RETRIES = Arg(
    name="max_retries",
    flags=("--max-retries",),
    type="int",
    default=10,
    help="How often to repeat a failed model request.",
)
MODEL_ARGS = (MODEL, _RETRIES)
ROWS = Arg(name="limit", flags=("--limit",), type="int", default=20, help="The most entries to return.")
QUERY = Arg(name="query", flags=("--query",), metavar="TEXT", help="Only entries that contain this text.")


def verb(name: str, summary: str, **declared: Any) -> Command:
    """A command of the protocol."""
    line, meaning = EXAMPLES[name]
    examples = ((f"checkrein machine {line}", meaning),)
    return Command(name=f"machine {name}", summary=summary, exits=EXITS, examples=examples, **declared)


def text_of(given: str, what: str) -> str:
    """The argument itself; `-` reads standard input."""
    if given != "-":
        return given
    try:
        data = sys.stdin.buffer.read(_MAX_INPUT + 1)
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(
            f"The {what} should come from standard input, which is closed.", kind="stdin_closed"
        ) from error
    if len(data) > _MAX_INPUT:
        raise UsageError(f"Standard input holds more than {_MAX_INPUT >> 20} MiB.", kind="input_too_large")
    return data.decode("utf-8", "replace").removesuffix("\n")


def not_negative(value: int, flag: str) -> int:
    if value < 0:
        raise UsageError(f"{flag} must not be negative.", kind="invalid_flag_value").during("parse", flag)
    return value


def setup_of(values: dict[str, Any]) -> Setup:
    """From the values of PROJECT, MODEL_ARGS, PERMISSIONS and the verb's own values."""
    from checkrein.protocol.machine.setup import Setup

    names = ("project", "model", "directory", "session_id", "resume", "permission_mode", "allow", "trust")
    more = ("max_retries", "max_budget_tokens", "max_tool_rounds", "schema")
    chosen = {name: values[name] for name in (*names, *more) if name in values}
    return Setup(
        deny_tools=tuple(values.get("deny_tool", ())),
        deny_prefixes=tuple(values.get("deny_prefix", ())),
        **chosen,
    )
