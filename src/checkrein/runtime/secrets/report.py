"""What the person and the model learn about masked secrets."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin, Span
from checkrein.llm.port import Text
from checkrein.runtime.secrets.cover import Cover, Found
from checkrein.runtime.session.events import Notice
from checkrein.runtime.tools.port import ToolOutput

CODE = "SECRET001"
EDITORS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
"""The tools that get the real values of the file that they change."""

_HINT = "Keep it outside the project, or show it with `secrets.reveal` in your config.toml."
_ABOUT = (
    "<system-reminder>A text like «secret:KIND:DIGEST» stands for a secret that you can't see. Keep it as "
    "it is: when you edit the same file, the file keeps the real value. No other tool gets the value."
    "</system-reminder>"
)
_NOT_FILLED = (
    "<system-reminder>This input has a mask, «secret:…». Only edits of the file that has the secret get "
    "the real value; here the mask was used as plain text.</system-reminder>"
)


def findings(cover: Cover, tool: str, cwd: str) -> Iterator[Notice]:
    """A notice for each secret that was masked for the first time in the session."""
    for one in tuple(cover.found):
        where = _where(one, tool, cwd, cover)
        message = f"a secret ({one.kind}) in {where} was masked; the model does not see it"
        origin = Origin(
            cover.text(one.file) if one.file else f"<{tool}>", "project", Span(one.line) if one.line else None
        )
        finding = Diagnostic(CODE, "warning", message, origin, hint=_HINT)
        yield Notice("warning", f"{CODE}: {message}", finding)
    cover.found.clear()


def _where(found: Found, tool: str, cwd: str, cover: Cover) -> str:
    if found.file is None:
        return f"the result of {tool}"
    path = os.path.relpath(found.file, cwd) if found.file.startswith(cwd.rstrip("/") + "/") else found.file
    return cover.text(path) + (f", line {found.line}," if found.line else "")


def explained(output: ToolOutput, *, masks: bool, unfilled: bool) -> ToolOutput:
    """The output with a word about its masks: `masks` when the model sees them for the first time, `unfilled`
    when it sent one that this tool does not get."""
    notes = [text for text, needed in ((_ABOUT, masks), (_NOT_FILLED, unfilled)) if needed]
    if not notes:
        return output
    if isinstance(output.content, str):
        return replace(output, content="\n".join((output.content, *notes)))
    return replace(output, content=(*output.content, *map(Text, notes)))
