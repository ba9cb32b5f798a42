"""The module `pipeline.py` of a package: its functions, its program and what both import."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from checkrein.compile import literals, sheets
from checkrein.compile.blueprint import Blueprint
from checkrein.compile.program.flow import alias, block
from checkrein.compile.traits import Traits


def aliases(b: Blueprint) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Types with a name: the procedures, the topics, and the labels and cases of steps."""
    if b.procedures:
        yield (
            "ProcedureName",
            tuple(one.title for one in b.procedures),
            "The separate procedures of the spec.",
        )
    if b.program.topics:
        yield "Topic", b.program.topics, "The chapters of the spec that only some requests are about."
    for step in b.steps:
        if step.ways:
            yield alias(step), tuple(one.label for one in step.ways), f"The cases of {step.function}."
        elif step.result == "label":
            yield alias(step), step.labels, f"The labels of {step.function}."


def notes(b: Blueprint, t: Traits) -> frozenset[str]:
    """The notes that the program makes of a run."""
    flow = t.flow
    lines = [line for one in b.procedures for line in flow.lines(one.steps)] or flow.lines(b.steps)
    written = "\n".join((*lines, *flow.after(), *(_TOPICS_CHECK if b.program.topics else ())))
    found = {name for name in ("stop", "leave", "fail") if f"run.{name}(" in written}
    return frozenset(found | ({"stop"} if b.questions else set()))


def pipeline_sheet(b: Blueprint, t: Traits) -> sheets.PipelineSheet:
    flow = t.flow
    functions = tuple(flow.functions())
    procedures = tuple((one.function, one.title, block(flow.lines(one.steps))) for one in b.procedures)
    program = [] if b.procedures else flow.lines(b.steps)
    if b.procedures:
        program = ["for title in choose_procedures(run):", "    PROCEDURES[title](run)"]
    if b.program.topics:
        program = ["topics = choose_topics(run)", *_TOPICS_CHECK, *program]
    written = "\n".join(
        (*functions, *(lines for _, _, lines in procedures), block([*program, *flow.after()]))
    )
    return sheets.PipelineSheet(
        b=b,
        chat=t.chat,
        streaming=t.streaming,
        final=t.final,
        functions=functions,
        procedures=procedures,
        program=block([*program, *flow.after()]),
        steps_doc="Only the procedures that the request calls for."
        if b.procedures
        else "The program of the spec.",
        parameters=t.extra,
        collections=_collections(b, t, written),
        typing_names=_typing_names(t),
        pipeline_doc=_pipeline_doc(b),
        pipeline_imports=_pipeline_imports(b, t.chat, written),
        schema_imports=_schema_imports(b, t, written),
        session_imports=literals.imports(
            ".session", ["Run", "StoppedError", *([] if t.chat else ["open_session"])]
        ),
        run_doc=_run_doc(b, t.streaming),
    )


_TOPICS_CHECK = (
    "if not topics:",
    '    run.leave("choose_topics", "no chapter of the spec is about the request")',
)


def _collections(b: Blueprint, t: Traits, written: str) -> str:
    names = [
        *(["Callable"] if b.procedures else []),
        *(["Generator", "Iterator"] if t.streaming else []),
        *(["Sequence"] if "Sequence[str]" in written else []),
    ]
    return ", ".join(names)


def _typing_names(t: Traits) -> str:
    names = ["Any", "TYPE_CHECKING"] if t.chat else []
    names += ["Literal"] if any("Literal[" in one.annotation for one in t.extra) and not t.chat else []
    return ", ".join(sorted(names, key=lambda name: (not name.isupper(), name)))


def _schema_imports(b: Blueprint, t: Traits, written: str) -> str:
    used = {node.id for node in ast.walk(ast.parse(written)) if isinstance(node, ast.Name)}
    known = {"Outcome", "Verdict", "ProcedureName", "Topic", "gaps", *(name for name, _, _ in aliases(b))}
    known |= {model.name for model in (*b.models, *b.records)}
    wanted = known & used | ({"ProcedureName"} if b.procedures else set())
    wanted |= {"SkillResult"} if not t.chat else set()
    return literals.imports(".schemas", wanted) if wanted else ""


def _pipeline_doc(b: Blueprint) -> str:
    count = len(b.steps)
    if b.procedures:
        return f"The steps of the spec, {count} in {len(b.procedures)} procedures."
    return f"The steps of the spec, in order: {count} of them." if count > 1 else "The one step of the spec."


def _run_doc(b: Blueprint, streaming: bool) -> str:
    if streaming:
        return "Run the program and yield the text of its last step as it arrives; returns a SkillResult."
    what = "the procedures that a request calls for" if b.procedures else "the program on a request"
    return f"Run {what}. Raises ValueError when the request is empty."


def _pipeline_imports(b: Blueprint, chat: bool, written: str) -> str:
    wanted = [] if chat else ["__agent_name__"]
    if "config." in written:
        wanted.append("config")
    if b.memory:
        wanted.append("constrained_slots")
    return literals.imports(".", wanted) if wanted else ""
