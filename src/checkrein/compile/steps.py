"""The steps of the pipeline, their procedures, and the closing step of a run that ends without an answer."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile import names
from checkrein.compile.elements import shorten
from checkrein.compile.models import Model
from checkrein.compile.program.work import Result, Way, Work, work_of
from checkrein.compile.values import Element, Mapping
from checkrein.facts.compile import Tag


class Step(Struct, frozen=True, kw_only=True):
    """One function of the pipeline. `slot` names its generative function, if any; `over` the function that
    lists what it is done for; `again` the function to repeat when its check fails; `sections` what it is told
    beside its text."""

    number: int
    function: str
    title: str
    tag: Tag
    text: str
    source: str
    constant: str
    result: Result = "text"
    slot: str | None = None
    labels: tuple[str, ...] = ()
    record: Model | None = None
    ways: tuple[Way, ...] = ()
    holds: str = ""
    when: tuple[str, str] | None = None
    each: str = ""
    over: str = ""
    again: str = ""
    drafted: bool = False
    procedure: str = ""
    lead: str = ""
    lines: tuple[int, int] = (0, 0)
    sections: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        return self.result in ("consent", "answer")

    @property
    def short(self) -> str:
        return f"{self.number:02}"


class Procedure(Struct, frozen=True):
    """Steps that a run takes together, when the request calls for them."""

    title: str
    steps: tuple[Step, ...]
    function: str = ""

    @property
    def about(self) -> str:
        done = "; ".join(step.title.rstrip(".:;") for step in self.steps)
        lead = self.steps[0].lead
        return shorten(f"{lead}: {done}" if lead else done, _ABOUT)


_ABOUT = 400
"""Characters of what a procedure does, in the text for the model."""
_WRITES = ("GENERATE", "TRANSFORM", "REMEDIATE")
_ANSWERS = ("text", "report", "record", "label", "way", "attempt", "outcome")


def draw_steps(
    mappings: tuple[Mapping, ...], by_id: dict[str, Element], *, plain: bool, classes: names.Unique
) -> tuple[Step, ...]:
    """The steps in order. With `plain` every step gives text: one conversation, or a stream."""
    found: list[Step] = []
    seen: set[str] = set()
    for mapping in mappings:
        base = mapping.element_id.split("-")[0]
        element = by_id.get(base)
        if element is None or element.step is None or base in seen:
            continue
        seen.add(base)
        slot = mapping.target_symbol if mapping.primitive == "@generative" else None
        function = (mapping.primitive_details and mapping.primitive_details.function) or mapping.target_symbol
        work = Work() if plain and slot is None else work_of(element, function, classes)
        found.append(_step(element, len(found) + 1, function, slot, work))
    return tuple(found) or (_respond(),)


def _step(element: Element, number: int, function: str, slot: str | None, work: Work) -> Step:
    from checkrein.compile.coverage import lines_of

    lines = lines_of(element.source_lines)
    return Step(
        number=number,
        function=function,
        title=element.title or element.content_summary,
        tag=element.tag,
        text=element.content_full,
        source=element.place,
        constant=function.upper(),
        result="items" if slot and work.result == "text" else work.result,
        slot=slot,
        labels=work.labels,
        record=work.model,
        ways=work.ways,
        holds=work.holds,
        each=work.each,
        again="" if work.again is None else str(work.again or "before"),
        drafted=element.prose.draft is not None,
        procedure=element.prose.procedure,
        lead=element.prose.lead,
        lines=(lines.start, lines.stop) if lines else (0, 0),
    )


def _respond() -> Step:
    """The one step of a spec without a procedure."""
    return Step(
        number=1,
        function="step_01_respond",
        title="Respond to the request",
        tag="GENERATE",
        text="Respond to the request. Follow the rules, and use what is known where it helps.",
        source="the whole spec",
        constant="STEP_01_RESPOND",
    )


def in_procedures(steps: tuple[Step, ...]) -> tuple[Procedure, ...]:
    """Empty when all steps are one procedure. A step without a procedure belongs to the one before."""
    grouped: list[tuple[str, list[Step]]] = []
    for step in steps:
        if grouped and step.procedure in ("", grouped[-1][0]):
            grouped[-1][1].append(step)
        else:
            grouped.append((step.procedure, [step]))
    if len(grouped) < 2:
        return ()
    given: Counter[str] = Counter()
    found: list[Procedure] = []
    unique = names.Unique()
    for title, members in grouped:
        given[title] += 1  # removed secrets leave the same words
        shown = title if given[title] == 1 else f"{title} ({given[title]})"
        name = unique.take(f"procedure_{names.phrase(shown, 'steps')}")
        found.append(Procedure(shown or members[0].title, tuple(members), name))
    return tuple(found)


def closing_of(last: Step, procedures: tuple[Procedure, ...]) -> Step | None:
    """The step that writes the answer when the last step gives an outcome, a choice or findings, not a text
    for a reader, or when any procedure may be the last. A label, or the spec's own fields, are answers."""
    open_end = bool(last.over or last.each or last.holds or last.when or last.asks)
    if last.result in _ANSWERS and not open_end and not procedures:
        return None
    return Step(
        number=last.number + 1,
        function="answer",
        title="Answer the request with what the steps gave",
        tag="GENERATE",
        text="Answer the request. Give the whole of what the steps made, with every fault that a check found"
        " put right. Do not tell about the steps. Follow the rules.",
        source="the whole spec",
        constant="ANSWER",
    )


def answering(steps: tuple[Step, ...], closing: Step | None) -> Step:
    """The step whose text is the answer: the last that writes something, since a step that saves or sends it
    comes later."""
    if closing is not None:
        return closing
    free = [step for step in steps if step.result in ("text", "report", "way", "attempt") and not step.over]
    written = [step for step in free if step.tag in _WRITES and not step.holds]
    return (written or free or list(steps))[-1]


def numbered_again(step: Step, steps: tuple[Step, ...]) -> Step:
    """A step with the function that `again` means: the step of that number in its procedure, or the last one
    before that makes something."""
    if not step.again:
        return step
    before = [one for one in steps if one.number < step.number and one.procedure == step.procedure]
    if step.again.isdigit():
        first = next((one.number for one in steps if one.procedure == step.procedure), 1)
        named = [one for one in before if one.number == first + int(step.again) - 1]
        before = named or before
    made = [one for one in before if one.result in ("text", "report", "outcome") and _is_simple(one)]
    return replace(step, again=made[-1].function if made else "")


def _is_simple(step: Step) -> bool:
    return not (step.over or step.each or step.holds or step.when or step.ways)
