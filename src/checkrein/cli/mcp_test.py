"""`checkrein mcp test`: connect to a server, list its tools, call one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.cli.mcp_target import NAME_ARG, TIMEOUT_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.runtime.mcp.connection import Status

if TYPE_CHECKING:
    from checkrein.cli.mcp_target import Roll
    from checkrein.runtime.mcp.connection import Connection


class Tool(Struct, frozen=True, omit_defaults=True):
    """`annotations` are claims of the server."""

    name: str
    description: str = ""
    annotations: dict[str, Any] = {}


class Called(Struct, frozen=True, omit_defaults=True):
    """The answer to a call, or why there is none (`failure`)."""

    tool: str
    ms: int
    content: tuple[dict[str, Any], ...] = ()
    structured: Any = None
    is_error: bool = False
    failure: str | None = None


class Payload(Struct, frozen=True, omit_defaults=True):
    """`ready_ms` is the time until the server was connected and had listed everything."""

    status: Status
    ready_ms: int
    program: str | None = None
    protocol: str | None = None
    tools: tuple[Tool, ...] = ()
    prompts: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    call: Called | None = None


COMMAND = Command(
    name="mcp test",
    summary="Connect to an MCP server, list its tools, and call one.",
    details="It prints what the server offers, and the times. The call is yours: rules that ask do not ask. "
    "Rules that deny hold, and hooks run. The answer is what the model would get.",
    args=(
        NAME_ARG,
        PROJECT_ARG,
        Arg(name="tool", flags=("--tool",), help="The tool to call."),
        Arg(name="input", flags=("--input",), default=None, metavar="JSON", help="The input of the tool."),
        replace(TIMEOUT_ARG, help="How long to wait for the server, and for the call."),
    ),
    payload=Payload,
    errors=("project_not_found", "server_not_found", "server_not_used", "tool_not_found", "policy_refused"),
    exits=((0, "it works"), (1, "not connected, the call failed, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein mcp test time", "connect and list"),
        (
            """checkrein mcp test time --tool now --input '{"timezone": "UTC"}'""",
            "call a tool",
        ),
    ),
)


def run(name: str, project: str, tool: str | None, input: str | None, timeout: float) -> Outcome:
    import os
    import time

    from checkrein.base.errors import UsageError
    from checkrein.cli.mcp_target import roll
    from checkrein.runtime.mcp.probe import linked, within

    if input is not None and tool is None:
        raise UsageError("--input needs --tool.")
    given = _input(input)
    found = roll(project)
    found.used(name)
    if tool is not None:
        _require_allowed(found, name, tool, given)
    begun = time.monotonic()
    with linked(found.view, os.environ, names=(name,), timeout=timeout) as connections:
        ready = round((time.monotonic() - begun) * 1000)
        connection = connections[name]
        payload = _seen(connection, within(connection.status, timeout), ready)
        if tool is not None and payload.status.state == "connected":
            payload = replace(payload, call=_called(found, connection, tool, given, timeout))
    call = payload.call
    worked = payload.status.state == "connected" and (
        call is None or not (call.is_error or call.failure is not None)
    )

    def text() -> str:
        from checkrein.cli import mcp_text

        return mcp_text.tested(payload)

    return Outcome(data=payload, text=text, status=0 if worked else 1)


def _input(text: str | None) -> dict[str, Any]:
    import msgspec

    from checkrein.base.errors import UsageError

    if text is None:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError) as error:
        raise UsageError(f"--input must be a JSON object: {error}") from error


def _require_allowed(found: Roll, server: str, tool: str, given: dict[str, Any]) -> None:
    """A rule that denies the tool keeps its server from starting."""
    from checkrein.base.errors import PolicyError
    from checkrein.policy.remote import Remote
    from checkrein.policy.values import Call
    from checkrein.runtime.call.links import LiveLinks
    from checkrein.runtime.mcp.tool_names import tool_name
    from checkrein.runtime.session.prospect import situation_of

    met = situation_of(found.project)
    decision = met.decide(Call(tool_name(Remote(server, tool)), given), met.context(links=LiveLinks()))
    if decision.verdict == "deny":
        why = f"Refused by {decision.rule}." if decision.rule else decision.reason
        raise PolicyError(why, kind="policy_refused", origin=decision.origin)


def _seen(connection: Connection, status: Status, ready: int) -> Payload:
    catalog = connection.catalog
    return Payload(
        status,
        ready,
        " ".join(filter(None, (catalog.server_name, catalog.server_version))) or None,
        catalog.protocol or None,
        tuple(Tool(one.name, one.description, one.annotations) for one in catalog.tools),
        tuple(one.name for one in catalog.prompts),
        tuple(one.uri for one in catalog.resources),
    )


def _called(found: Roll, connection: Connection, tool: str, given: dict[str, Any], timeout: float) -> Called:
    import time

    from checkrein.llm.cancel import Cancel
    from checkrein.protocol.server_trial import blocks, call

    server = found.used(connection.name).server
    begun = time.monotonic()
    with Cancel().branch(timeout) as cancel:
        done = call(found.project, server, connection, tool, given, cancel)
    if done.is_error and done.structured is None:
        return Called(tool, done.duration_ms or _ms(begun), failure=str(done.content))
    own = None if isinstance(done.structured, str) else done.structured
    return Called(tool, done.duration_ms, blocks(done), own, done.is_error)


def _ms(begun: float) -> int:
    import time

    return round((time.monotonic() - begun) * 1000)
