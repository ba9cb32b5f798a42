"""The end of a call that did not run."""

from __future__ import annotations

from typing import Any

from checkrein.base.ids import new_uuid
from checkrein.llm.port import ToolUse
from checkrein.runtime.session.events import Caller, ToolFinished


def failed(use: ToolUse, input: dict[str, Any], text: str, caller: Caller) -> ToolFinished:
    return ToolFinished(
        id=use.id,
        name=use.name,
        input=input,
        uuid=new_uuid(),
        content=text,
        caller=caller,
        is_error=True,
        verdict="error",
        reason=text,
    )
