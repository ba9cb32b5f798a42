"""The calls in transcripts, Checkrein's and the product's, and what became of them.

A transcript says of a call that it has a result. Who refused it stands in Checkrein's own marks, or else in
the words of the result. A refusal that could be a person's counts as one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, NotFoundError
from checkrein.base.files import beneath
from checkrein.facts.kitchen import kitchen_tools
from checkrein.policy.review.past import Fate, PastCall, moved
from checkrein.policy.values import Call
from checkrein.runtime.store import content
from checkrein.runtime.store.layout import (
    canonical,
    default_root,
    open_for_reading,
    project_dir,
    project_dirs,
)
from checkrein.runtime.store.lines import read_lines
from checkrein.runtime.store.values import Block, Entry

_PERSON = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action)|User rejected tool use"
    r"|\[Request interrupted by user|Refused: (?!.*(?:nobody to ask| Rule: ))",
    re.DOTALL,
)
_DENIED = re.compile(
    r"Refused: |Permission to use .* has been denied|.*hook (?:error|blocked)|Claude requested permissions"
)
_BODIES = ("content", "old_string", "new_string", "new_source", "edits", "prompt")
"""Fields that no verdict depends on."""
_LONG = 1000
_HEAD = 2000
_DEEPEST = 30


class Transcripts(Struct):
    """What was read. `empty` are files without a single entry of a session, `damaged` lines that are torn."""

    calls: list[PastCall] = []
    files: int = 0
    damaged: int = 0
    empty: list[str] = []
    unreadable: list[tuple[str, str]] = []


class _Pending(Struct):
    past: PastCall
    key: bytes


class Reader:
    """Collects the calls of many transcripts. Calls that a fork or a resumed session repeats count once.
    `root` is the project; with `within`, calls outside it do not count, else they move into it."""

    def __init__(self, root: str, *, within: bool) -> None:
        self._root = root
        self._within = within
        self._open: dict[str, _Pending] = {}
        self._seen: set[str] = set()
        self._found: dict[bytes, PastCall] = {}
        self._by_mark: dict[str, Fate] = {}
        self.read = Transcripts()

    def take(self, path: Path) -> None:
        entries = 0
        base: str | None = None
        try:
            file = open_for_reading(path)
        except CheckreinError as error:
            self.read.unreadable.append((str(path), error.message))
            return
        with file:
            for line in read_lines(file):
                self.read.damaged += line.problem is not None
                entry = line.value
                if entry is None or not isinstance(entry.get("type"), str):
                    continue
                entries += "sessionId" in entry or "uuid" in entry
                if base is None and isinstance(entry.get("cwd"), str):
                    base = entry["cwd"]
                self._entry(entry, base or "", str(path), line.number)
        self.read.files += 1
        if not entries:
            self.read.empty.append(str(path))
        for id in list(self._open):
            self._close(id, "open")

    def finish(self) -> Transcripts:
        self.read.calls = list(self._found.values())
        return self.read

    def _entry(self, entry: Entry, base: str, file: str, line: int) -> None:
        fields = content.own(entry)
        if fields.get("event") == "denied" and isinstance(fields.get("toolUseId"), str):
            self._by_mark[fields["toolUseId"]] = "refused" if fields.get("by") == "asker" else "denied"
        if fields.get("event") == "call":
            self._beside(fields, base, (file, line))
        if entry["type"] not in ("assistant", "user"):
            return
        for block in content.blocks(entry):
            called, answered = content.call_of(block), content.result_of(block)
            if called is not None and called not in self._seen:
                self._seen.add(called)
                cwd = entry.get("cwd")
                self._call(called, block, cwd if isinstance(cwd, str) else base, base, (file, line))
            elif answered is not None and answered in self._open:
                self._close(answered, self._fate(answered, block))

    def _beside(self, fields: Mapping[str, Any], base: str, place: tuple[str, int]) -> None:
        """A call that no model of the session made: a client's of the MCP server or the gateway, a hook's."""
        id, name, input = fields.get("toolUseId"), fields.get("name"), fields.get("input")
        if not (isinstance(id, str) and isinstance(name, str) and isinstance(input, dict)):
            return
        if id in self._seen or name in kitchen_tools():  # what these do are calls of their own
            return
        self._seen.add(id)
        self._call(id, {"name": name, "input": input}, base, base, place)
        if id in self._open:
            self._close(id, self._by_mark.pop(id) if id in self._by_mark else _fate_beside(fields))

    def _call(self, id: str, block: Block, cwd: str, base: str, place: tuple[str, int]) -> None:
        past = PastCall(
            call=Call(block["name"], _light(block["input"])), cwd=cwd, file=place[0], line=place[1]
        )
        if not beneath(cwd or self._root, self._root):
            if self._within:
                return
            past = moved(past, base, self._root)
        key = msgspec.json.encode((past.call.tool, past.call.input, past.cwd))
        self._open[id] = _Pending(past, key)

    def _close(self, id: str, fate: Fate) -> None:
        pending = self._open.pop(id)
        key = pending.key + fate.encode()
        known = self._found.get(key)
        self._found[key] = (
            replace(pending.past, fate=fate) if known is None else replace(known, times=known.times + 1)
        )

    def _fate(self, id: str, block: Block) -> Fate:
        marked = self._by_mark.pop(id, None)
        if marked is not None:
            return marked
        if not block.get("is_error"):
            return "ran"
        text = _text(block.get("content"))
        if _PERSON.match(text):
            return "refused"
        return "denied" if _DENIED.match(text) else "ran"


def _fate_beside(fields: Mapping[str, Any]) -> Fate:
    if fields.get("verdict") == "allow":
        return "ran"
    if "by" in fields:
        return "refused" if fields["by"] == "asker" else "denied"
    alone = "nobody to ask" in str(fields.get("reason"))
    return "denied" if fields.get("verdict") == "deny" or alone else "refused"


def _light(input: Mapping[str, Any]) -> dict[str, Any]:
    """The input without long texts that no verdict depends on; a transcript may hold gigabytes of them."""
    return {
        name: ""
        if name in _BODIES and not (isinstance(value, str) and len(value) < _LONG)
        else _shallow(value)
        for name, value in input.items()
    }


def _shallow(value: Any, depth: int = _DEEPEST) -> Any:
    """The value without what lies too deep: no tool reads it, and it could exhaust whoever walks it."""
    if isinstance(value, dict):
        return {key: _shallow(one, depth - 1) for key, one in value.items()} if depth else {}
    if isinstance(value, list):
        return [_shallow(one, depth - 1) for one in value] if depth else []
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:_HEAD]
    blocks = value if isinstance(value, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))[:_HEAD]


def transcripts_of(root: str, env: Mapping[str, str]) -> list[Path]:
    """The transcripts of sessions in a directory or below it: Checkrein's, and the product's."""
    product = Path(env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME", "~"), ".claude"))
    stores = dict.fromkeys((default_root(env), Path(os.path.realpath(product.expanduser())) / "projects"))
    found: dict[Path, None] = {}
    for store in stores:
        own = project_dir(store, canonical(root))
        beside = [one for one in project_dirs(store) if one.name.startswith(f"{own.name}-")]
        for directory in (own, *beside):
            found |= dict.fromkeys(_below(directory))
    return list(found)


def named(path: str) -> list[Path]:
    """The transcripts that a person names: a file, or all in a directory and below it."""
    given = Path(path)
    if given.is_dir():
        return list(_below(given))
    if not given.exists():
        raise NotFoundError(
            f"{path} does not exist.", kind="file_not_found", hint="Name a transcript or a directory of them."
        )
    return [Path(os.path.realpath(given))]


def _below(directory: Path) -> Iterator[Path]:
    for holder, folders, files in os.walk(directory):
        folders.sort()
        yield from (Path(holder, name) for name in sorted(files) if name.endswith(".jsonl"))


def past_calls(paths: Iterable[Path], root: str, *, within: bool) -> Transcripts:
    reader = Reader(root, within=within)
    for path in paths:
        reader.take(path)
    return reader.finish()
