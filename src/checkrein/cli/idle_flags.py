"""Flags of a run that change nothing beside the others: whoever gives one expects something of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

Values = dict[str, Any]


class Idle(Struct, frozen=True):
    """`flag` changes nothing when `when` holds, because of `why`."""

    name: str
    flag: str
    when: Callable[[Values], bool]
    why: str


def _no_stream(values: Values) -> bool:
    return bool(values["output_format"] != "stream-json")


def _no_earlier(values: Values) -> bool:
    return not values["continue_"] and values["resume"] is None


def _not_claude(values: Values) -> bool:
    from checkrein.facts.models_providers import PROVIDERS

    row = PROVIDERS.get((values["model"] or "").partition(":")[0])
    return row is not None and row.kind in ("chat", "responses", "azure", "local")


_STREAM = "only --output-format stream-json prints events"
_BARE = "--bare loads none of them"

TABLE: tuple[Idle, ...] = (
    Idle("verbose", "--verbose", _no_stream, "text and json print only the result"),
    Idle("partial", "--include-partial-messages", _no_stream, _STREAM),
    Idle("hook_events", "--include-hook-events", _no_stream, _STREAM),
    Idle("replay_user", "--replay-user-messages", _no_stream, _STREAM),
    Idle("fork_session", "--fork-session", _no_earlier, "there is no --continue or --resume"),
    Idle(
        "continue_",
        "--continue",
        lambda values: bool(values["resume"]),
        "--resume names the session",
    ),
    Idle("name", "--name", lambda values: values["no_persist"], "the session is not kept"),
    Idle("maintenance", "--maintenance", lambda values: values["init"], "--init comes first"),
    Idle(
        "permission_mode",
        "--permission-mode",
        lambda values: values["skip_permissions"],
        "--dangerously-skip-permissions sets the mode",
    ),
    Idle(
        "max_thinking_tokens",
        "--max-thinking-tokens",
        _not_claude,
        "this model's API has no such limit; --effort is its setting",
    ),
    Idle(
        "task_budget",
        "--task-budget",
        _not_claude,
        "this model's API has no such limit; --max-budget-usd and --max-turns hold for every model",
    ),
    Idle("agents", "--agents", lambda values: values["bare"], _BARE),
    Idle("mcp_config", "--mcp-config", lambda values: values["bare"], _BARE),
    Idle("plugin_dir", "--plugin-dir", lambda values: values["bare"], _BARE),
    Idle("plugin_url", "--plugin-url", lambda values: values["bare"], _BARE),
)


def idle(values: Values) -> Iterator[str]:
    """A line for each flag that was given and changes nothing."""
    for row in TABLE:
        if values[row.name] and row.when(values):
            yield f"{row.flag} changes nothing here: {row.why}."
