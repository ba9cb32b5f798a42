"""Steps whose answer has a shape call tools first, and the answer comes in the spec's own shape. The library
is a stand-in here; the package's own tests prove the same on the real one."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from checkrein.compile.package import compile_spec
from checkrein.compile.write import write

SPEC = """---
name: probe
description: Probes a service.
allowed-tools: Bash(curl *)
---

Probe one service.

1. Check that the service answers
2. If it does not, choose a way to restart it
3. Write the report

## Output

```json
{"service": "a", "up": true}
```
"""


class Session:
    """Asks for one tool call first; then gives what the asked form needs."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def instruct(self, prompt: str, **given: Any) -> Any:
        self.asked.append({"prompt": prompt, **given, "grounding_context": dict(given["grounding_context"])})
        form = given.get("format")
        if form is None and "tool results" not in given["grounding_context"]:
            return SimpleNamespace(
                value="", tool_calls=[SimpleNamespace(name="run_bash", args={"command": "x"})]
            )
        if form is None:
            return SimpleNamespace(value="it is down", tool_calls=None)
        values = {"str": "a", "bool": True, "list[str]": []}
        made = {name: values[str(kind)] for name, kind in form.__annotations__.items()}
        return SimpleNamespace(value=json.dumps(made), tool_calls=None)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("pydantic")
    (tmp_path / "SKILL.md").write_text(SPEC)
    compiled = compile_spec(tmp_path / "SKILL.md", env={"HOME": str(tmp_path / "home")})
    write(tmp_path / "out", compiled.package, compiled.files)
    options: Any = ModuleType("mellea.backends.model_options")
    options.ModelOption = SimpleNamespace(SYSTEM_PROMPT="system", TOOLS="tools")
    tools: Any = ModuleType("mellea.backends.tools")
    tools.MelleaTool = SimpleNamespace(from_callable=lambda tool: tool)
    monkeypatch.setitem(sys.modules, options.__name__, options)
    monkeypatch.setitem(sys.modules, tools.__name__, tools)
    monkeypatch.syspath_prepend(str(tmp_path / "out"))
    yield importlib.import_module(compiled.package)
    for name in [one for one in sys.modules if one.split(".")[0] == compiled.package]:
        del sys.modules[name]


def run(package: Any) -> tuple[Any, Session]:
    session = Session()
    made = importlib.import_module(f"{package.__name__}.session").Run(session, "is it up?")
    slots = importlib.import_module(f"{package.__name__}.constrained_slots")
    slots.provide("run_bash", lambda command: "curl: connection refused")
    importlib.import_module(f"{package.__name__}.pipeline").run_steps(made)
    return made.result("probe"), session


def test_a_check_and_a_condition_know_what_the_tools_say(package: Any) -> None:
    result, session = run(package)
    forms = [one for one in session.asked if one.get("format") is not None]
    assert [one["format"].__name__ for one in forms] == ["Verdict", "Condition", "Output"]
    assert forms[0]["grounding_context"]["findings"] == "it is down"
    assert "Verdict" not in forms[0]["prompt"]
    tags = [step.tag for step in result.steps]
    assert tags == ["VALIDATE_DOMAIN", "DECIDE", "DECIDE", "GENERATE"]


def test_the_answer_comes_in_the_spec_s_own_shape(package: Any) -> None:
    result, _ = run(package)
    assert (result.data.service, result.data.up) == ("a", True)
    assert json.loads(result.output) == {"service": "a", "up": True}
    assert result.complete


def test_an_answer_of_another_shape_is_refused(package: Any) -> None:
    module = importlib.import_module(f"{package.__name__}.session")
    made = module.Run(SimpleNamespace(instruct=lambda *_, **__: SimpleNamespace(value="down")), "is it up?")
    with pytest.raises(module.AnswerError, match="Output"):
        made._form("last", "write", importlib.import_module(f"{package.__name__}.schemas").Output, {})
