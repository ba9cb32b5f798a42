"""Going back to before a prompt: its files, the conversation, or both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from checkrein.base.errors import NotFoundError
from checkrein.llm.port import Message
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.store.checkpoints import Restored

if TYPE_CHECKING:
    from checkrein.runtime.session.engine import Engine


class Snapshot(Struct, frozen=True):
    """The conversation before a prompt, and the entry of the transcript that it ends with."""

    messages: tuple[Message, ...]
    leaf: str | None


def begin(engine: Engine, uuid: str) -> None:
    """Remember what is there before a prompt."""
    engine.checkpoints.begin(uuid)
    writer = engine.recorder.writer
    engine.snapshots[uuid] = Snapshot(tuple(engine.state.messages), writer.leaf)
    for old in list(engine.snapshots)[: -len(engine.checkpoints.messages) or None]:
        del engine.snapshots[old]
    writer.checkpoint(uuid, leaf=writer.leaf)


def rewind(engine: Engine, uuid: str, *, files: bool = True, conversation: bool = False) -> Restored:
    """Undo the prompt `uuid` and all after it. Raises NotFoundError for a prompt that is not kept."""
    if uuid not in engine.checkpoints.messages:
        raise NotFoundError(
            f"There is no checkpoint of the message {uuid}.",
            kind="checkpoint_not_found",
            hint="The newest hundred prompts of a session have one.",
        )
    snapshot = _snapshot(engine, uuid) if conversation else None
    restored = engine.checkpoints.rewind(uuid) if files else Restored()
    for path in (*restored.restored, *restored.deleted):
        engine.tools.forget(path)
    if snapshot is not None:
        engine.recorder.writer.rewind(snapshot.leaf)
        engine.state.messages = list(snapshot.messages)
        engine.state.sent = len(snapshot.messages)
        engine.state.tokens = 0
        engine.state.last = None
        engine.watch.rewound(snapshot.messages)
        engine.lazy.forget()
    return restored


def rewind_if_asked(engine: Engine) -> Iterator[Event]:
    """What `Control.rewind` asked for: files go back, the conversation stays."""
    uuid = engine.control.take_rewind()
    if uuid is None:
        return
    try:
        yield Notice("info", f"Rewound: {rewind(engine, uuid)}.")
    except NotFoundError as error:
        yield Notice("warning", error.message)


def _snapshot(engine: Engine, uuid: str) -> Snapshot:
    known = engine.snapshots.get(uuid)
    return known if known is not None else _from_transcript(engine, uuid)


def _from_transcript(engine: Engine, uuid: str) -> Snapshot:
    """For a prompt of an earlier process: the transcript up to the entry that stood before it."""
    from checkrein.runtime.store.load import load, outline

    path = engine.recorder.writer.path
    mark = next((mark for mark in outline(path).checkpoints if mark.get("message") == uuid), {})
    if "leaf" not in mark:
        raise NotFoundError(
            f"The transcript does not say what stood before the message {uuid}.",
            kind="checkpoint_not_found",
            hint="Its files can be put back; the conversation can't.",
        )
    leaf = mark["leaf"]
    if leaf is None:
        return Snapshot((), None)
    conversation = load(path, leaf=leaf)
    return Snapshot(tuple(msgspec.convert(message, Message) for message in conversation.messages), leaf)
