"""The steps of the pipeline, their procedures, and the closing step of a run that ends without an answer."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile import names
from checkrein.compile.answers import labels_of, record_of, sorts_several
from checkrein.compile.elements import shorten
from checkrein.compile.models import Model
from checkrein.compile.values import Element, Mapping
from checkrein.facts.compile import Tag


class Step(Struct, frozen=True, kw_only=True):
    """`kind` is the method of a run that performs it; `slot` names its generative function, if any."""

    number: int
    function: str
    title: str
    tag: Tag
    kind: str
    text: str
    source: str
    constant: str
    slot: str | None = None
    labels: tuple[str, ...] = ()
    record: Model | None = None
    drafted: bool = False
    procedure: str = ""
    lead: str = ""


class Procedure(Struct, frozen=True):
    """Steps that a run takes together, when the request calls for them."""

    title: str
    steps: tuple[Step, ...]

    @property
    def about(self) -> str:
        done = "; ".join(step.title.rstrip(".:;") for step in self.steps)
        lead = self.steps[0].lead
        return shorten(f"{lead}: {done}" if lead else done, _ABOUT)


_ABOUT = 400
"""Characters of what a procedure does, in the text for the model."""
_KINDS = {"DECIDE": "decide", "VALIDATE_DOMAIN": "judge", "REMEDIATE": "remediate"}


def draw_steps(
    mappings: tuple[Mapping, ...], by_id: dict[str, Element], *, chat: bool, classes: names.Unique
) -> tuple[Step, ...]:
    """The steps in order. One conversation uses only plain text: shapes of one step would affect the next."""
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
        kind = "fill" if slot else "instruct" if chat else _KINDS.get(element.tag, "instruct")
        found.append(
            Step(
                number=len(found) + 1,
                function=function,
                title=element.title or element.content_summary,
                tag=element.tag,
                kind=kind,
                text=element.content_full,
                source=element.place,
                constant=function.upper(),
                slot=slot,
                labels=labels_of(element) if element.tag == "CLASSIFY" and not sorts_several(element) else (),
                drafted=element.prose.draft is not None,
                record=record_of(element, function, classes) if element.tag == "EXTRACT" and slot else None,
                procedure=element.prose.procedure,
                lead=element.prose.lead,
            )
        )
    if found:
        return tuple(found)
    return (
        Step(
            number=1,
            function="step_01_respond",
            title="Respond to the request",
            tag="GENERATE",
            kind="instruct",
            text="Respond to the request. Follow the rules, and use what is known where it helps.",
            source="the whole spec",
            constant="STEP_01_RESPOND",
        ),
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
    for title, members in grouped:
        given[title] += 1  # removed secrets leave the same words
        shown = title if given[title] == 1 else f"{title} ({given[title]})"
        found.append(Procedure(shown or members[0].title, tuple(members)))
    return tuple(found)


def closing_of(last: Step, procedures: tuple[Procedure, ...]) -> Step | None:
    """The step that writes the answer when the last step gives an outcome, a choice or findings, not a text
    for a reader, or when any procedure may be the last. A label, or the spec's own fields, are answers."""
    facts_alone = last.kind == "fill" and not last.labels and last.record is None
    if last.kind not in ("judge", "decide") and not facts_alone and not procedures:
        return None
    return Step(
        number=last.number + 1,
        function="answer",
        title="Answer the request with what the steps gave",
        tag="GENERATE",
        kind="instruct",
        text="Answer the request. Give the whole of what the steps made, with every fault that a check found"
        " put right. Do not tell about the steps. Follow the rules.",
        source="the whole spec",
        constant="ANSWER",
    )


def streamed(step: Step) -> Step:
    """The last step of a stream, as text that can arrive in pieces."""
    return replace(step, kind="stream_remediation" if step.kind == "remediate" else "stream")
