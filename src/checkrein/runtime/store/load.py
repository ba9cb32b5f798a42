"""Load a transcript: `outline` streams, `load` adds the messages. Total for any content of the file.

Both read the open file twice, so a file that grows or vanishes in the meantime gives one consistent answer.
The first pass keeps links; the second reads only the bodies of the conversation.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

from checkrein.runtime.store import content, fold, tree
from checkrein.runtime.store.layout import open_for_reading
from checkrein.runtime.store.lines import decode
from checkrein.runtime.store.scan import Listener, Node, Scan
from checkrein.runtime.store.values import Block, Conversation, Entry, InterruptedCall, Outline


def outline(path: Path, *, aside: bool = False) -> Outline:
    """What the session is, without its bodies. `aside` reads a subagent's transcript."""
    with open_for_reading(path) as file:
        return outline_of(file, path, aside=aside)


def outline_of(
    file: BinaryIO, path: Path, *, aside: bool = False, listener: Listener | None = None
) -> Outline:
    """The same for an open transcript: its name may mean another file by now."""
    scan = Scan(path, aside=aside, listener=listener).read(file)
    line = tree.chain(scan, None)
    return Outline(**_fields(path, file, scan, line, fold.plan(scan, line)))


def load(path: Path, *, leaf: str | None = None, aside: bool = False) -> Conversation:
    """The conversation that ends in `leaf` (default: the latest)."""
    with open_for_reading(path) as file:
        scan = Scan(path, aside=aside).read(file)
        line = tree.chain(scan, leaf)
        plan = fold.plan(scan, line)
        rendered = fold.render(scan, plan, lambda node: body(file, node))
        return Conversation(
            **_fields(path, file, scan, line, plan),
            messages=tuple(message for message, _ in rendered),
            sources=tuple(sources for _, sources in rendered),
        )


def body(file: BinaryIO, node: Node) -> Entry:
    return decode(os.pread(file.fileno(), node.size, node.offset)) or {}


def _fields(path: Path, file: BinaryIO, scan: Scan, line: list[Node], plan: fold.Plan) -> dict[str, Any]:
    interrupted = _interrupted(file, scan, plan)
    branches = tree.branches(scan, line, plan.answers.values())
    for branch in branches:
        message = f"{branch.entries} entries that end in {branch.leaf} are on another branch."
        hint = "They stay in the file; load or fork the session at that entry to continue there."
        scan.findings.add("session-branch", branch.line, message, severity="info", hint=hint)
    return {
        "session_id": path.name.removesuffix(".jsonl"),
        "path": path,
        "leaf": line[-1].uuid if line else None,
        "message_count": len(plan.drafts),
        "prompt_count": scan.prompts,
        "usage": scan.usage,
        "interrupted": interrupted,
        "branches": branches,
        "checkpoints": tuple(scan.facts.checkpoints),
        **scan.facts.values,
        "diagnostics": scan.findings.all(),
    }


def _interrupted(file: BinaryIO, scan: Scan, plan: fold.Plan) -> tuple[InterruptedCall, ...]:
    found: list[InterruptedCall] = []
    for call in plan.open:
        owner = plan.owners[call]
        block = _call(body(file, owner), call)
        effect = fold.effect(scan, owner, call)
        found.append(InterruptedCall(call, block.get("name", ""), block.get("input", {}), effect, owner.line))
    known = {call for node in scan.nodes for call in node.calls} if scan.started else set()
    for call, (name, line) in scan.started.items():
        if call not in known:
            found.append(InterruptedCall(call, name, {}, "unknown", line))
    for item in found:
        what = "may or may not have taken effect" if item.effect == "unknown" else "did not start"
        message = f"Call {item.id} ({item.name}) was cut off and {what}; it will not run again."
        scan.findings.add("session-interrupted-call", item.line, message)
    return tuple(found)


def _call(entry: Entry, call: str) -> Block:
    return next((block for block in content.blocks(entry) if content.call_of(block) == call), {})
