"""The record of a conversation: its transcript, the files from before each change, its prompts."""

from __future__ import annotations

from msgspec import Struct

from checkrein.llm.port import Message
from checkrein.runtime.session.opened import Opened
from checkrein.runtime.store.checkpoints import Checkpoints
from checkrein.runtime.store.recorder import Recorder
from checkrein.runtime.store.writer import SessionWriter


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
        self._former: list[SessionWriter] = []

    def begin_again(self, writer: SessionWriter) -> None:
        """Write into another transcript from now on. The one before is complete."""
        self._former.append(self.recorder.writer)
        self.recorder.writer = writer
        self.snapshots.clear()

    def close(self) -> None:
        """Release the transcripts before the last one, which closes with the tools."""
        for writer in self._former:
            writer.close()
