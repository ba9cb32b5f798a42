"""The constants of config.py, with the source of each."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.compile.details import (
    LoopDetails,
    MetadataDetails,
    ScheduleDetails,
    ServerDetails,
    ToolDetails,
)
from checkrein.compile.program.context import GENERAL
from checkrein.compile.values import Element, Mapping, Spec
from checkrein.facts import compile as facts
from checkrein.facts.compile import Category

_NAMED: dict[str, Category] = {
    "PREFIX_TEXT": "C1",
    "OPERATING_RULES": "C2",
    "KNOWLEDGE": "C3",
    "LOOKUP_TABLES": "C3",
    "OUTPUT_TEMPLATES": "C3",
    "COMMAND_TEMPLATES": "C6",
    "ENVIRONMENT_NOTES": "C8",
}
_SCALARS: dict[str, tuple[str, Category]] = {
    "M-04": ("COMPATIBILITY_NOTE", "C8"),
    "M-17": ("DEFAULT_SHELL", "C8"),
    "M-19": ("MODEL_NAME", "C8"),
    "M-20": ("REASONING_EFFORT", "C8"),
    "M-32": ("DEFAULT_PERMISSION_MODE", "—"),
}


class Constant(Struct, frozen=True, gc=False):
    name: str
    value: Any
    annotation: str
    category: Category
    sources: tuple[str, ...]


def collect_constants(
    spec: Spec,
    elements: tuple[Element, ...],
    mappings: tuple[Mapping, ...],
    *,
    texts: list[tuple[str, str, str]],
    tables: list[tuple[str, dict[str, str], tuple[str, ...]]],
    loads: tuple[str, ...],
    sections: dict[str, str],
) -> tuple[Constant, ...]:
    """The constants in order of category. `texts` are the prompts of the program, `tables` texts by name.
    What is told beside them is grouped by section. Text loaded from disk is not a constant; private elements
    never get here."""
    by_id = {element.element_id: element for element in elements}
    grouped: dict[str, list[Element]] = {}
    for mapping in mappings:
        element = by_id.get(mapping.element_id)
        if element is None or (element.sensitive and not element.content_full):
            continue
        if element.element_id not in sections and not _is_always_told(element, mapping):
            continue
        symbol = mapping.target_symbol
        if mapping.target_file == "config.py" and symbol in _NAMED:
            grouped.setdefault(symbol, []).append(element)
        elif element.tag == "TOOL_TEMPLATE" and not isinstance(element.details, ToolDetails | ServerDetails):
            grouped.setdefault("COMMAND_TEMPLATES", []).append(element)
        elif mapping.primitive == "parameter" and element.tag == "CONVERSE" and element.step is None:
            grouped.setdefault("OPERATING_RULES", []).append(element)
        elif mapping.primitive == "BaseModel":
            continue
    found = [_description(spec, elements)]
    for name, category in _NAMED.items():
        members = grouped.get(name)
        if members and name not in loads:
            told = [one for one in members if not one.prose.carried]
            found.append(_texts(name, category, told or members, sections))
    found += _scalars(elements)
    found += [Constant(name, text, "str", "C2", (source,)) for name, text, source in texts]
    found += [Constant(name, table, "dict[str, str]", "C2", sources) for name, table, sources in tables]
    found += [
        Constant("BACKEND", facts.DEFAULT_BACKEND, "str", "C8", ("default",)),
        Constant("MODEL_ID", facts.DEFAULT_MODEL, "str", "C8", ("default",)),
    ]
    order = list(facts.CATEGORIES)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: order.index(one.category)))


def _is_always_told(element: Element, mapping: Mapping) -> bool:
    """Whether it is told with no section: the system prompt. What is inside a step is told with it."""
    return mapping.target_symbol == "PREFIX_TEXT" or element.row is not None


def _description(spec: Spec, elements: tuple[Element, ...]) -> Constant:
    parts = [e for e in elements if e.row == "M-02"]
    text = "\n".join(e.content_full for e in parts) or f"The skill {spec.name}."
    return Constant("AGENT_DESCRIPTION", text, "str", "C1", tuple(e.place for e in parts) or ("default",))


def _texts(name: str, category: Category, members: list[Element], sections: dict[str, str]) -> Constant:
    sources = tuple(element.place for element in members)
    if name == "PREFIX_TEXT":
        return Constant(name, "\n\n".join(map(_led, members)), "str", category, sources)
    told: dict[str, str] = {}
    for element in members:
        title = sections.get(element.element_id, element.heading or GENERAL)
        text = _commented(element) if name == "COMMAND_TEMPLATES" else _titled(element, title)
        told[title] = f"{told[title]}\n\n{text}" if title in told else text
    return Constant(name, told, "dict[str, str]", category, sources)


def _titled(element: Element, section: str) -> str:
    """A text below its own heading, when the section has another name: `Never` says what a list means."""
    heading = "" if element.step is not None or element.heading == section else element.heading
    shown = f"## {heading}\n\n" if heading and not section.startswith(heading) else ""
    return shown + _led(element)


def _led(element: Element) -> str:
    """A text below the line that leads to it."""
    lead = element.prose.lead
    return f"{lead}\n\n{element.content_full}" if lead else element.content_full


def _commented(element: Element) -> str:
    """A command below what it is for, as a comment of the shell."""
    about = element.prose.lead or element.heading
    return f"# {about.rstrip(': ')}\n{element.content_full}" if about else element.content_full


def _scalars(elements: tuple[Element, ...]) -> list[Constant]:
    found: dict[str, Constant] = {}
    metadata: dict[str, str] = {}
    sources: list[str] = []
    for element in elements:
        if element.sensitive:
            continue
        if element.row in _SCALARS:
            name, category = _SCALARS[element.row]
            found[name] = Constant(name, element.content_full, "str", category, (element.place,))
        elif isinstance(element.details, MetadataDetails):
            metadata[element.details.key] = element.content_full
            sources.append(element.place)
        elif isinstance(element.details, LoopDetails | ScheduleDetails):
            known = element.details
            schedule = {
                "type": known.schedule if isinstance(known, ScheduleDetails) else "session_loop",
                "cadence": known.cadence or "unspecified",
            }
            found["SCHEDULE_CONFIG"] = Constant(
                "SCHEDULE_CONFIG", schedule, "dict[str, str]", "C9", (element.place,)
            )
    constants = list(found.values())
    if metadata:
        constants.append(Constant("METADATA", metadata, "dict[str, str]", "—", tuple(sources)))
    return constants
