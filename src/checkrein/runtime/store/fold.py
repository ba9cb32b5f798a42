"""From a line of entries to messages in normal form (see `values`): merged, paired, repaired."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checkrein.runtime.store import content
from checkrein.runtime.store.scan import Node, Scan
from checkrein.runtime.store.values import Block, Effect, Entry, Message

UNKNOWN_EFFECT = (
    "Interrupted: the session ended while this call was running. Whether it took effect is unknown. "
    "It was not run again; look at the present state before you decide to repeat it."
)
NO_EFFECT = "Interrupted: the session ended before this call was started. It had no effect."
LOST_BEGINNING = "(The beginning of this conversation could not be read.)"


class Draft(Struct):
    """A future message. `results` are the calls it answers first, `parts` the entries whose other blocks
    follow."""

    role: str
    parts: list[Node] = []
    results: list[str] = []


class Plan(Struct):
    """`owners`: entry of each call. `answers`: entry of each result. `open`: calls without a result."""

    drafts: list[Draft]
    owners: dict[str, Node]
    answers: dict[str, Node]
    open: list[str]


def plan(scan: Scan, line: list[Node]) -> Plan:
    owners: dict[str, Node] = {}
    for node in line:
        for call in node.calls:
            if owners.setdefault(call, node) is not node:
                scan.findings.add(
                    "session-duplicate", node.line, f"The file has call {call} twice; one of them counts."
                )
    answers = _answers(scan, line, owners)
    drafts = _paired(_merged(line, owners), owners)
    if drafts and drafts[0].role == "assistant":
        drafts.insert(0, Draft("user"))
        message = "The file does not hold the conversation's first prompt."
        scan.findings.add("session-lost-beginning", line[0].line, message)
    return Plan(drafts, owners, answers, [call for call in owners if call not in answers])


def _answers(scan: Scan, line: list[Node], owners: dict[str, Node]) -> dict[str, Node]:
    """The first result of each call, on the line or else anywhere below the call; reports the others."""
    answers: dict[str, Node] = {}
    for node in line:
        for call in node.results:
            if call not in owners:
                message = f"A result answers call {call}, which is not in the conversation; it is dropped."
                scan.findings.add("session-orphan-result", node.line, message)
            elif answers.setdefault(call, node) is not node:
                message = f"Call {call} has two results; the first one counts."
                scan.findings.add("session-duplicate", node.line, message)
    if len(answers) < len(owners):
        for node in scan.nodes:
            if not node.aside:
                for call in node.results:
                    if call in owners and node.line > owners[call].line:
                        answers.setdefault(call, node)
    return answers


def _merged(line: list[Node], owners: dict[str, Node]) -> list[Draft]:
    drafts: list[Draft] = []
    for node in line:
        last = drafts[-1] if drafts else None
        if not node.plain and not any(owners[call] is node for call in node.calls):
            continue  # results find their place by their call
        if last is None or last.role != node.role or not _continues(last, node, owners):
            drafts.append(Draft(node.role, [node]))
        else:
            last.parts.append(node)
    return drafts


def _continues(last: Draft, node: Node, owners: dict[str, Node]) -> bool:
    """Results of calls come before the next response; other entries of one role become one message."""
    if node.role == "user" or (node.message_id and node.message_id == last.parts[-1].message_id):
        return True
    return not any(owners[call] is part for part in last.parts for call in part.calls)


def _paired(drafts: list[Draft], owners: dict[str, Node]) -> list[Draft]:
    """After each response with calls comes a user message that begins with their results."""
    paired: list[Draft] = []
    waiting: list[str] = []
    for draft in drafts:
        if draft.role == "user":
            draft.results, waiting = waiting, []
        else:
            if waiting:
                paired.append(Draft("user", results=waiting))
            owned = (call for part in draft.parts for call in part.calls if owners[call] is part)
            waiting = list(dict.fromkeys(owned))
        paired.append(draft)
    if waiting:
        paired.append(Draft("user", results=waiting))
    return paired


def render(scan: Scan, plan: Plan, read: Callable[[Node], Entry]) -> list[tuple[Message, tuple[str, ...]]]:
    """The messages with the uuids of their entries. `read` gives an entry's body."""
    return [
        ({"role": draft.role, "content": _content(scan, plan, draft, read)}, _sources(plan, draft))
        for draft in plan.drafts
    ]


def _content(scan: Scan, plan: Plan, draft: Draft, read: Callable[[Node], Entry]) -> list[Block]:
    found: list[Block] = []
    for call in draft.results:
        node = plan.answers.get(call)
        answer = _result(read(node), call) if node else None
        found.append(answer or repair(scan, plan.owners[call], call))
    taken: set[str] = set()
    for part in draft.parts:
        for block in content.blocks(read(part)):
            call = content.call_of(block) or ""
            if call and (call in taken or plan.owners.get(call) is not part):
                continue
            taken.add(call)
            if not content.result_of(block):
                found.append(block)
    return found or [{"type": "text", "text": LOST_BEGINNING}]


def _result(entry: Entry, call: str) -> Block | None:
    return next((block for block in content.blocks(entry) if content.result_of(block) == call), None)


def repair(scan: Scan, owner: Node, call: str) -> Block:
    """The result for a call that was cut off."""
    text = NO_EFFECT if effect(scan, owner, call) == "none" else UNKNOWN_EFFECT
    return {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": True}


def effect(scan: Scan, owner: Node, call: str) -> Effect:
    return "none" if owner.native and call not in scan.started else "unknown"


def _sources(plan: Plan, draft: Draft) -> tuple[str, ...]:
    answering = [plan.answers[call].uuid for call in draft.results if call in plan.answers]
    return tuple(dict.fromkeys([*answering, *(part.uuid for part in draft.parts)]))
