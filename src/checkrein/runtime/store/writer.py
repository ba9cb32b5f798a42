"""Write one session. Every method that adds an entry returns when write(2) has taken it: that is the
acknowledgement.

The caller promises this order: the assistant entry with a call, then `tool_started`, then the tool runs, then
`tool_result`; `sync` at the end of a turn; `result` once, last.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import checkrein
from checkrein.base.clock import timestamp_ms
from checkrein.base.errors import UsageError
from checkrein.base.ids import new_uuid
from checkrein.runtime.store import marks
from checkrein.runtime.store.content import CHAIN_TYPES, blocks, prompt_of
from checkrein.runtime.store.lines import encode
from checkrein.runtime.store.transcript_files import TranscriptFile
from checkrein.runtime.store.values import Block, ChildTag, Entry, Message, SessionKind

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from checkrein.runtime.store.mirror import Mirror

_TITLE_DISTANCE = 32 * 1024  # other readers look for the title in the last 64 KiB


class SessionWriter:
    """The one writer of a session. `SessionStore.create`, `resume` and `fork` make it; close it, or use
    `with`.

    `leaf` is the uuid the next entry continues. Nothing reaches the disk before the first entry.
    Safe to call from several threads.
    """

    def __init__(
        self,
        session_id: str,
        file: TranscriptFile,
        *,
        cwd: str,
        git_branch: str | None = None,
        leaf: str | None = None,
        kind: SessionKind | None = None,
        child: ChildTag | None = None,
        title: str | None = None,
    ) -> None:
        self.session_id = session_id
        self.mirror: Mirror | None = None
        self.cwd = cwd
        self.git_branch = git_branch
        self.agent_id = child.agent_id if child is not None else None
        self._own: Entry = {"format": marks.FORMAT}
        if child is not None:
            self._own["parent_call"] = child.call
        self.leaf = leaf
        self._file = file
        self._salt = f"{session_id}/{file.size}/"
        self._guard = threading.RLock()
        self._title = title
        self._title_at = file.size
        self._prompt: str | None = None
        self._scratch: TemporaryDirectory[str] | None = None
        self._opening = marks.mark("opened", {"format": marks.FORMAT, "kind": kind}) if kind else None

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def saved(self) -> bool:
        """False for a session that leaves no file (`SessionStore.unsaved`)."""
        return self._file.saved

    def new_uuid(self) -> str:
        """An id for an entry that others see before it is written; repeatable with CHECKREIN_ID_SEED."""
        return new_uuid(self._salt)

    # -- the conversation --

    def user(
        self, content: str | list[Block], *, meta: bool = False, uuid: str | None = None, **fields: Any
    ) -> str:
        """A prompt as typed, or (`meta`) a note of the harness that the model sees and listings do not."""
        entry: Entry = {"type": "user", "message": {"role": "user", "content": content}, **fields}
        if meta:
            entry["isMeta"] = True
        return self.append(entry, uuid=uuid)

    def assistant(self, message: Message, *, uuid: str | None = None, **fields: Any) -> str:
        """A response, or a part of one. Loading joins parts with the same `message["id"]` to one message."""
        return self.append(
            {"type": "assistant", "message": {"role": "assistant", **message}, **fields}, uuid=uuid
        )

    def tool_started(self, call: str, name: str) -> None:
        """Write this before the tool runs. A call with this mark and no result never runs again."""
        self.mark("tool_started", toolUseId=call, name=name)

    def tool_result(
        self,
        call: str,
        content: str | list[Block],
        *,
        is_error: bool = False,
        structured: Any = None,
        uuid: str | None = None,
        **fields: Any,
    ) -> str:
        """The answer to one call; `structured` is the tool's own output (`toolUseResult`)."""
        block: Block = {"type": "tool_result", "tool_use_id": call, "content": content}
        if is_error:
            block["is_error"] = True
        if structured is not None:
            fields["toolUseResult"] = structured
        return self.user([block], uuid=uuid, **fields)

    def system(self, subtype: str, content: str = "", *, uuid: str | None = None, **fields: Any) -> str:
        """A notice in the log that the model does not get."""
        return self.append({"type": "system", "subtype": subtype, "content": content, **fields}, uuid=uuid)

    def compact(self, summary: str, *, trigger: str, before_tokens: int) -> str:
        """From here on the conversation is `summary`; earlier entries stay in the file."""
        with self._guard:
            self.boundary(trigger=trigger, before_tokens=before_tokens)
            return self.user(summary, isCompactSummary=True)

    def boundary(self, *, trigger: str, before_tokens: int) -> str:
        """From here on the conversation is what comes next; earlier entries stay in the file."""
        with self._guard:
            logical, self.leaf = self.leaf, None
            metadata = {"trigger": trigger, "preTokens": before_tokens}
            return self.system(
                "compact_boundary",
                "Conversation compacted",
                logicalParentUuid=logical,
                compactMetadata=metadata,
            )

    def rewind(self, to: str | None) -> None:
        """Continue from the entry `to` (None: from the start). What came after it becomes a branch."""
        with self._guard:
            self.mark("rewound", to=to)
            self.leaf = to

    def append(self, entry: Entry, *, uuid: str | None = None) -> str:
        """Add one entry, filling in what it lacks; returns its uuid. A chain entry continues `leaf`."""
        if entry.get("type") not in CHAIN_TYPES:
            raise UsageError(f"{entry.get('type')!r} is not an entry type.", kind="invalid_entry")
        with self._guard:
            uuid = uuid or entry.get("uuid") or self.new_uuid()
            own = {**self._own, **entry.get("checkrein", {})}
            links = {"uuid": uuid, "parentUuid": self.leaf, "isSidechain": self.agent_id is not None}
            self._write(
                {"type": entry["type"], **links, **self._context(), **entry, "checkrein": own, "uuid": uuid}
            )
            self.leaf = uuid
            self._prompt = prompt_of(entry, blocks(entry)) or self._prompt
        return uuid

    # -- what the session says about itself --

    def mark(self, event: str, **fields: Any) -> None:
        """One of our own lines, outside the conversation."""
        with self._guard:
            self._write(marks.mark(event, fields) | {"timestamp": timestamp_ms()})

    def state(self, **values: Any) -> None:
        """What a resume restores (`model`, `mode`, `agent`, ...); the last value of each key wins."""
        self.mark("state", state=values)

    def checkpoint(self, message: str, **fields: Any) -> None:
        """A checkpoint before the prompt `message`; loading returns the newest hundred."""
        self.mark("checkpoint", message=message, **fields)

    def title(self, text: str, *, generated: bool = False) -> None:
        with self._guard:
            self._write(marks.title_line(text, generated=generated))
            if not generated:
                self._title, self._title_at = text, self._file.size

    def tag(self, text: str) -> None:
        """A label for listings; empty removes it."""
        with self._guard:
            self._write(marks.tag_line(text))

    def result(self, result: dict[str, Any]) -> None:
        """The terminal result. Durable when this returns."""
        self.mark("result", result=result)
        self.sync()

    # -- beside the transcript --

    def subagent(self, agent_id: str, *, call: str, parent_agent: str | None = None) -> SessionWriter:
        """A writer for a child's transcript; its call finds it again. Close it when the child ends."""
        from checkrein.runtime.store.companions import open_subagent

        return open_subagent(self, agent_id, call, parent_agent)

    def spill(self, name: str, data: str | bytes) -> Path:
        """Keep an output that is too large for the conversation in `tool-results/`; returns its path."""
        from checkrein.runtime.store.companions import spill

        return spill(self, name, data)

    # -- durability --

    def sync(self) -> None:
        """The end of a turn: everything written so far survives a power loss."""
        with self._guard:
            if self._opening is None and self.agent_id is None:
                self._refresh_tail()
            self._file.sync()

    def close(self) -> None:
        with self._guard:
            self._file.close()
            if self._scratch is not None:
                self._scratch.cleanup()

    def scratch(self) -> Path:
        """A directory that lives as long as this writer, for large results of an unsaved session."""
        with self._guard:
            if self._scratch is None:
                from tempfile import TemporaryDirectory

                self._scratch = TemporaryDirectory(prefix="checkrein-")
            return Path(self._scratch.name)

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _refresh_tail(self) -> None:
        if self._prompt:
            self._write(marks.prompt_line(self._prompt))
            self._prompt = None
        if self._title and self._file.size - self._title_at > _TITLE_DISTANCE:
            self.title(self._title)

    def _context(self) -> Entry:
        context: Entry = {
            "sessionId": self.session_id,
            "timestamp": timestamp_ms(),
            "cwd": self.cwd,
            "version": checkrein.__version__,
        }
        if self.git_branch:
            context["gitBranch"] = self.git_branch
        if self.agent_id:
            context["agentId"] = self.agent_id
        return context

    def _write(self, entry: Entry) -> None:
        entries = [{**entry, "sessionId": self.session_id}]
        if self._opening is not None:
            entries.insert(0, {**self._opening, **self._context()})
        self._file.write(b"".join(map(encode, entries)))
        self._opening = None
        if self.mirror is not None:
            self.mirror.tell(self.path, entries)
