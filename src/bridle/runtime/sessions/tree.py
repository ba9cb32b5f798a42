"""From a tree of entries to one line: which entries make the conversation, and what lies beside it."""

from __future__ import annotations

from collections.abc import Iterable

from bridle.base.errors import NotFoundError
from bridle.runtime.sessions.scan import Node, Scan
from bridle.runtime.sessions.values import Branch


def chain(scan: Scan, leaf: str | None = None) -> list[Node]:
    """The messages from the root to the leaf (the last one written, unless named), in order."""
    start = _leaf(scan, leaf)
    if start is None:
        return []
    walked = [node for node in _ancestors(scan, start, report=True) if node.role and not node.aside]
    return _with_siblings(scan, walked[::-1])


def _leaf(scan: Scan, leaf: str | None) -> int | None:
    if leaf is not None:
        if leaf not in scan.by_uuid:
            raise NotFoundError(f"The session has no entry {leaf}.", kind="message_not_found")
        return scan.by_uuid[leaf]
    if scan.rewound is not None:
        (target,) = scan.rewound
        if target is None:
            return None
        if target in scan.by_uuid:
            return scan.by_uuid[target]
    for index in range(len(scan.nodes) - 1, -1, -1):
        if scan.nodes[index].role and not scan.nodes[index].aside:
            return index
    return None


def _ancestors(scan: Scan, start: int, *, report: bool = False) -> Iterable[Node]:
    """The node and its parents, leaf first. A parent that is missing is replaced by the entry before the
    child."""
    seen: set[int] = set()
    index: int | None = start
    while index is not None and index not in seen:
        seen.add(index)
        node = scan.nodes[index]
        yield node
        if node.parent is None:
            return
        child, index = index, scan.by_uuid.get(node.parent)
        if index is None:
            index = _before(scan, child)
            if report:
                scan.findings.add(
                    "session-missing-parent",
                    node.line,
                    f"Entry {node.uuid} continues an entry that is not in the file; "
                    + (
                        "it was joined to the one before it."
                        if index is not None
                        else "the conversation begins here."
                    ),
                )


def _before(scan: Scan, index: int) -> int | None:
    return next((i for i in range(index - 1, -1, -1) if not scan.nodes[i].aside), None)


def _with_siblings(scan: Scan, walked: list[Node]) -> list[Node]:
    """Put back the entries of a response that forked off: parallel results may each continue their own
    call."""
    last: dict[str, int] = {node.message_id: at for at, node in enumerate(walked) if node.message_id}
    if not last:
        return walked
    present = {node.uuid for node in walked}
    missing: dict[int, list[Node]] = {}
    for node in scan.nodes:
        at = last.get(node.message_id) if node.message_id and not node.aside else None
        if at is not None and node.uuid not in present:
            missing.setdefault(at, []).append(node)
    return [node for at, own in enumerate(walked) for node in (own, *missing.get(at, ()))]


def branches(scan: Scan, line: list[Node], used: set[str]) -> tuple[Branch, ...]:
    """What is in the file and neither in the conversation nor before its compactions. `used` are result
    entries."""
    covered = {node.uuid for node in line} | used
    frontier = line[0] if line else None
    while frontier is not None:
        root = frontier
        for node in _ancestors(scan, scan.by_uuid[frontier.uuid]):
            covered.add(node.uuid)
            root = node
        index = scan.by_uuid.get(root.logical) if root.logical else None
        frontier = scan.nodes[index] if index is not None and scan.nodes[index].uuid not in covered else None
    messages = {node.message_id for node in scan.nodes if node.uuid in covered and node.message_id}
    calls = {call for node in scan.nodes if node.message_id in messages for call, _ in node.calls}
    rest = [node for node in scan.nodes if _is_beside(node, covered, messages, calls)]
    parents = {node.parent for node in rest}
    found: list[Branch] = []
    for node in reversed(rest):
        if node.uuid in parents:
            continue
        count = 0
        for above in _ancestors(scan, scan.by_uuid[node.uuid]):
            if above.uuid in covered:
                break
            covered.add(above.uuid)
            count += bool(above.role)
        found.append(Branch(node.uuid, node.line, count))
    return tuple(found[::-1])


def _is_beside(node: Node, covered: set[str], messages: set[str], calls: set[str]) -> bool:
    if node.aside or not node.role or node.uuid in covered or node.message_id in messages:
        return False
    return node.plain or not node.results or not calls.issuperset(node.results)
