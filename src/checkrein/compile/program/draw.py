"""The program of a spec: its steps with loops, conditions and gates, who is told what, and the report."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile.headings import role_of
from checkrein.compile.models import Model
from checkrein.compile.names import Unique
from checkrein.compile.program import reports
from checkrein.compile.program.context import GENERAL, Place, assign, words_of
from checkrein.compile.program.gate_places import Gate, Stand, lines_of_asking_steps, place_gates
from checkrein.compile.program.gates import GateLine, read_gates
from checkrein.compile.program.lists import boxes_in
from checkrein.compile.program.outline import Outline, read_outline
from checkrein.compile.program.work import check_model
from checkrein.compile.steps import Procedure, Step, answering, closing_of, in_procedures, numbered_again
from checkrein.compile.values import Element, Spec

RESPOND = "step_01_respond"
_OWN_CHECK = re.compile(r"\b(?:self-?)?check|\bverif|\breview|\bquality\b", re.IGNORECASE)
"""Questions below such a heading are for the agent itself."""
SHAPES = "Shapes"
"""The section with the types that the spec gives beside that of the answer."""
_LEAST_TOPICS = 2
_MOST_TOPICS = 40
_TOPIC_TITLE = 90
_MOST_CHECKS = 12
_LISTS = ("items", "records")
_ALWAYS = ("rule", "when", "output", "purpose", "identity")
"""Roles of chapters that hold for every request."""
_TOLD = ("CONFIG", "DETERMINISTIC", "TOOL_TEMPLATE", "CONVERSE", "SCHEMA", "TOOL_INPUT")


class Program(Struct, frozen=True, kw_only=True):
    """`told` maps elements to their sections. `topics` are sections of which a run takes those that the
    request is about. `checks` is the last look at the answer. `shapes` says that the spec gives types which
    no step has; `asked` are the lines whose gate is a step."""

    steps: tuple[Step, ...]
    procedures: tuple[Procedure, ...]
    closing: Step | None
    gates: tuple[Gate, ...]
    topics: tuple[str, ...]
    told: dict[str, str]
    report: reports.Report | None
    checks: Model | None
    shapes: bool
    asked: tuple[int, ...]

    @property
    def answer(self) -> Step:
        return answering(self.steps, self.closing)


def draw_program(
    spec: Spec,
    steps: tuple[Step, ...],
    elements: Sequence[Element],
    *,
    plain: bool,
    chat: bool,
    classes: Unique,
    output_model: str | None,
    models: int = 0,
) -> Program:
    """`plain` programs give text only; one conversation (`chat`) has no separate procedures either."""
    outline = read_outline(spec.body, spec.body_line)
    lines = read_gates(outline)
    steps = _asking(steps, lines)
    if not plain:
        steps = tuple(_looped(step, steps) for step in steps)
        steps = tuple(_routed(step, steps) for step in steps)
        steps = tuple(numbered_again(step, steps) for step in steps)
    procedures = () if chat else in_procedures(steps)
    closing = None if chat else closing_of(steps[-1], procedures)
    gates = place_gates(lines, [_stand(step) for step in steps], outline)
    if plain:
        gates = tuple(replace(gate, questions=False) for gate in gates if not gate.questions)
    answer = answering(steps, closing)
    report = None if plain or output_model else _report(elements, answer, classes)
    checks = None if plain else _checks(elements, steps, spec, classes)
    if (report is not None or (output_model and not plain)) and answer.result == "text" and not answer.ways:
        steps = tuple(
            replace(one, result="report") if one.function == answer.function else one for one in steps
        )
        closing = replace(closing, result="report") if closing is not None else None
    else:
        report = None
    places = [
        Place(one.function, one.title, range(*one.lines), told=not one.asks) for one in steps if one.lines[1]
    ]
    told = assign(_tellable(elements), places, outline, spec.file, answer.function)
    reported = any(one.result == "report" for one in (*steps, *((closing,) if closing else ())))
    shapes = models > int(reported and output_model is not None) and not plain
    if shapes:
        told.given[answer.function] = (*told.given[answer.function], SHAPES)
    topics: tuple[str, ...] = ()
    sections, given = told.sections, told.given
    if not plain and steps[0].function == RESPOND:
        topics, sections = _topics(elements, told.sections, outline, spec)
        always = tuple(dict.fromkeys(name for name in sections.values() if name not in topics))
        given = {RESPOND: (*always, *((SHAPES,) if shapes else ()))}
    steps = tuple(replace(step, sections=given.get(step.function, ())) for step in steps)
    closing = replace(closing, sections=given.get(closing.function, ())) if closing is not None else None
    procedures = tuple(
        replace(one, steps=tuple(steps[step.number - 1] for step in one.steps)) for one in procedures
    )
    return Program(
        steps=steps,
        procedures=procedures,
        closing=closing,
        gates=gates,
        topics=topics,
        told=sections,
        report=report,
        checks=checks,
        shapes=shapes,
        asked=lines_of_asking_steps(lines, [_stand(step) for step in steps], outline),
    )


def _asking(steps: tuple[Step, ...], gates: Sequence[GateLine]) -> tuple[Step, ...]:
    """A step that turns to a person waits for a yes, or for an answer in words."""
    found: list[Step] = []
    for step in steps:
        if step.tag != "CONVERSE":
            found.append(step)
            continue
        own = [one for one in gates if one.lines[0] in range(*step.lines)]
        if not own and _OWN_CHECK.search(step.procedure):
            found.append(replace(step, result="verdict", slot=None))
            continue
        in_words = (not own and step.title.endswith("?")) or any(one.open for one in own[:1])
        closed = bool(own) and not in_words
        found.append(
            replace(step, result="consent" if closed else "answer", each="", holds="", ways=(), slot=None)
        )
    return tuple(found)


def _looped(step: Step, steps: tuple[Step, ...]) -> Step:
    """A step for each of several things loops over the last list before it, the one of its noun first."""
    if not step.each or step.asks or step.holds:
        return replace(step, each="") if step.each else step
    before = [
        one
        for one in steps
        if one.number < step.number
        and one.procedure == step.procedure
        and one.result in _LISTS
        and not one.each
    ]
    noun = words_of(step.each)
    named = [one for one in before if noun & words_of(f"{one.title} {one.text[:200]}")]
    chosen = (named or before)[-1:] if before else []
    return replace(step, over=chosen[0].function if chosen else f"items_{step.short}")


def _routed(step: Step, steps: tuple[Step, ...]) -> Step:
    """A condition that names a label of a step before it is a comparison, not a question to the model."""
    if not step.holds:
        return step
    for one in reversed(steps[: step.number - 1]):
        if one.result != "label" or one.procedure != step.procedure:
            continue
        named = [label for label in one.labels if re.search(rf"\b{re.escape(label)}\b", step.holds, re.I)]
        if len(named) == 1:
            return replace(step, holds="", when=(one.function, named[0]))
    return step


def _stand(step: Step) -> Stand:
    return Stand(
        function=step.function,
        title=step.title,
        text=step.text,
        lines=range(*step.lines),
        procedure=step.procedure,
        asks=step.asks,
    )


def _report(elements: Sequence[Element], answer: Step, classes: Unique) -> reports.Report | None:
    if answer.result != "text" or answer.over or answer.holds or answer.ways:
        return None
    templates = [
        one
        for one in elements
        if one.tag == "DETERMINISTIC" and one.row is None and not one.content_full.lstrip().startswith("|")
    ]
    return reports.report_of(templates, classes)


def _checks(
    elements: Sequence[Element], steps: tuple[Step, ...], spec: Spec, classes: Unique
) -> Model | None:
    """The boxes to tick that stand outside the steps: a last look at the answer."""
    inside = {line for step in steps for line in range(*step.lines)}
    lines: list[str] = []
    for element in elements:
        if (
            element.source_file != spec.file
            or element.step is not None
            or not element.source_lines[:1].isdigit()
        ):
            continue
        start = int(element.source_lines.split("-")[0])
        if start not in inside:
            text = element.content_full
            boxed = text if text.lstrip().startswith(("-", "*", "[", "☐", "□", "```")) else ""
            lines += boxes_in(boxed)
    unique = [line for line in dict.fromkeys(lines) if 3 < len(line) <= 200]
    if len(unique) < 2:
        return None
    return check_model(
        unique[:_MOST_CHECKS], "final", classes, "The last look at the answer: one line of the list each."
    )


def _tellable(elements: Sequence[Element]) -> list[Element]:
    return [
        one
        for one in elements
        if one.step is None
        and one.tag in _TOLD
        and not one.source_lines.startswith("frontmatter.")
        and one.category not in ("C1", "C4", "C5", "C7", "C9")
        and not (one.sensitive and not one.content_full)
    ]


def _topics(
    elements: Sequence[Element], sections: dict[str, str], outline: Outline, spec: Spec
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The chapters of a spec without steps, and the elements by chapter. A chapter on rules, or text above
    the first one, is always told. When a document has few chapters, those below them count."""
    own = {
        one.element_id: int(one.source_lines.split("-")[0])
        for one in elements
        if one.element_id in sections and one.source_file == spec.file and one.source_lines[:1].isdigit()
    }
    for depth in (1, 2, 3):
        chapters = {one: outline.chapter(line, depth) for one, line in own.items()}
        topics = tuple(dict.fromkeys(topic for topic in chapters.values() if _is_topic(topic)))
        if _LEAST_TOPICS <= len(topics) <= _MOST_TOPICS:
            return topics, {one: chapters.get(one) or name for one, name in sections.items()}
    return (), sections


def _is_topic(title: str) -> bool:
    return 0 < len(title) <= _TOPIC_TITLE and title != GENERAL and role_of(title) not in _ALWAYS
