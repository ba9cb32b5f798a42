"""What the files beside a spec are for: scripts are commands, references are texts, assets are only copied.

A step gets each reference that it names. Every step gets the references that the body names elsewhere, as
long as there is room; the others are only carried, and a warning says so.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile.companions import Companion
from checkrein.compile.details import Given, ReferenceDetails, ScriptDetails
from checkrein.compile.elements import cleaned, line_range, shorten
from checkrein.compile.values import Element, SourceFile
from checkrein.facts import compile as facts

_DOC = re.compile(r"^\s*(?:#+\s+|\"{3}|'{3}|//\s*|<#\s*|/\*+\s*)([^\n]+?)(?:\"{3}|\*/|#>)?\s*$", re.MULTILINE)

_DOC_LINE = 400


class Reference(Struct, frozen=True):
    """`name` is its name in the text, `path` its place in the package."""

    name: str
    path: str
    given: Given
    digest: str


class Beside(Struct, frozen=True):
    """What the files beside a spec add to its inventory."""

    files: tuple[SourceFile, ...]
    elements: tuple[Element, ...]
    warnings: tuple[str, ...]


def role_of(companion: Companion) -> str:
    folder = companion.path.split("/", 1)[0]
    ending = os.path.splitext(companion.name)[1].lower()
    if folder == "assets":
        return "asset, carried"
    if folder == "scripts":
        return "C6 script" if ending in facts.RUNNERS else "carried with the scripts"
    if ending in facts.PROSE:
        return "C3 reference"
    return "C5 structured data" if ending in facts.DATA else "carried with the references"


def beside(base: str, companions: Iterable[Companion], elements: list[Element], body: str) -> Beside:
    """Files, elements and warnings. `base` is the spec's directory below the workspace; `elements` are those
    of the spec: lines that only point to a file become loads of it."""
    files: list[SourceFile] = []
    found: list[Element] = []
    warnings: list[str] = []
    steps = "\n".join(element.content_full for element in elements if element.step is not None)
    room = facts.REFERENCE_CHARS
    names: dict[str, str] = {}
    for companion in companions:
        shown = f"{base}/{companion.name}" if base else companion.name
        role = role_of(companion)
        read = role.startswith("C")
        rule = f"agent_skills_std:2b:{companion.path.split('/', 1)[0]}"
        files.append(SourceFile(path=shown, role=role, rule=rule, read=read))
        if not read:
            continue
        text = companion.data.decode("utf-8", "replace")
        if role == "C6 script":
            found.append(_script(companion, shown, rule, text))
            continue
        given: Given = "never"
        if companion.name in steps:
            given = "named"
        elif companion.name in body:
            given = "always" if len(text) <= room else "never"
            room -= len(text) if given == "always" else 0
            if given == "never":
                warnings.append(f"{companion.name} is carried, but too long for every step")
        names[companion.name] = companion.path
        found.append(_reference(companion, shown, rule, text, given, role))
    _point(elements, names)
    return Beside(tuple(files), tuple(found), tuple(warnings))


def _script(companion: Companion, shown: str, rule: str, text: str) -> Element:
    runner = facts.RUNNERS[os.path.splitext(companion.name)[1]]
    head = (line[:_DOC_LINE] for line in text.split("\n")[:20] if not line.startswith("#!"))
    doc = _DOC.search("\n".join(head))
    about = f": {shorten(doc[1], 80)}" if doc else ""
    return cleaned(
        Element(
            source_file=shown,
            source_lines=line_range(1, max(1, text.count("\n"))),
            tag="TOOL_TEMPLATE",
            category="C6",
            content_summary=f"Script {companion.name}{about}",
            content_full=f"{runner} {companion.path}{f'  # {shorten(doc[1], 80)}' if doc else ''}",
            dialect_rule_id=rule,
            signal=f"script:{companion.path}",
            details=ScriptDetails(script=companion.path),
        )
    )


def _reference(companion: Companion, shown: str, rule: str, text: str, given: Given, role: str) -> Element:
    title = re.search(r"^#+\s+(\S.*)$", text, re.MULTILINE)
    return cleaned(
        Element(
            source_file=shown,
            source_lines=line_range(1, max(1, text.count("\n"))),
            tag="TOOL_INPUT",
            category="C3" if role == "C3 reference" else "C5",
            content_summary=f"{companion.name}: {shorten(title[1], 80)}" if title else companion.name,
            content_full=companion.name,
            dialect_rule_id=rule,
            signal=f"reference:{companion.path}",
            details=ReferenceDetails(
                reads=companion.path,
                named=companion.name,
                given=given,
                digest=hashlib.sha256(companion.data).hexdigest()[:16],
            ),
        )
    )


def _point(elements: list[Element], names: dict[str, str]) -> None:
    """A line that only points to a file loads it, when the file exists."""
    for index, element in enumerate(elements):
        if element.tag != "NO_DECOMPOSE" or not names:
            continue
        read = tuple(path for name, path in names.items() if name in element.content_full)
        if read:
            elements[index] = replace(
                element, tag="TOOL_INPUT", category="C3", details=replace(element.prose, reads=read)
            )


def carried(elements: Iterable[Element]) -> tuple[Reference, ...]:
    """The references that a package reads when it runs."""
    return tuple(
        Reference(
            name=one.details.named,
            path=one.details.reads,
            given=one.details.given,
            digest=one.details.digest,
        )
        for one in elements
        if isinstance(one.details, ReferenceDetails) and one.details.given != "never"
    )
