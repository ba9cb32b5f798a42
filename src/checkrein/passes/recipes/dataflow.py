"""Which step writes a variable, which reads it, and whether the value can still be good then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.expression import (
    Namespace,
    Reference,
    condition_references,
    references,
    references_in,
    texts_in,
)
from checkrein.model.recipe import BODY_ITEM, Step
from checkrein.passes.recipes.flow_graph import AHEAD, Edge, Flow
from checkrein.passes.recipes.paths import Names, met_after, met_ahead, met_before

_FAILURE_FIELDS = frozenset(("failed_step", "error", "state"))
_KEPT = ("true", "1", "yes")


class Read(Struct, frozen=True):
    """A reference in a step; `field` is its place there: `with.cmd`, `on_result[0].when`."""

    reference: Reference
    field: str


class Capture(Struct, frozen=True):
    """A variable of a step, with the expression that it takes and its place in the step."""

    variable: str
    expression: str
    field: str


class Stale(Struct, frozen=True):
    """A read of a variable after a step removed what it names."""

    step: Step
    read: Read
    remover: Step


def reads(step: Step) -> Iterator[Read]:
    """Every reference that the step itself makes; its bodies are flows of their own."""
    for name, value in step.with_args.items():
        yield from _texts(value, f"with.{name}")
    for one in captures(step):
        yield from _texts(one.expression, one.field)
    for number, arm in enumerate(step.on_result):
        field = f"on_result[{number}].when"
        yield from (Read(one, field) for one in condition_references(arm.when or ""))
    if step.kind == "foreach" and isinstance(step.subject, str):
        yield from (Read(one, "foreach") for one in condition_references(step.subject))
    elif step.subject is not None:
        yield from _texts(step.subject, step.kind)
    for field in ("message", "model", "gate", "queue"):
        yield from _texts(getattr(step, field), field)
    if step.skip_when_false:
        yield from (Read(one, "skip_when_false") for one in condition_references(step.skip_when_false))


def deep_reads(step: Step) -> Iterator[Read]:
    """The reads of a step and of all steps of its bodies."""
    pending = [step]
    while pending:
        one = pending.pop()
        yield from reads(one)
        pending += [inner for branch in one.branches for inner in branch.steps]


def needed(step: Step) -> frozenset[str]:
    """The variables that must have a value when the step starts, in its bodies too. Its own routes may read
    what it captures; a body knows its item."""
    own = writes(step)
    found = {
        one.reference.name
        for one in reads(step)
        if one.reference.namespace == "context"
        and not (one.field.startswith("on_result") and one.reference.name in own)
    }
    for branch in step.branches:
        made = {name for inner in branch.steps for name in deep_writes(inner)}
        for inner in branch.steps:
            found |= needed(inner) - made - {step.variable or BODY_ITEM}
    return frozenset(found) - {*step.optional_context_refs}


def names_read(step: Step, namespace: Namespace = "context", *, deep: bool = True) -> frozenset[str]:
    found = deep_reads(step) if deep else reads(step)
    return frozenset(one.reference.name for one in found if one.reference.namespace == namespace)


def captures(step: Step) -> Iterator[Capture]:
    for kind, captured in (("capture", step.capture), ("capture_list", step.capture_list)):
        for name, text in captured.items():
            yield Capture(name, text, f"{kind}.{name}")


def writes(step: Step) -> dict[str, str]:
    """Variables to the expressions that they take."""
    return {**step.capture, **step.capture_list}


def deep_writes(step: Step) -> frozenset[str]:
    """The variables of a step and of its bodies."""
    inner = (deep_writes(one) for branch in step.branches for one in branch.steps)
    return frozenset(writes(step)).union(*inner)


def results_read(step: Step) -> frozenset[str]:
    """The fields of its own result that a step reads."""
    return names_read(step, "result", deep=False)


def result_field(expression: str) -> str | None:
    """The field of the result that an expression takes first."""
    found = (one.name for one in references(expression) if one.namespace == "result")
    return next(found, None)


def producers(flow: Flow, variable: str) -> frozenset[str]:
    return frozenset(name for name, step in flow.steps.items() if variable in deep_writes(step))


def dead_outputs(flow: Flow, read_elsewhere: Iterable[str] = ()) -> Iterator[tuple[Step, Capture]]:
    """Variables that no step reads after the step that writes them. `read_elsewhere` are those that somebody
    outside this flow reads.

    A step that ends the flow leaves its variables as the outcome. One that routes by its result has used it.
    """
    asked_for = rule_facts().captures.asked_for
    numbers = Names(name for step in flow.steps.values() for name in writes(step))
    own = {name: numbers.bits(names_read(step)) for name, step in flow.steps.items()}
    everywhere = numbers.bits(read_elsewhere)
    if flow.owner is not None and flow.owner.kind == "foreach":
        for mask in own.values():
            everywhere |= mask
    later = met_after(flow, own)
    for step in flow.steps.values():
        ends = not any(edge.kind in AHEAD and edge.target in flow.steps for edge in flow.written[step.name])
        if not writes(step) or ends or any(arm.when for arm in step.on_result):
            continue
        used = everywhere | met_ahead(flow, step.name, own, later)
        for one in captures(step):
            if not used & numbers.bits([one.variable]) and result_field(one.expression) not in asked_for:
                yield step, one


def early_reads(flow: Flow) -> Iterator[tuple[Step, str, Step]]:
    """Steps that a path leads to past all steps that write a variable they need, and from there to one: with
    the variable and its first writer. Leaving a writer out is no such path."""
    made = {name: deep_writes(step) for name, step in flow.steps.items()}
    writers: dict[str, Step] = {}
    for step in flow.steps.values():
        for variable in sorted(made[step.name]):
            writers.setdefault(variable, step)
    numbers = Names(writers)
    own = {name: numbers.bits(found) for name, found in made.items()}
    before, after = met_before(flow, own), met_after(flow, own)
    for name, step in flow.steps.items():
        for variable in sorted(needed(step) & writers.keys()) if name in before else ():
            if numbers.bits([variable]) & after[name] & ~before[name]:
                yield step, variable, writers[variable]


def invalidated(flow: Flow) -> Iterator[Stale]:
    """Reads of a worktree, branch or clone behind the step that removes it."""
    for remover in flow.steps.values():
        for name in _removed(flow, remover):
            stop = producers(flow, name)
            targets = [edge.target for edge in flow.out[remover.name] if _follows_success(edge)]
            for reached in flow.reach(targets, stop=stop):
                step = flow.steps.get(reached)
                if step is None or step is remover:
                    continue
                for read in deep_reads(step):
                    names_it = read.reference.namespace == "context" and read.reference.name == name
                    if names_it and read.field != "message":
                        yield Stale(step, read, remover)
                        break


def _follows_success(edge: Edge) -> bool:
    """An arm for an error, or for the step that failed, follows a failure."""
    named = {one.name for one in condition_references(edge.when or "") if one.namespace == "result"}
    return edge.kind in AHEAD and not named & _FAILURE_FIELDS


def _removed(flow: Flow, step: Step) -> frozenset[str]:
    """The variables that lead nowhere once the step succeeded: what it was given to remove, and what came
    with that from the same step."""
    kinds = rule_facts().removes.get(step.tool or "", ())
    if not kinds or str(step.with_args.get("keep", "")).lower() in _KEPT:
        return frozenset()
    given = {one.name for kind in kinds for one in references_in(step.with_args.get(kind))}
    found: set[str] = set()
    for one in flow.steps.values():
        written = writes(one)
        if given & written.keys():
            found |= {name for name, text in written.items() if {name, result_field(text)} & {*kinds}}
            found |= given & written.keys()
    return frozenset(found)


def _texts(value: Any, field: str) -> Iterator[Read]:
    for inner, text in texts_in(value):
        place = f"{field}{inner}" if inner.startswith("[") else f"{field}.{inner}" if inner else field
        yield from (Read(one, place) for one in references(text))
