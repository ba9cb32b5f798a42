"""Sessions with a scripted model, and what they leave behind."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from checkrein.runtime.session.control import Asker
from checkrein.runtime.session.conversation import Child
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel


def open_session(
    project: Any,
    *replies: dict[str, Any],
    asker: Asker | None = None,
    env: dict[str, str] | None = None,
    **options: Any,
) -> Session:
    """A session of a trusted project whose model gives these replies."""
    chosen = Options(**{"trust": True, **options})
    return Session(project, model=ScriptedModel(replies), options=chosen, asker=asker, env=env)


def open_child(
    parent: Session, *, kind: Any = "agent", call: str = "up", view: Any = None, **options: Any
) -> Session:
    """A child that asks for all that its parent has; `call` is the call it belongs to."""
    asked = view or parent.conversation.view
    return parent.child(Child(view=asked, options=Options(**options), kind=kind, call=call))


def call(name: str, **input: Any) -> dict[str, Any]:
    """A reply that calls a tool."""
    return {"tool_calls": [{"name": name, "input": input}]}


def home() -> Path:
    return Path(os.environ["CHECKREIN_HOME"])


def locks() -> list[str]:
    """The sessions that somebody writes."""
    return sorted(path.name for path in home().rglob("*.lock"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
