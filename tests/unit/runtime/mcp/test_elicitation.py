"""The questions of servers: hooks, the user, the schema."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.port import Cancel
from checkrein.model.items import Hook
from checkrein.runtime.hooks.outcome import Elicited
from checkrein.runtime.hooks.ports import Surroundings
from checkrein.runtime.mcp.elicitation import (
    Elicitation,
    Elicitor,
    ScriptedElicitationAsker,
    completed,
)
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.events import Event, Notice
from support.hooks import Fired

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "Ann"},
        "age": {"type": "integer", "minimum": 1},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "L"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
        "sure": {"type": "boolean", "default": False},
    },
    "required": ["name"],
}
ASKED = Elicitation(server="s", message="Who?", schema=FORM)
URL = Elicitation(
    server="s", message="Sign in\x1b[2J", mode="url", url="https://x.example/\u202elogin", id="e1"
)
Make = Callable[..., tuple[Elicitor, list[Event]]]


def elicited(action: str, event: str = "Elicitation", **more: Any) -> Hook:
    answer = {"hookSpecificOutput": {"hookEventName": event, "action": action, **more}}
    command = f"printf %s {shlex.quote(json.dumps(answer))}"
    return Hook(name=event, type="command", command=command, origin=Origin("/s.json", "user"))


@pytest.fixture
def make_elicitor(tmp_path: Path) -> Iterator[Make]:
    env = {"PATH": os.environ.get("PATH", os.defpath)}
    around = Surroundings(project_dir=str(tmp_path), session_id="s", env=env)
    with Spawner(lambda origin: True) as spawner:

        def make(*hooks: Hook, asker: Any = None) -> tuple[Elicitor, list[Event]]:
            told: list[Event] = []
            fired = Fired(hooks, spawner=spawner, around=around)
            return Elicitor(fired.runner, lambda: asker, told.append), told

        yield make


def notices(told: list[Event]) -> str:
    return "\n".join(event.text for event in told if isinstance(event, Notice))


def test_a_hook_that_accepts_nothing_gives_the_defaults(make_elicitor: Make) -> None:
    elicitor, _ = make_elicitor(elicited("accept", content={}))
    answer = elicitor.answer(ASKED, Cancel())
    assert answer == Elicited("accept", {"name": "Ann", "tags": ["a"], "sure": False})


def test_a_hook_answers_before_the_user(make_elicitor: Make) -> None:
    asker = ScriptedElicitationAsker(Elicited("accept", {}))
    elicitor, _ = make_elicitor(elicited("decline"), asker=asker)
    assert elicitor.answer(ASKED, Cancel()) == Elicited("decline")
    assert asker.questions == []


def test_the_user_is_asked_and_hooks_see_the_answer(make_elicitor: Make) -> None:
    asker = ScriptedElicitationAsker(*[Elicited("accept", {"age": 3})] * 3)
    elicitor, _ = make_elicitor(asker=asker)
    assert (elicitor.answer(ASKED, Cancel()).content or {})["age"] == 3
    elicitor, _ = make_elicitor(elicited("decline", "ElicitationResult"), asker=asker)
    assert elicitor.answer(ASKED, Cancel()) == Elicited("decline")
    changed = elicited("accept", "ElicitationResult", content={"name": "Bo"})
    elicitor, _ = make_elicitor(changed, asker=asker)
    assert (elicitor.answer(ASKED, Cancel()).content or {})["name"] == "Bo"
    blocking = Hook(
        name="ElicitationResult", type="command", command="exit 2", origin=Origin("/s.json", "user")
    )
    elicitor, _ = make_elicitor(blocking, asker=ScriptedElicitationAsker(Elicited("accept", {})))
    assert elicitor.answer(ASKED, Cancel()) == Elicited("decline")


def test_nobody_declines(make_elicitor: Make) -> None:
    elicitor, told = make_elicitor()
    assert elicitor.answer(ASKED, Cancel()) == Elicited("decline")
    assert "nobody can answer" in notices(told)
    cancel = Cancel()
    cancel.cancel()
    assert elicitor.answer(ASKED, cancel) == Elicited("cancel")


def test_content_that_does_not_fit_is_not_sent(make_elicitor: Make) -> None:
    asker = ScriptedElicitationAsker(Elicited("accept", {"age": "old"}))
    elicitor, told = make_elicitor(asker=asker)
    assert elicitor.answer(ASKED, Cancel()) == Elicited("cancel")
    assert "`age`" in notices(told)


def test_an_asker_that_breaks_cancels(make_elicitor: Make) -> None:
    class Broken:
        def elicit(self, asked: Elicitation, cancel: Cancel) -> Elicited:
            raise ValueError("no terminal")

    elicitor, told = make_elicitor(asker=Broken())
    assert elicitor.answer(ASKED, Cancel()) == Elicited("cancel")
    assert "no terminal" in notices(told)


def test_an_address_is_shown_and_carries_no_content(make_elicitor: Make) -> None:
    asker = ScriptedElicitationAsker(Elicited("accept", {"stray": 1}))
    elicitor, _ = make_elicitor(asker=asker)
    assert elicitor.answer(URL, Cancel()) == Elicited("accept")
    assert asker.questions == [URL]
    assert URL.shown == "The MCP server s asks: Sign in\\x1b[2J\nhttps://x.example/\\u202elogin"


@pytest.mark.parametrize(
    "url", [None, "", "file:///etc/passwd", "javascript:alert(1)", "https://", "http://[x"]
)
def test_other_addresses_are_declined(make_elicitor: Make, url: str | None) -> None:
    asker = ScriptedElicitationAsker(Elicited("accept"))
    elicitor, told = make_elicitor(elicited("accept"), asker=asker)
    asked = Elicitation(server="s", message="m", mode="url", url=url)
    assert elicitor.answer(asked, Cancel()) == Elicited("decline")
    assert asker.questions == []
    assert "Only http" in notices(told)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"name": 5}, "`name`"),
        ({"age": 0}, "`age`"),
        ({"age": True}, "`age`"),
        ({"size": "m"}, "`size`"),
        ({"tags": ["c"]}, "`tags`"),
        ({"tags": "a"}, "`tags`"),
        ({"sure": "yes"}, "`sure`"),
    ],
)
def test_each_kind_of_field_is_checked(content: dict[str, Any], problem: str) -> None:
    assert problem in (completed(FORM, content)[1] or "")


def test_defaults_fill_only_what_is_omitted() -> None:
    assert completed(FORM, {"name": "", "sure": True})[0] == {"name": "", "sure": True, "tags": ["a"]}
    wrong = {"properties": {"n": {"type": "integer", "default": "x"}}, "required": ["n"]}
    assert completed(wrong, {}) == ({}, "`n` is missing")
    assert completed({"properties": {}, "additionalProperties": False}, {"x": 1})[1] is not None


@pytest.mark.parametrize(
    "schema", [{}, {"properties": []}, {"properties": {"a": 5}, "required": "a"}, {"required": [5]}]
)
def test_a_broken_schema_breaks_nothing(schema: dict[str, Any]) -> None:
    assert completed(schema, {"a": 1}) == ({"a": 1}, None)
    slow = {"properties": {"a": {"type": "string", "pattern": "(a+)+$", "$ref": "http://x/y"}}}
    assert completed(slow, {"a": "a" * 40 + "!"})[1] is None
