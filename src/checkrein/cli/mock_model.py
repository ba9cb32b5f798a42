"""`checkrein mock-model`: a scripted model endpoint on loopback."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli import out
from checkrein.cli.registry import Arg, Command, Outcome


class Payload(Struct, frozen=True, omit_defaults=True):
    """One line when the endpoint listens (`url`), then one line per request, with --requests."""

    url: str = ""
    number: int = 0
    wire: str = ""
    path: str = ""
    bytes: int = 0
    at: float = 0.0
    problem: str | None = None


COMMAND = Command(
    name="mock-model",
    summary="Serve a scripted model on loopback, for tests without a key or a network.",
    args=(
        Arg(name="script", required=True, metavar="SCRIPT", help="The turns, one JSON object per line."),
        Arg(name="port", flags=("--port",), type="port", default=0, help="The port; 0 takes a free one."),
        Arg(
            name="requests",
            flags=("--requests",),
            type="bool",
            help="Print a JSON line for every request that arrives.",
        ),
    ),
    payload=Payload,
    output="stream",
    errors=("config_invalid", "filesystem", "port_taken"),
    examples=(
        ("checkrein mock-model turns.jsonl", "print the address and serve until you stop it"),
        ("ANTHROPIC_BASE_URL=http://127.0.0.1:PORT checkrein run hi", "a session against it"),
    ),
    details="The Messages API lives under the printed address, Chat Completions and Responses under /v1.",
)


def run(script: str, port: int, requests: bool) -> Outcome:
    import os
    import signal

    from checkrein.base.errors import CheckreinError
    from checkrein.base.jsonl import encode_line
    from checkrein.llm.server import Asked, ScriptedServer

    def say(line: Payload) -> None:
        out.give_bytes(encode_line(line))

    def tell(asked: Asked) -> None:
        size, number = len(asked.body), len(server.requests)
        say(Payload(number=number, wire=asked.wire, path=asked.path, bytes=size, at=asked.at))

    try:
        server = ScriptedServer(script, port=port, notice=tell if requests else None)
    except OSError as error:
        raise CheckreinError(f"Port {port} is not usable: {error.strerror}.", kind="port_taken") from None
    with server:
        ended, end = os.pipe()  # a lock would wait for itself in a handler
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os.write(end, b"."))
        if requests:
            say(Payload(url=server.url))
        else:
            out.say(server.url)
        os.read(ended, 1)
        for problem in server.failures if requests else ():
            say(Payload(problem=problem))
    return Outcome(status=1 if server.failures else 0)
