"""Where the gates of a spec stand in its program, so that nothing that can't be undone runs before a yes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from checkrein.compile.names import Unique, phrase
from checkrein.compile.program.gates import GateLine, actions_in, is_irreversible
from checkrein.compile.program.outline import Outline
from checkrein.facts.compile_gates import UNDOABLE


class Gate(Struct, frozen=True, kw_only=True):
    """A person decides before the step `before`; after the last one when that is empty. `questions` holds
    what the spec wants to be asked only on a condition, or in words."""

    function: str
    text: str
    lines: tuple[int, ...]
    before: str
    questions: bool = False


class Stand(Struct, frozen=True, kw_only=True):
    """A step where gates may stand: `asks` when it is itself a question to a person."""

    function: str
    title: str
    text: str
    lines: range
    procedure: str
    asks: bool


def place_gates(found: Sequence[GateLine], steps: Sequence[Stand], outline: Outline) -> tuple[Gate, ...]:
    """The gates in the order of the steps they stand before."""
    spots: dict[tuple[str, bool], list[GateLine]] = {}
    for one in found:
        for before in _spots(one, steps, outline):
            asked = bool(one.when) or one.open or _is_loose(one, steps, outline)
            spots.setdefault((before, asked), []).append(one)
    names = Unique()
    gates = [
        _gate(before, questions, lines, steps, names)
        for (before, questions), lines in spots.items()
        if questions or not any(step.function == before and step.asks for step in steps)
    ]
    gates += _missing(gates, found, steps, names)
    order = {step.function: at for at, step in enumerate(steps)}
    gates.sort(key=lambda gate: (order.get(gate.before, len(order)), not gate.questions))
    return tuple(gates)


def lines_of_asking_steps(
    found: Sequence[GateLine], steps: Sequence[Stand], outline: Outline
) -> tuple[int, ...]:
    """Lines whose gate is a step that asks a person."""
    asking = {step.function for step in steps if step.asks}
    inside = [one for one in found if set(_spots(one, steps, outline)) & asking]
    return tuple(sorted(_all(inside)))


def _is_loose(one: GateLine, steps: Sequence[Stand], outline: Outline) -> bool:
    """Whether it is a rule away from all steps that names none of their work: it holds when it applies."""
    line = one.lines[0]
    heading = outline.above(line)
    near = any(
        line in step.lines or outline.above(step.lines.start) == heading for step in steps if step.lines
    )
    firm = {name for name in one.actions if name not in UNDOABLE}
    return not near and not any(firm & set(actions_in(step.title)) for step in steps)


def _all(lines: Sequence[GateLine]) -> set[int]:
    return {number for one in lines for number in one.lines}


def _spots(one: GateLine, steps: Sequence[Stand], outline: Outline) -> list[str]:
    """The steps that a gate stands before."""
    line = one.lines[0]
    inside = next((at for at, step in enumerate(steps) if line in step.lines), None)
    if inside is not None:
        step = steps[inside]
        if step.asks:
            return [step.function]
        own = set(one.actions) - set(UNDOABLE) & set(actions_in(step.title))
        if one.when or one.open or (own and is_irreversible(step.title)) or is_irreversible(step.title):
            return [step.function]
        return [_next(steps, inside)]
    firm = [name for name in one.actions if name not in UNDOABLE]
    matching = [step.function for step in steps if not step.asks and set(firm) & set(actions_in(step.title))]
    if matching:
        return matching
    heading = outline.above(line)
    beside = [step for step in steps if outline.above(step.lines.start) == heading]
    if beside:
        if one.when or one.open:
            return [next((step.function for step in beside if not step.asks), beside[0].function)]
        later = next((step.function for step in beside if step.lines.start > line and not step.asks), None)
        return [later] if later is not None else [_next(steps, steps.index(beside[-1]))]
    if one.when or one.open:
        return [steps[0].function]
    final = [step.function for step in steps if not step.asks and is_irreversible(step.title)]
    acting = [step.function for step in steps if not step.asks and actions_in(step.title)]
    return final or acting[:1] or [steps[-1].function]


def _next(steps: Sequence[Stand], at: int) -> str:
    """The step after one, in the same procedure; empty after the last."""
    for step in steps[at + 1 :]:
        if not step.asks:
            return step.function if step.procedure == steps[at].procedure else ""
    return ""


def _gate(
    before: str, questions: bool, lines: Sequence[GateLine], steps: Sequence[Stand], names: Unique
) -> Gate:
    title = next((step.title for step in steps if step.function == before), "finish")
    kind = "questions" if questions else "gate"
    number = next((at for at, step in enumerate(steps, 1) if step.function == before), len(steps) + 1)
    return Gate(
        function=names.take(f"{kind}_{number:02}_{phrase(title, 'go_on')}".rstrip("_")),
        text="\n".join(dict.fromkeys(one.text for one in lines)),
        lines=tuple(sorted(_all(lines))),
        before=before,
        questions=questions,
    )


def _missing(
    gates: Sequence[Gate], found: Sequence[GateLine], steps: Sequence[Stand], names: Unique
) -> list[Gate]:
    """A gate before every step that can't be undone and that no firm gate before it covers, when the text has
    a gate above it."""
    firm = {gate.before for gate in gates if not gate.questions}
    made: list[Gate] = []
    asked: set[str] = set()
    for at, step in enumerate(steps):
        if step.asks or step.function in firm:
            asked.add(step.procedure)
            continue
        above = [one for one in found if one.lines[0] < step.lines.start]
        if not is_irreversible(step.title) or not above or step.procedure in asked:
            continue
        text = f"This can't be undone: {step.title}"
        name = names.take(f"gate_{at + 1:02}_{phrase(step.title, 'go_on')}".rstrip("_"))
        made.append(Gate(function=name, text=text, lines=(), before=step.function))
        asked.add(step.procedure)
    return made
