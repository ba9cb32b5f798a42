"""What is known about values when a step starts, on every path to it.

A fact comes from an arm of `on_result` whose condition says that a reference equals a value. Where paths
join, only the facts of all of them stay. An arm that contradicts a fact is never taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from checkrein.model.expression import (
    Compare,
    Expression,
    Failure,
    Filtered,
    Logic,
    Reference,
    Template,
    Value,
    parse,
    parse_condition,
)
from checkrein.model.recipe import Step
from checkrein.passes.recipes.flow_graph import Edge, Flow

Facts = frozenset[tuple[Reference, str]]


def facts_at(flow: Flow) -> dict[str, Facts]:
    """The facts at each step that a run can reach; a step without an entry can't be reached. Skipped steps
    have nodes of their own."""
    known: dict[str, Facts] = dict.fromkeys(flow.starts, frozenset())
    pending = deque(flow.starts)
    while pending:
        name = pending.popleft()
        for edge in flow.out.get(name, ()):
            arriving = _along(edge, flow.steps.get(name), known[name])
            if arriving is None or edge.target not in flow.out:
                continue
            before = known.get(edge.target)
            after = arriving if before is None else before & arriving
            if after != before:
                known[edge.target] = after
                pending.append(edge.target)
    return known


def equalities(when: str) -> tuple[tuple[Reference, str], ...]:
    """The references that a condition sets equal to a value; all of them hold when it holds."""
    found = parse_condition(when)
    return () if isinstance(found, Failure) else tuple(_equalities(found))


def routed(step: Step, reference: str) -> frozenset[str]:
    """The values of a reference that a step has arms for."""
    found = (pair for arm in step.on_result for pair in compared(arm.when or ""))
    return frozenset(value for one, value in found if str(one) == reference)


def compared(when: str) -> tuple[tuple[Reference, str], ...]:
    """The references that a condition compares with a value by `==`, in any part of it."""
    found = parse_condition(when)
    return () if isinstance(found, Failure) else tuple(_equalities(found, through_or=True))


def _along(edge: Edge, step: Step | None, facts: Facts) -> Facts | None:
    """The facts behind an edge; None where they contradict its condition. A skip has no step."""
    said = equalities(edge.when) if edge.when is not None else ()
    for reference, value in said:
        if any(one == reference and _differ(value, other) for one, other in facts):
            return None
    captured = {**step.capture, **step.capture_list} if step is not None else {}
    kept = {
        (one, value)
        for one, value in facts
        if one.namespace != "result" and not (one.namespace == "context" and one.name in captured)
    }
    for reference, value in said:
        if reference.namespace != "result":
            kept.add((reference, value))
        kept |= {(Reference("context", name), value) for name in _holders(captured, reference)}
    return frozenset(kept)


def _holders(captured: Mapping[str, str], reference: Reference) -> Iterator[str]:
    """The variables that take the value of a reference, whole."""
    for name, text in captured.items():
        found = parse(text) if isinstance(text, str) else None
        if isinstance(found, Template) and len(found.parts) == 1 and _plain(found.parts[0]) == reference:
            yield name


def _equalities(expression: Expression, *, through_or: bool = False) -> Iterator[tuple[Reference, str]]:
    match expression:
        case Compare("==", left, right):
            for one, other in ((_plain(left), right), (_plain(right), left)):
                if one is not None and isinstance(other, Value):
                    yield one, other.text
        case Logic(operator, operands) if through_or or operator == "and":
            for operand in operands:
                yield from _equalities(operand, through_or=through_or)


def _plain(part: str | Expression) -> Reference | None:
    while isinstance(part, Filtered):
        part = part.operand
    return part if isinstance(part, Reference) else None


def _differ(one: str, other: str) -> bool:
    """Whether two values are certainly different; numbers may be equal in two spellings."""
    texts = one.strip().lower(), other.strip().lower()
    return texts[0] != texts[1] and not all(
        text.replace(".", "").replace("-", "").isdigit() for text in texts
    )
