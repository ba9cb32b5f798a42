"""Ids of tool calls from the command line: services that repeat, leave out or overstretch them, and a change
of the provider."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checkrein.testing import Call, ScriptedServer, Turn
from support.lines import MODELS, checkrein, service

BAD = ("call_0", "call_0", "", "", "functions.Bash:0", "x" * 90, "é id", "toolu_ok")


def turns(*ids: str) -> list[Turn]:
    return [
        Turn(tool_calls=tuple(Call("Bash", {"command": f"echo r{n}-{m}"}, id=id) for m, id in enumerate(ids)))
        for n in range(2)
    ]


def pairs(body: bytes) -> tuple[list[str], list[tuple[str, str]]]:
    """The ids of the calls, and each result with its text, on any wire."""
    value = json.loads(body)
    calls: list[str] = []
    results: list[tuple[str, str]] = []
    for item in value.get("input") or value["messages"]:
        if item.get("type") == "function_call":
            calls.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            results.append((item["call_id"], item["output"]))
        elif item.get("role") == "tool":
            results.append((item["tool_call_id"], item["content"]))
        calls += [call["id"] for call in item.get("tool_calls") or ()]
        for block in item["content"] if isinstance(item.get("content"), list) else ():
            if block["type"] == "tool_use":
                calls.append(block["id"])
            elif block["type"] == "tool_result":
                results.append((block["tool_use_id"], block["content"]))
    return calls, results


LIMIT = {"anthropic": r"[A-Za-z0-9_-]{1,64}", "chat": r"[!-~]{1,40}", "responses": r"[A-Za-z0-9_-]{1,64}"}


def run(project: Path, server: ScriptedServer, wire: str, *more: str) -> Any:
    words = ("--output-format", "stream-json", "--verbose", "--allowedTools", "Bash", "--model", MODELS[wire])
    ran = checkrein(project, "-p", "go", *words, *more, env=service(server))
    assert ran.status == 0, ran.err
    return ran


@pytest.mark.parametrize("wire", MODELS)
def test_a_service_that_gives_bad_ids(project: Path, wire: str) -> None:
    with ScriptedServer([*turns(*BAD), Turn(text="done")]) as server:
        ran = run(project, server, wire)
        calls, results = pairs(server.requests[-1].body)
    assert len(set(calls)) == len(calls) == 16
    assert all(re.fullmatch(LIMIT[wire], id) for id in calls)
    assert [id for id, _ in results] == calls
    assert [text.strip() for _, text in results] == [f"r{n}-{m}" for n in range(2) for m in range(8)]
    shown = [b["id"] for f in ran.of("assistant") for b in f["message"]["content"] if b["type"] == "tool_use"]
    answered = [f["message"]["content"][0]["tool_use_id"] for f in ran.of("user")]
    assert shown == answered
    assert len(set(shown)) == 16


@pytest.mark.parametrize("after", MODELS)
@pytest.mark.parametrize("before", MODELS)
def test_another_provider_takes_the_session_over(project: Path, before: str, after: str) -> None:
    script = [turns(*BAD)[0], Turn(text="one"), Turn(text="two"), Turn(text="three")]
    with ScriptedServer(script) as server:
        first = run(project, server, before)
        session = first.of("result")[0]["session_id"]
        run(project, server, after, "--resume", session)
        run(project, server, after, "--resume", session)
        taken, again = (pairs(asked.body) for asked in server.requests[-2:])
    calls, results = taken
    assert all(re.fullmatch(LIMIT[after], id) for id in calls)
    assert [id for id, _ in results] == calls
    assert [text.strip() for _, text in results] == [f"r0-{m}" for m in range(8)]
    assert again == taken
