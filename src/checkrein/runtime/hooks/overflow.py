"""Texts too long for the conversation go to a file; a preview and the path replace them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from checkrein.base.home import private_dir
from checkrein.facts.claude_hooks import OUTPUT_CHARS
from checkrein.runtime.hooks.output import Answer

PREVIEW = 2_000


def capped(answer: Answer, results_dir: str | None, hook_id: str) -> Answer:
    """The answer with every text within the limit. Without a directory the rest is cut off."""
    changes = {
        field: _shortened(text, results_dir, f"{hook_id}-{field}")
        for field in ("context", "system_message", "reason", "stop_reason")
        if (text := getattr(answer, field)) and len(text) > OUTPUT_CHARS
    }
    return msgspec.structs.replace(answer, **changes) if changes else answer


def _shortened(text: str, results_dir: str | None, name: str) -> str:
    if len(text) <= OUTPUT_CHARS:
        return text
    path = _save(text, results_dir, name) if results_dir else None
    where = f"all of it is in {path}" if path else "the rest was dropped"
    return f"{text[:PREVIEW]}\n[{len(text):,} characters; {where}]"


def _save(text: str, results_dir: str, name: str) -> str | None:
    path = os.path.join(results_dir, f"{name}.txt")
    with contextlib.suppress(OSError):
        private_dir(Path(results_dir))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        return path
    return None
