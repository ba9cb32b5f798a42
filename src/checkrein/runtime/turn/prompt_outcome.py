"""What becomes of a prompt."""

from __future__ import annotations

from msgspec import Struct

from checkrein.llm.port import Block
from checkrein.runtime.skills.mentions import Attachment


class Prompted(Struct, frozen=True, kw_only=True):
    """`blocks` go to the model after `before`, which has the `files` that the prompt names too. `refused` is
    the answer when the prompt does not reach the model, `answer` that of a command which needs no model;
    `compact` is the focus of a `/compact`. `unknown` says that it names a command that does not exist: that
    is an error. `instead` is the prompt that a built-in command makes of its own, which goes on like a typed
    one."""

    blocks: tuple[Block, ...] = ()
    before: tuple[str, ...] = ()
    files: tuple[Attachment, ...] = ()
    refused: str | None = None
    unknown: str | None = None
    answer: str | None = None
    compact: str | None = None
    instead: str | None = None
