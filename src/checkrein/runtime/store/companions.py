"""The files beside a transcript: `<session id>/subagents/agent-<id>.jsonl` and `<session id>/tool-
results/`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from checkrein.base.files import write_atomic
from checkrein.base.home import private_dir
from checkrein.runtime.store.layout import checked_id, companion_dir, refuse_links
from checkrein.runtime.store.lock import SessionLock
from checkrein.runtime.store.transcript_files import TranscriptFile, directory_for
from checkrein.runtime.store.values import ChildTag

if TYPE_CHECKING:
    from checkrein.runtime.store.writer import SessionWriter

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def subagent_path(transcript: Path, agent_id: str) -> Path:
    return companion_dir(transcript) / "subagents" / f"agent-{checked_id(agent_id)}.jsonl"


def subagent_ids(transcript: Path) -> tuple[str, ...]:
    """The ids of a session's children, in name order; children of children are in the same directory."""
    found: list[str] = []
    for directory, folders, names in os.walk(companion_dir(transcript) / "subagents"):
        folders.sort()
        found += [
            name[len("agent-") : -len(".jsonl")]
            for name in sorted(names)
            if name.startswith("agent-")
            and name.endswith(".jsonl")
            and not os.path.islink(f"{directory}/{name}")
        ]
    return tuple(found)


def open_subagent(parent: SessionWriter, agent_id: str, call: str, parent_agent: str | None) -> SessionWriter:
    from checkrein.runtime.store.writer import SessionWriter

    file, leaf = (
        _open(parent, agent_id, call, parent_agent) if parent.saved else (TranscriptFile.nowhere(), None)
    )
    writer = SessionWriter(
        parent.session_id,
        file,
        cwd=parent.cwd,
        git_branch=parent.git_branch,
        leaf=leaf,
        child=ChildTag(agent_id, call),
    )
    writer.mirror = parent.mirror
    return writer


def _open(
    parent: SessionWriter, agent_id: str, call: str, parent_agent: str | None
) -> tuple[TranscriptFile, str | None]:
    from checkrein.runtime.store.load import outline

    path = subagent_path(main_transcript(parent), agent_id)
    refuse_links(main_transcript(parent).parent, path.parent)
    directory_for(path)
    lock = SessionLock.acquire(path)
    try:
        meta = {"toolUseId": call} | ({"parentAgentId": parent_agent} if parent_agent else {})
        write_atomic(path.with_name(f"agent-{agent_id}.meta.json"), msgspec.json.encode(meta), 0o600)
        if parent.mirror is not None:
            parent.mirror.tell(path, [{"type": "agent_metadata", **meta}])
        file = TranscriptFile.open(path, lock, create=True)
        return file, outline(path, aside=True).leaf if file.size else None
    except BaseException:
        lock.release()
        raise


def main_transcript(writer: SessionWriter) -> Path:
    """The session's own transcript: children of children are beside their parents."""
    if writer.agent_id is None:
        return writer.path
    return writer.path.parent.parent.with_name(f"{writer.session_id}.jsonl")


def spill(writer: SessionWriter, name: str, data: str | bytes) -> Path:
    if writer.saved:
        directory = companion_dir(main_transcript(writer)) / "tool-results"
        refuse_links(directory.parent.parent, directory)
    else:
        directory = writer.scratch()
    path = private_dir(directory) / f"{_UNSAFE.sub('-', name)[:120] or 'output'}.txt"
    payload = data.encode("utf-8", "replace") if isinstance(data, str) else data
    write_atomic(path, payload, 0o600)
    return path
