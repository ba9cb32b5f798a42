"""Goes back to before a prompt: files, conversation, or both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.llm.port import Message
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.session.record import Snapshot
from checkrein.runtime.store.checkpoints import Restored

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def begin(conversation: Conversation, uuid: str) -> None:
    """Remember the state before a prompt."""
    conversation.record.checkpoints.begin(uuid)
    writer = conversation.recorder.writer
    conversation.record.snapshots[uuid] = Snapshot(tuple(conversation.state.messages), writer.leaf)
    for old in list(conversation.record.snapshots)[: -len(conversation.record.checkpoints.messages) or None]:
        del conversation.record.snapshots[old]
    writer.checkpoint(uuid, leaf=writer.leaf)


def rewind(
    conversation: Conversation,
    uuid: str,
    *,
    files: bool = True,
    messages: bool = False,
    dry_run: bool = False,
) -> Restored:
    """Undo the prompt `uuid` and all after it. Raises NotFoundError for a prompt without a checkpoint. A dry
    run says what would happen to the files."""
    checkpoints = conversation.record.checkpoints
    if uuid not in checkpoints.messages:
        raise NotFoundError(
            f"There is no checkpoint of the message {uuid}.",
            kind="checkpoint_not_found",
            hint="Only the newest hundred prompts of a session have one.",
        )
    if files and not messages and not checkpoints.kept:
        raise UsageError(
            "File checkpointing is not enabled for this session.",
            kind="checkpoints_off",
            hint="Start the session with `enable_file_checkpointing`.",
        )
    if dry_run:
        return checkpoints.rewind(uuid, dry_run=True)
    snapshot = _snapshot(conversation, uuid) if messages else None
    restored = checkpoints.rewind(uuid, again=not messages) if files else Restored()
    for path in (*restored.restored, *restored.deleted):
        conversation.desk.forget(path)
    if snapshot is not None:
        conversation.recorder.writer.rewind(snapshot.leaf)
        conversation.state.messages = list(snapshot.messages)
        conversation.state.sent = len(snapshot.messages)
        conversation.state.tokens = 0
        conversation.state.last = None
        conversation.backdrop.prefix.rewound(snapshot.messages)
        conversation.backdrop.lazy.forget()
        if conversation.backdrop.instructions is not None:
            conversation.backdrop.instructions.rewound()
    return restored


def rewind_if_asked(conversation: Conversation) -> Iterator[Event]:
    """Do what `Control.rewind` asked for: restore files, keep the conversation."""
    uuid = conversation.control.take_rewind()
    if uuid is None:
        return
    try:
        yield Notice("info", f"Rewound: {rewind(conversation, uuid)}.")
    except (NotFoundError, UsageError) as error:
        yield Notice("warning", error.message)


def _snapshot(conversation: Conversation, uuid: str) -> Snapshot:
    known = conversation.record.snapshots.get(uuid)
    return known if known is not None else _from_transcript(conversation, uuid)


def _from_transcript(conversation: Conversation, uuid: str) -> Snapshot:
    """For a prompt of an earlier process: the transcript up to the entry before it."""
    from checkrein.runtime.store.load import load, outline

    path = conversation.recorder.writer.path
    mark = next((mark for mark in outline(path).checkpoints if mark.get("message") == uuid), {})
    if "leaf" not in mark:
        raise NotFoundError(
            f"The transcript does not show what came before the message {uuid}.",
            kind="checkpoint_not_found",
            hint="You can restore its files, but not the conversation.",
        )
    leaf = mark["leaf"]
    if leaf is None:
        return Snapshot((), None)
    messages = load(path, leaf=leaf).messages
    return Snapshot(tuple(msgspec.convert(message, Message) for message in messages), leaf)
