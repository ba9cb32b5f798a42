"""From a tree of entries to one line: the entries of the conversation, and the branches beside it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from checkrein.base.errors import NotFoundError
from checkrein.runtime.store.scan import Node, Scan
from checkrein.runtime.store.values import Branch


def chain(scan: Scan, leaf: str | None = None) -> list[Node]:
    """The messages from the root to the leaf, in order. Without a leaf, to the last one written; with one,
    nothing that was written after it."""
    start = _leaf(scan, leaf)
    if start is None:
        return []
    walk = scan.new_walk()
    walked = [node for node in _ancestors(scan, start, walk, report=True) if node.role and not node.aside]
    walked.reverse()
    return _with_siblings(scan, walked, walk, until=None if leaf is None else start.offset)


def _leaf(scan: Scan, leaf: str | None) -> Node | None:
    if leaf is not None:
        if leaf not in scan.by_uuid:
            raise NotFoundError(f"The session has no entry {leaf}.", kind="message_not_found")
        return scan.by_uuid[leaf]
    if scan.rewound is not None:
        (target,) = scan.rewound
        if target is None or target in scan.by_uuid:
            return scan.by_uuid[target] if target else None
    return next((node for node in reversed(scan.nodes) if node.role and not node.aside), None)


def _ancestors(scan: Scan, node: Node | None, walk: int, *, report: bool = False) -> Iterator[Node]:
    """The node and its parents, leaf first, each once per walk. The entry before the child replaces a missing
    parent."""
    while node is not None and node.visit != walk:
        node.visit = walk
        yield node
        if node.parent is None:
            return
        parent = scan.by_uuid.get(node.parent)
        if parent is None:
            parent = _before(scan, node)
            if report:
                then = (
                    "the conversation begins here" if parent is None else "it was joined to the one before it"
                )
                message = f"Entry {node.uuid} continues an entry that is not in the file; {then}."
                scan.findings.add("session-missing-parent", node.line, message)
        node = parent


def _before(scan: Scan, node: Node) -> Node | None:
    at = bisect_left(scan.nodes, node.offset, key=lambda other: other.offset)
    return next((scan.nodes[i] for i in range(at - 1, -1, -1) if not scan.nodes[i].aside), None)


def _with_siblings(scan: Scan, walked: list[Node], walk: int, *, until: int | None) -> list[Node]:
    """Restore the entries of a response that forked off: each parallel result may continue its own call."""
    strays = [
        node
        for node in scan.nodes
        if node.message_id
        and node.visit != walk
        and not node.aside
        and (until is None or node.offset < until)
    ]
    if not strays:
        return walked
    last = {node.message_id: at for at, node in enumerate(walked) if node.message_id}
    missing: dict[int, list[Node]] = {}
    for node in strays:
        if node.message_id in last:
            missing.setdefault(last[node.message_id], []).append(node)
    return [node for at, own in enumerate(walked) for node in (own, *missing.get(at, ()))]


def branches(scan: Scan, line: list[Node], used: Iterable[Node]) -> tuple[Branch, ...]:
    """Entries neither in the conversation nor before its compactions. `used` are entries of its results."""
    walk = scan.new_walk()
    frontier = line[0] if line else None
    while frontier is not None and frontier.visit != walk:
        root = frontier
        for node in _ancestors(scan, frontier, walk):
            root = node
        frontier = scan.by_uuid.get(root.logical) if root.logical else None
    for node in (*line, *used):
        node.visit = walk
    rest = [node for node in scan.nodes if node.role and not node.aside and node.visit != walk]
    return _tips(scan, _beside(scan, rest, walk), walk) if rest else ()


def _beside(scan: Scan, rest: list[Node], walk: int) -> list[Node]:
    """Without the parts of a covered response and the results of its calls: they only forked off."""
    messages = {node.message_id for node in scan.nodes if node.visit == walk and node.message_id}
    calls = {call for node in scan.nodes if node.message_id in messages for call in node.calls}
    return [
        node
        for node in rest
        if node.message_id not in messages
        and (node.plain or not node.results or not calls.issuperset(node.results))
    ]


def _tips(scan: Scan, rest: list[Node], walk: int) -> tuple[Branch, ...]:
    parents = {node.parent for node in rest}
    found: list[Branch] = []
    for node in reversed(rest):
        if node.uuid not in parents:
            count = sum(1 for above in _ancestors(scan, node, walk) if above.role and not above.aside)
            found.append(Branch(node.uuid, node.line, count))
    return tuple(found[::-1])
