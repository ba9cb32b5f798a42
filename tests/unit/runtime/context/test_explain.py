"""`checkrein why --prompt`: the segments as a session would send them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.errors import UsageError
from checkrein.cli import why
from checkrein.llm.port import Text
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.context.explain import explain_prompt
from checkrein.runtime.context.segments import LAYERS
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel, Turn

pytestmark = pytest.mark.project(
    {"CLAUDE.md": "Ünïcode rules\n", ".claude/skills/s/SKILL.md": "---\ndescription: d\n---\n"}
)


def test_it_is_what_a_session_sends(project: Path) -> None:
    report = explain_prompt(View(load(project)), "claude-sonnet-5-5")
    model = ScriptedModel([Turn(text="ok")])
    model.name = "claude-sonnet-5-5"  # type: ignore[attr-defined]
    with Session(project, model=model, options=Options(persist=False)) as session:
        list(session.run("PROMPT"))
    request = model.requests[0]
    sent = [block.text for block in request.system]
    sent += [b.text for b in request.messages[0].content if isinstance(b, Text) and b.text != "PROMPT"]
    told = [one.text for one in report.segments if not one.name.startswith("tool ")]
    assert len(told) == len(sent)
    assert all(text in whole for text, whole in zip(told, sent, strict=True))
    assert [o.name[5:] for o in report.segments if o.name.startswith("tool ")] == [
        tool.name for tool in request.tools
    ]


def test_order_origin_and_sizes(project: Path) -> None:
    report = explain_prompt(View(load(project)), "claude-sonnet-5-5")
    layers = [one.layer for one in report.segments]
    assert layers == sorted(layers, key=LAYERS.index)
    own = next(one for one in report.segments if one.name.endswith("CLAUDE.md"))
    assert own.origin is not None
    assert own.origin.file == str(project / "CLAUDE.md")
    assert own.pinned
    assert own.bytes == len(own.text.encode())
    assert report.bytes == sum(one.bytes for one in report.segments)
    assert report == explain_prompt(View(load(project)), "claude-sonnet-5-5")


def given(project: Path, *things: str, prompt: bool = False, model: str | None = None) -> why.Given:
    return why.Given(things=things, project=str(project), kind=None, prompt=prompt, cache=None, model=model)


def test_the_command(project: Path) -> None:
    outcome = why.run(given(project, prompt=True, model="opus"))
    assert outcome.text is not None
    text = outcome.text()
    assert "CLAUDE.md" in text
    assert "claude-opus" in text
    with pytest.raises(UsageError):
        why.run(given(project, "x", prompt=True))
    with pytest.raises(UsageError):
        why.run(given(project))
