from typing import Any

import pytest

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.dialects import servers
from checkrein.dialects.codes import Log
from checkrein.dialects.jsonfile import Document, parse
from checkrein.facts.claude import SERVER_KEYS
from checkrein.model.items import Server

ORIGIN = Origin(".mcp.json", "project")


def read(value: dict[str, Any]) -> tuple[tuple[Server, ...], list[Diagnostic]]:
    log = Log()
    return servers.read_document(Document(value, ORIGIN), log), log


def test_both_shapes() -> None:
    entry = {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}}
    wrapped, _ = read({"mcpServers": {"one": entry}})
    bare, _ = read({"$schema": "s", "one": entry})
    assert wrapped[0].name == bare[0].name == "one"
    assert (wrapped[0].command, wrapped[0].args, wrapped[0].env) == ("npx", ("-y", "x"), {"A": "1"})
    assert (wrapped[0].origin.field, bare[0].origin.field) == ("$.mcpServers.one", "$.one")


@pytest.mark.parametrize(
    ("entry", "transport", "problem"),
    [
        ({"command": "x"}, "stdio", None),
        ({"type": "stdio", "command": "x"}, "stdio", None),
        ({"type": "http", "url": "u"}, "http", None),
        ({"type": "streamable-http", "url": "u"}, "http", None),
        ({"type": "sse", "url": "u"}, "sse", None),
        ({"type": "ws", "url": "u"}, "ws", None),
        ({"url": "u"}, "http", "has `url` but no `type`"),
        ({}, "stdio", "has no `command`"),
        ({"type": "http"}, "http", "has no `url`"),
        ({"type": "carrier-pigeon"}, "carrier-pigeon", "is not one of"),
    ],
)
def test_transports(entry: dict[str, Any], transport: str, problem: str | None) -> None:
    (server,), _ = read({"mcpServers": {"s": entry}})
    assert server.transport == transport
    assert (server.problem is None) if problem is None else problem in (server.problem or "")


def test_remote_fields() -> None:
    (server,), log = read(
        {
            "mcpServers": {
                "s": {
                    "type": "http",
                    "url": "https://x/${TENANT:-main}",
                    "headers": {"Authorization": "Bearer ${TOKEN}"},
                    "headersHelper": "./h",
                    "oauth": {"clientId": "c"},
                    "timeout": 2000,
                    "alwaysLoad": True,
                    "extra": 1,
                }
            }
        }
    )
    assert log == []
    assert (server.headers_helper, server.oauth, server.timeout_ms, server.always_load) == (
        "./h",
        {"clientId": "c"},
        2000,
        True,
    )
    assert server.unknown == {"extra": 1}
    assert servers.variables(server) == {"TENANT": "main", "TOKEN": None}


def test_a_timeout_below_a_second_is_not_in_effect() -> None:
    (server,), _ = read({"mcpServers": {"s": {"command": "x", "timeout": 30}}})
    assert server.timeout_ms is None
    assert server.unknown == {"timeout": 30}


def test_expansion() -> None:
    env = {"A": "1", "EMPTY": ""}
    assert servers.expand("${A}-${B:-two}-${C}-${EMPTY:-x}", env) == "1-two-${C}-"


def test_malformed_entries() -> None:
    found, log = read({"mcpServers": {"a": "x", "b": {"command": "c", "args": {"x": 1}}}})
    assert [server.name for server in found] == ["b"]
    assert found[0].unknown == {"args": {"x": 1}}
    assert [entry.code for entry in log] == ["SERVER001", "SERVER001"]
    assert read({"mcpServers": []})[1][0].code == "SERVER001"


def test_places() -> None:
    document = parse('{"mcpServers": {\n "s": {\n "command": "x",\n "args": []}}}', ORIGIN, Log())
    assert document is not None
    (server,) = servers.read_document(document, Log())
    assert (server.origin.line, server.where("args").line) == (2, 4)
    assert server.where("args").field == "$.mcpServers.s.args"


def test_the_reader_knows_every_key() -> None:
    assert {"type", *servers._KEYS} == set(SERVER_KEYS)
