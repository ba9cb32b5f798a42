"""The first pass over a transcript: links and facts of every entry, without bodies.

A session of 200 MB has a hundred thousand entries, so each node is small: nodes share strings, and
`Node.visit` replaces the sets that walks over the tree would need.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from checkrein.runtime.store import content
from checkrein.runtime.store.findings import Findings
from checkrein.runtime.store.lines import Line, read_lines
from checkrein.runtime.store.marks import Facts
from checkrein.runtime.store.values import Block, Entry, Usage

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_RECENT = 64

Listener = Callable[["Node", str], None]


class Node(Struct, gc=False):
    """One entry. `role` is "" for entries that only link others (system, progress, attachment).

    `plain` says that it has blocks beside calls and results, `native` that Checkrein wrote it, `aside` that
    it belongs to another conversation; `visit` is the number of the last walk that reached it.
    """

    uuid: str
    parent: str | None
    line: int
    offset: int
    size: int
    role: str = ""
    message_id: str | None = None
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    plain: bool = False
    native: bool = False
    aside: bool = False
    logical: str | None = None
    visit: int = 0


class Scan:
    """All nodes in file order, and what the metadata lines say.

    `started` has the calls that began and have no result. `rewound` is the target of a rewind that nothing
    followed: (uuid,), or (None,) for the very start. `listener` gets the text of every prompt and reply, for
    the index.
    """

    def __init__(self, path: Path, *, aside: bool = False, listener: Listener | None = None) -> None:
        self.findings = Findings(path)
        self.nodes: list[Node] = []
        self.by_uuid: dict[str, Node] = {}
        self.started: dict[str, tuple[str, int]] = {}
        self.rewound: tuple[str | None] | None = None
        self.facts = Facts()
        self.prompts = 0
        self.walks = 0
        self._spent = Usage()
        self._recent: dict[str, Usage] = {}
        self._aside = aside
        self._listener = listener

    def read(self, file: BinaryIO) -> Scan:
        for line in read_lines(file):
            if line.problem:
                message = f"This line {line.problem}; Checkrein skipped it."
                self.findings.add("session-damaged-line", line.number, message)
            if line.value is not None:
                self._entry(line, line.value)
        return self

    @property
    def usage(self) -> Usage:
        return sum(self._recent.values(), self._spent)

    def new_walk(self) -> int:
        self.walks += 1
        return self.walks

    def _entry(self, line: Line, entry: Entry) -> None:
        kind, uuid = entry.get("type"), entry.get("uuid")
        if not isinstance(kind, str) or kind not in content.CHAIN_TYPES:
            self._metadata(line, entry)
        elif not isinstance(uuid, str) or not uuid:
            message = f"This {kind} entry has no uuid; Checkrein skipped it."
            self.findings.add("session-damaged-line", line.number, message)
        elif uuid in self.by_uuid:
            message = f"Entry {uuid} is already in line {self.by_uuid[uuid].line}."
            self.findings.add("session-duplicate", line.number, message, severity="info")
        else:
            self._node(line, entry, uuid)

    def _node(self, line: Line, entry: Entry, uuid: str) -> None:
        node = Node(uuid, self._link(entry.get("parentUuid")), line.number, line.offset, line.size)
        node.logical = self._link(entry.get("logicalParentUuid"))
        node.aside = bool(entry.get("teamName") or entry.get("isSidechain")) is not self._aside
        if entry["type"] in ("user", "assistant") and not entry.get("isApiErrorMessage"):
            self._message(node, entry, content.blocks(entry))
        self.by_uuid[uuid] = node
        self.nodes.append(node)
        if not node.aside:
            self.facts.chain_entry(entry, _time_of(entry), says=bool(node.role))

    def _message(self, node: Node, entry: Entry, found: list[Block]) -> None:
        node.native = "checkrein" in entry
        if entry["type"] == "assistant":
            node.role = "assistant"
            node.message_id = content.message_id(entry)
            node.calls = tuple(call for block in found if (call := content.call_of(block)))
            self._spend(node, entry)
        else:
            node.role = "user"
            node.results = tuple(answered for block in found if (answered := content.result_of(block)))
        node.plain = len(found) > len(node.calls) + len(node.results)
        if node.aside:
            return
        self.rewound = None
        for call in node.results:
            self.started.pop(call, None)
        prompt = content.prompt_of(entry, found)
        if prompt is not None:
            self.prompts += 1
            self.facts.prompt(prompt)
        if self._listener and node.plain and (prompt is not None or node.role == "assistant"):
            self._listener(node, content.text_of(found))

    def _spend(self, node: Node, entry: Entry) -> None:
        """The entries of one response repeat its usage; the last one is right. They are close together."""
        usage = None if entry.get("forkedFrom") else content.usage_of(entry)
        if usage is not None:
            self._recent[node.message_id or node.uuid] = usage
            if len(self._recent) > _RECENT:
                self._spent += self._recent.pop(next(iter(self._recent)))

    def _metadata(self, line: Line, entry: Entry) -> None:
        fields = content.own(entry)
        event = fields.get("event")
        if event == "tool_started" and isinstance(fields.get("toolUseId"), str):
            self.started[fields["toolUseId"]] = (str(fields.get("name", "")), line.number)
        elif event == "rewound":
            target = fields.get("to")
            self.rewound = (target if isinstance(target, str) else None,)
        self.facts.metadata(entry, _time_of(entry))

    def _link(self, value: Any) -> str | None:
        """The uuid of a parent, as the very string its node holds."""
        if not isinstance(value, str) or not value:
            return None
        node = self.by_uuid.get(value)
        return value if node is None else node.uuid


def _time_of(entry: Entry) -> str | None:
    value = entry.get("timestamp")
    return value if isinstance(value, str) and _TIME.match(value) else None
