"""The effects of the hooks of a call: texts for the model, notices for the person, another output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from checkrein.base.ids import new_uuid
from checkrein.base.origin import Origin
from checkrein.runtime.hooks.outcome import HookOutcome, same_shape
from checkrein.runtime.session.events import ContextAdded, Notice
from checkrein.runtime.tools.port import ToolOutput

_PATHS = ("file_path", "notebook_path")


def shown(input: dict[str, Any], cwd: str) -> dict[str, Any]:
    """The input as hooks see it: file paths are absolute."""
    paths = {
        key: os.path.join(cwd, os.path.expanduser(input[key]))
        for key in _PATHS
        if isinstance(input.get(key), str)
    }
    return {**input, **paths} if paths else input


def contexts(outcome: HookOutcome) -> tuple[ContextAdded, ...]:
    """Texts of hooks for the model, after the results."""
    texts = [(one.text, one.origin) for one in outcome.additional_context]
    if outcome.event.startswith("PostToolUse") and outcome.blocked and outcome.reason:
        texts.insert(0, (outcome.reason, outcome.origin or Origin("<hook>", "cli")))
    return tuple(
        ContextAdded(new_uuid(), f"{outcome.event} hook: {text}", f"hook:{outcome.event}", origin)
        for text, origin in texts
    )


def notices(outcome: HookOutcome) -> Iterator[Notice]:
    """Messages of hooks for the person."""
    for text in outcome.errors:
        yield Notice("warning", text)
    for text in outcome.system_messages:
        yield Notice("info", text)


def rewritten(output: ToolOutput, outcome: HookOutcome) -> tuple[Any, Any]:
    """A hook may replace the output with one of the same shape. Ignores anything else."""
    new = outcome.updated_output
    if new is UNSET or not same_shape(output.structured, new):
        return output.content, output.structured
    return (new if isinstance(new, str) else msgspec.json.encode(new, enc_hook=str).decode()), new
