"""`checkrein run --input-format stream-json`: a program drives the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checkrein.protocol.handshake import Greeting
    from checkrein.protocol.last_words import LastWords
    from checkrein.protocol.run import Job


def run_hosted(values: dict[str, Any], last: LastWords) -> int:
    """Standard error stays silent: what a person should know is in the first frame."""
    from checkrein.cli.run import debug_log, frame_options
    from checkrein.cli.run_ground import place, warnings
    from checkrein.protocol.hosted import HostedRun
    from checkrein.protocol.run import Job

    @contextmanager
    def made(greeting: Greeting | None) -> Iterator[Job]:
        wanted = values if greeting is None else _with(values, greeting.values)
        with place(wanted, greeting) as (project, options):
            hosted.note(warnings(wanted, options))
            debug = debug_log(values)
            yield Job(project=project, options=options, model=values["model"], last=last, debug=debug)

    asks = values["prompt_tool"] == "stdio" and values["permission_prompts"] != "none"
    foreign = tuple(f"Checkrein does not know the flag {flag}." for flag in values.get("foreign_flags", ()))
    hosted = HostedRun(frame_options(values), last, asks=asks, warnings=foreign)
    return hosted.run(made)


def _with(values: dict[str, Any], brought: dict[str, Any]) -> dict[str, Any]:
    """The flags of the command line, and those that came with the first request."""
    servers = (*values["mcp_config"], *brought.get("mcp_config", ()))
    return {**values, **brought, "mcp_config": servers}
