"""The constants of config.py, with the source of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checkrein.compile.details import (
    LoopDetails,
    MetadataDetails,
    ScheduleDetails,
    ServerDetails,
    ToolDetails,
)
from checkrein.compile.values import Element, Mapping, Spec
from checkrein.facts import compile as facts
from checkrein.facts.compile import Category

_LISTS = ("OPERATING_RULES", "ENVIRONMENT_NOTES", "LOOKUP_TABLES", "OUTPUT_TEMPLATES")
_NO_HEADING = "General"
"""The title of facts above the first heading."""
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
    steps: list[tuple[str, str, str]],
    procedures: list[tuple[str, str, str]],
    loads: tuple[str, ...],
) -> tuple[Constant, ...]:
    """The constants in order of category. Text loaded from disk is not a constant; private elements never get
    here."""
    by_id = {element.element_id: element for element in elements}
    grouped: dict[str, list[Element]] = {}
    for mapping in mappings:
        element = by_id.get(mapping.element_id)
        if element is None or (element.sensitive and not element.content_full):
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
            found.append(_texts(name, category, told or members))
    found += _scalars(elements)
    found += [Constant(name, text, "str", "C2", (source,)) for name, text, source in steps]
    if procedures:
        titles = {title: about for title, about, _ in procedures}
        sources = tuple(source for _, _, source in procedures)
        found.append(Constant("PROCEDURES", titles, "dict[str, str]", "C2", sources))
    found += [
        Constant("BACKEND", facts.DEFAULT_BACKEND, "str", "C8", ("default",)),
        Constant("MODEL_ID", facts.DEFAULT_MODEL, "str", "C8", ("default",)),
    ]
    order = list(facts.CATEGORIES)
    return tuple(sorted((one for one in found if one is not None), key=lambda one: order.index(one.category)))


def _description(spec: Spec, elements: tuple[Element, ...]) -> Constant:
    parts = [e for e in elements if e.row == "M-02"]
    text = "\n".join(e.content_full for e in parts) or f"The skill {spec.name}."
    return Constant("AGENT_DESCRIPTION", text, "str", "C1", tuple(e.place for e in parts) or ("default",))


def _texts(name: str, category: Category, members: list[Element]) -> Constant:
    sources = tuple(element.place for element in members)
    if name == "PREFIX_TEXT":
        return Constant(name, "\n\n".join(map(_led, members)), "str", category, sources)
    if name == "COMMAND_TEMPLATES":
        return Constant(name, tuple(map(_commented, members)), "tuple[str, ...]", category, sources)
    if name in _LISTS:
        return Constant(name, tuple(_titled(members)), "tuple[str, ...]", category, sources)
    topics: dict[str, str] = {}
    for element in members:
        title = element.heading or _NO_HEADING
        topics[title] = f"{topics[title]}\n\n{_led(element)}" if title in topics else _led(element)
    return Constant(name, topics, "dict[str, str]", category, sources)


def _led(element: Element) -> str:
    """A text below the line that leads to it."""
    lead = element.prose.lead
    return f"{lead}\n\n{element.content_full}" if lead else element.content_full


def _commented(element: Element) -> str:
    """A command below what it is for, as a comment of the shell."""
    about = element.prose.lead or element.heading
    return f"# {about.rstrip(': ')}\n{element.content_full}" if about else element.content_full


def _titled(members: list[Element]) -> Iterator[str]:
    """The texts, each section's first one below its heading: `Never` says what the list under it means."""
    above = ""
    for element in members:
        heading = "" if element.step is not None else element.heading
        yield (f"## {heading}\n\n" if heading not in ("", above) else "") + _led(element)
        above = heading


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
