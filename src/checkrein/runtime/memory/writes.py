"""Writes to the memory with the usual file tools: one process at a time, with a date, within the size."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from checkrein.base.clock import timestamp
from checkrein.base.files import locked, read_text, write_atomic
from checkrein.base.home import private_dir
from checkrein.runtime.memory.headlines import size_of
from checkrein.runtime.memory.place import INDEX
from checkrein.runtime.tools.desk import is_within
from checkrein.runtime.tools.port import AnyTool, Around, ToolContext, ToolOutput

WRITERS = ("Write", "Edit")
_HEAD = re.compile(r"\A---\n(?P<body>.*?\n)??(?P<end>---[ \t]*(?:\n|\Z))", re.DOTALL)
_STAMP = re.compile(r"^modified:.*\n", re.MULTILINE)


def memory_keeper(directory: str) -> Around:
    """Wraps a call of a file tool. For a file of the memory it holds the memory's lock, stamps `modified` and
    checks the size of the index. It leaves any other file to the tool itself."""

    def around(tool: AnyTool, context: ToolContext, run: Callable[[], ToolOutput]) -> ToolOutput:
        inside = (path for path in context.approved_paths if is_within(path, (directory,)))
        path = next(inside, None) if tool.name in WRITERS else None
        if path is None:
            return run()
        private_dir(Path(directory))
        with locked(Path(directory, ".lock")):
            output = run()
            return output if output.is_error else _finished(path, output, context)

    return around


def _finished(path: str, output: ToolOutput, context: ToolContext) -> ToolOutput:
    text = read_text(path).text
    stamped = stamp(text, timestamp())
    if stamped != text:
        write_atomic(Path(path), stamped)
        context.state.note_seen(path, stamped.encode("utf-8"), "whole")
    if os.path.basename(path) != INDEX:
        return output
    size = size_of(stamped)
    if size.over:
        message = (
            f"{INDEX} was written, but it has {size}, and sessions don't load the rest. "
            "Rewrite it now: one short line for each memory, details in their own files."
        )
        return replace(output, content=message, is_error=True)
    if size.near:
        return replace(output, content=f"{output.content}\n{INDEX} is nearly full: {size}. Shorten it soon.")
    return output


def stamp(text: str, moment: str) -> str:
    """The text with `modified` in its frontmatter set; text without frontmatter stays as it is."""
    head = _HEAD.match(text)
    if head is None:
        return text
    body = head["body"] or ""
    line = f"modified: {moment}\n"
    changed = _STAMP.sub(line, body, count=1) if _STAMP.search(body) else body + line
    return f"---\n{changed}{text[head.start('end') :]}"
