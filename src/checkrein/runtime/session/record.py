"""The record of a conversation: its transcript, the files from before each change, its prompts."""

from __future__ import annotations

from msgspec import Struct

from checkrein.llm.port import Message
from checkrein.runtime.session.opened import Opened
from checkrein.runtime.store.checkpoints import Checkpoints
from checkrein.runtime.store.recorder import Recorder


class Snapshot(Struct, frozen=True):
    """The conversation before a prompt, and its last entry in the transcript."""

    messages: tuple[Message, ...]
    leaf: str | None


class Record:
    """`opened` says how the conversation began."""

    def __init__(self, opened: Opened, checkpoints: Checkpoints) -> None:
        self.opened = opened
        self.recorder = Recorder(opened.writer)
        self.checkpoints = checkpoints
        self.snapshots: dict[str, Snapshot] = {}
