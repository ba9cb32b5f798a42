"""Step 2: the target of each element, as one table that the emitters and the report both follow."""

from __future__ import annotations

from collections.abc import Iterable

from checkrein.compile.checks import check_of
from checkrein.compile.details import HookDetails, ReferenceDetails, ServerDetails, StepDetails
from checkrein.compile.models import RESERVED, model_name
from checkrein.compile.names import Unique, phrase, snake
from checkrein.compile.tools import tool_of
from checkrein.compile.values import Element, Mapping, ValidationKind
from checkrein.facts.compile import TAG_TARGETS, Primitive
from checkrein.facts.compile_rows import ROWS
from checkrein.facts.compile_words import CREDENTIAL

_TEXTS = {
    "C1": "PREFIX_TEXT",
    "C2": "OPERATING_RULES",
    "C3": "KNOWLEDGE",
    "C8": "ENVIRONMENT_NOTES",
    "—": "KNOWLEDGE",
}
_SLOTS = ("EXTRACT", "CLASSIFY")
_REPORT_ONLY = ("informational", "not_reproduced", "deferred")

Target = tuple[str, str, Primitive]


def map_elements(
    elements: Iterable[Element], *, chat: bool = False, streaming: bool = False
) -> tuple[Mapping, ...]:
    """One entry per element, three for a fix-and-check loop. `chat` keeps every step in one session and
    `streaming` makes the last one text that can arrive in pieces."""
    listed = tuple(elements)
    mapper = _Mapper(chat, streaming, listed)
    entries: list[Mapping] = []
    for element in listed:
        for suffix, target, more in mapper.targets(element):
            file, symbol, primitive = target
            entries.append(
                Mapping(
                    mapping_id=f"map_{len(entries) + 1:03}",
                    element_id=element.element_id + suffix,
                    target_file=file,
                    target_symbol=symbol,
                    primitive=primitive,
                    final_target_file=file,
                    primitive_details=more,
                    step_2_rationale=element.prose.why or element.dialect_rule_id,
                    dialect_override_applied=f"claude_code:{element.row}" if element.row else None,
                    validation_kind=_validation(element, primitive),
                )
            )
    return tuple(entries)


def _validation(element: Element, primitive: Primitive) -> ValidationKind | None:
    if primitive == "requirement":
        return "executable"
    if primitive == "Requirement":
        return "executable" if check_of(element) else "llm_judged"
    return None


class _Mapper:
    def __init__(self, chat: bool, streaming: bool, elements: tuple[Element, ...]) -> None:
        self.chat = chat
        steps = [element.element_id for element in elements if element.step is not None]
        self.streamed = steps[-1] if streaming and steps else None
        # A server whose tools are named stands for the first of them.
        self.servers: dict[str, str] = {}
        for element in elements:
            tool = tool_of(element)
            if tool is not None and tool.server and not isinstance(element.details, ServerDetails):
                self.servers.setdefault(tool.server, tool.function)
        self.names = Unique()
        self.classes = Unique(RESERVED)

    def targets(self, element: Element) -> list[tuple[str, Target, StepDetails | None]]:
        if element.sensitive and not element.content_full and element.row not in ("M-29",):
            return [("", ("mapping_report.md", "", "none"), StepDetails(reason="private"))]
        if element.step is not None:
            return self._step(element)
        if element.row is not None:
            found = self._row(element)
            if found is not None:
                return [("", found, None)]
        return [("", self._general(element), None)]

    def _step(self, element: Element) -> list[tuple[str, Target, StepDetails | None]]:
        number = element.step or 0
        slug = phrase(element.title or element.content_summary, "step")
        name = self.names.take(f"step_{number:02}_{slug}".rstrip("_"))
        details = StepDetails(step=number)
        plain = self.chat or (element.element_id == self.streamed and element.tag in _SLOTS)
        if plain or element.tag not in (*_SLOTS, "REMEDIATE"):
            primitive = TAG_TARGETS[element.tag].primitive
            if element.tag in _SLOTS or primitive in ("parameter", "bundle", "stub"):
                primitive = "m.instruct"
            return [("", ("pipeline.py", name, primitive), details)]
        if element.tag == "REMEDIATE":
            return [
                ("-mod", ("pipeline.py", name, "m.instruct"), details),
                ("-eval", ("pipeline.py", name, "m.instruct"), details),
                ("-loop", ("pipeline.py", name, "while_loop"), details),
            ]
        slot = f"{element.tag.lower()}_{name.removeprefix('step_')}"
        return [("", ("slots.py", slot, "@generative"), StepDetails(step=number, function=name))]

    def _row(self, element: Element) -> Target | None:
        row = ROWS[element.row or ""]
        if row.id in ("M-21", "M-22", "M-23", "M-24"):
            return None
        if row.outcome in _REPORT_ONLY:
            return row.file, "", "none"
        if isinstance(element.details, HookDetails):
            event = snake(element.details.event)
            return f"handlers/{event}.py", f"handle_{event}", "delegate"
        if row.category == "C6":
            tool = tool_of(element)
            assert tool is not None
            if tool.disposition == "real_impl":
                return "tools.py", tool.function, "real_impl"
            named = (
                self.servers.get(tool.server or "") if isinstance(element.details, ServerDetails) else None
            )
            return "constrained_slots.py", named or tool.function, "stub"
        if row.id == "M-29":
            return ".env.example", element.content_full, "parameter"
        return row.file, row.symbol, row.primitive

    def _general(self, element: Element) -> Target:
        tag, category = element.tag, element.category
        if isinstance(element.details, ReferenceDetails) and element.details.given == "never":
            return "mapping_report.md", "", "none"
        if isinstance(element.details, ReferenceDetails) or element.prose.reads:
            return "loader.py", "read", "loader_call"
        if tag == "NO_DECOMPOSE":
            return "mapping_report.md", "", "none"
        if tag == "VALIDATE_OUTPUT":
            return "requirements.py", "OPERATING_REQUIREMENTS", "Requirement"
        if tag == "SCHEMA":
            name = model_name(element)
            if name is None:
                return "config.py", "OUTPUT_TEMPLATES", "bundle"
            return "schemas.py", self.classes.take(name), "BaseModel"
        if category == "C6":
            tool = tool_of(element)
            assert tool is not None
            return "constrained_slots.py", tool.function, "stub"
        if category in ("C4", "C5"):
            symbol = "recall_memory" if category == "C4" else "recall_agent_memory"
            return "constrained_slots.py", symbol, "delegate"
        if category == "C9":
            return "config.py", "SCHEDULE_CONFIG", "delegate"
        if category == "C7":
            named = CREDENTIAL.search(element.content_full)
            if named is not None and "_" in named[0]:
                return ".env.example", named[0], "parameter"
            return "config.py", "ENVIRONMENT_NOTES", "bundle"
        if tag in ("CONVERSE", "TOOL_INPUT"):
            return "pipeline.py", "run_pipeline", "parameter"
        if tag == "DETERMINISTIC":
            table = element.content_full.lstrip().startswith("|")
            return "config.py", "LOOKUP_TABLES" if table else "OUTPUT_TEMPLATES", "bundle"
        return "config.py", _TEXTS.get(category, "OPERATING_RULES"), "bundle"
