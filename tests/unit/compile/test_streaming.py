"""A streaming package gives pieces as they arrive and ends with its generator. The library is a stand-in
here; the package's own tests prove the same on the real one."""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checkrein.compile.package import Compiled, compile_spec
from checkrein.compile.write import write

BODY = """
Use --output-format stream-json.

## Process

{steps}

## Output

- Keep the response under 2 words
"""


class Thunk:
    def __init__(self, session: Session, parts: list[str | Exception]) -> None:
        self.session, self.parts = session, parts
        self.tool_calls = None

    def is_computed(self) -> bool:
        return not self.parts

    async def astream(self) -> str:
        part = self.parts.pop(0)
        if isinstance(part, Exception):
            raise part
        return part

    async def aclose(self) -> None:
        self.session.ended.append(self.is_computed())


class Session:
    """Answers every request with `parts`; keeps what was asked and what was closed."""

    def __init__(self, *parts: str | Exception) -> None:
        self.parts = parts
        self.asked: list[dict[str, Any]] = []
        self.ended: list[bool] = []
        self.closed: list[str] = []
        self.backend = self

    async def ainstruct(self, prompt: str, **given: Any) -> Thunk:
        self.asked.append(given)
        return Thunk(self, list(self.parts))

    def instruct(self, prompt: str, **given: Any) -> Any:
        self.asked.append(given)
        return type("Whole", (), {"value": "whole", "tool_calls": None})()

    async def aclose(self) -> None:
        self.closed.append(threading.current_thread().name)

    def close(self) -> None:
        self.closed.append("close")

    def cleanup(self) -> None:
        self.closed.append("cleanup")


def build(base: Path, steps: str) -> Compiled:
    path = base / "SKILL.md"
    path.write_text(f"---\nname: {base.name}\ndescription: d\n---\n{BODY.format(steps=steps)}")
    return compile_spec(path, env={"HOME": str(base / "home")})


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    pytest.importorskip("pydantic")
    compiled = build(tmp_path, getattr(request, "param", "1. Write a draft\n2. Write the report"))
    write(tmp_path / "out", compiled.package, compiled.files)
    options: Any = ModuleType("mellea.backends.model_options")
    options.ModelOption = type("ModelOption", (), {"SYSTEM_PROMPT": "system", "STREAM": "stream"})
    requirements: Any = ModuleType("mellea.stdlib.requirements")
    requirements.req = requirements.check = lambda text, **more: text
    requirements.simple_validate = lambda check: check
    for name in ("mellea", "mellea.backends", "mellea.stdlib"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, options.__name__, options)
    monkeypatch.setitem(sys.modules, requirements.__name__, requirements)
    monkeypatch.syspath_prepend(str(tmp_path / "out"))
    return importlib.import_module(f"{compiled.package}.pipeline")


def drain(pieces: Iterator[str]) -> tuple[list[str], Any]:
    found: list[str] = []
    while True:
        try:
            found.append(next(pieces))
        except StopIteration as end:
            return found, end.value


def streams() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "stream"]


def test_the_last_step_streams_and_all_are_recorded(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session("one ", "", "two ", "three")
    monkeypatch.setattr(pipeline, "open_session", lambda: session)
    pieces, result = drain(pipeline.run_pipeline("go"))
    assert pieces == ["one ", "two ", "three"]
    assert [step.output for step in result.steps] == ["whole", "one two three"]
    assert result.output == "one two three"
    assert result.unmet == ["Keep the response under 2 words"]
    assert [asked["model_options"].get("stream", False) for asked in session.asked] == [False, True]
    assert session.ended == [True]
    assert session.closed == ["stream", "close", "cleanup"]
    assert streams() == []


def test_closing_ends_the_request(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session("one ", "two")
    monkeypatch.setattr(pipeline, "open_session", lambda: session)
    pieces = pipeline.run_pipeline("go")
    assert next(pieces) == "one "
    assert len(streams()) == 1
    pieces.close()
    assert session.ended == [False]
    assert session.closed == ["stream", "close", "cleanup"]
    assert streams() == []


def test_an_error_of_the_model_ends_it_too(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session("one ", OSError("gone"), "two")
    monkeypatch.setattr(pipeline, "open_session", lambda: session)
    pieces = pipeline.run_pipeline("go")
    assert next(pieces) == "one "
    with pytest.raises(OSError, match="gone"):
        next(pieces)
    assert session.closed == ["stream", "close", "cleanup"]
    assert streams() == []


def test_inside_an_event_loop_and_from_several_threads(
    pipeline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "open_session", lambda: Session("one ", "two"))

    async def main() -> list[str]:
        pieces = pipeline.run_pipeline("go")
        found = [next(pieces), await asyncio.to_thread(next, pieces)]
        pieces.close()
        return found

    assert asyncio.run(main()) == ["one ", "two"]
    assert streams() == []


def test_an_empty_request_is_refused(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    monkeypatch.setattr(pipeline, "open_session", lambda: session)
    with pytest.raises(ValueError, match="empty"):
        next(pipeline.run_pipeline(" "))
    assert session.closed == ["close", "cleanup"]


def test_what_the_last_step_is_mapped_to(tmp_path: Path) -> None:
    compiled = build(tmp_path, "1. Extract the names\n2. Classify the issue")
    rows = [one for one in compiled.mappings if one.primitive_details and one.primitive_details.step]
    assert [(one.final_target_file, one.primitive) for one in rows] == [
        ("slots.py", "@generative"),
        ("pipeline.py", "m.instruct"),
    ]
    assert [step.result for step in compiled.blueprint.steps] == ["items", "text"]


SHAPED = '1. Write a draft\n2. Write the report\n\n## Result\n\n```json\n{"service": "a", "up": true}\n```'


@pytest.mark.parametrize("pipeline", [SHAPED], indirect=True)
def test_a_streamed_answer_is_read_as_it_is(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is closed by then: an answer of another shape is not asked for again."""
    for parts, data in (((('{"service": "b", ', '"up": false}'), ("b", False))), (("some ", "text"), None)):
        session = Session(*parts)
        monkeypatch.setattr(pipeline, "open_session", lambda session=session: session)
        _, result = drain(pipeline.run_pipeline("go"))
        assert (result.data and (result.data.service, result.data.up)) == data
        assert len(session.asked) == 2
