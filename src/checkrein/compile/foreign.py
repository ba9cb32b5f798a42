"""Specs of other runtimes: their readers give files and parts, and these become elements here."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checkrein.compile.details import Details, ModalityDetails, ScheduleDetails, ToolDetails
from checkrein.compile.elements import cleaned, digest
from checkrein.compile.values import Element, SourceFile, Spec
from checkrein.dialects.parts import Part, Reading
from checkrein.facts import compile as facts


class Found(Struct, frozen=True):
    files: tuple[SourceFile, ...]
    elements: tuple[Element, ...]
    warnings: tuple[str, ...]
    unmapped: tuple[str, ...]


def _reader(dialect: str) -> Callable[[str, str], Reading]:
    from importlib import import_module

    folder = "openai_agents" if dialect == "openai_agents_sdk" else dialect
    read: Callable[[str, str], Reading] = import_module(f"checkrein.dialects.{folder}.read").read
    return read


READERS = frozenset(
    name for name, (level, _) in facts.DIALECTS.items() if level == "inventory" and name != "hybrid"
)


def _details(part: Part) -> Details | None:
    if part.tool:
        return ToolDetails(tool=part.tool, specifier=None, modality=part.modality)
    if part.schedule:
        return ScheduleDetails(schedule=part.schedule, cadence=part.cadence, modality=part.modality)
    return ModalityDetails(modality=part.modality) if part.modality else None


def read(spec: Spec) -> Found:
    """Read the spec with its own reader, a hybrid with those of its contributors in their order.

    For a hybrid with a Markdown spec of ours, the readers of the other runtimes search the whole workspace.
    """
    at = spec.workspace if spec.kind != "other" else spec.path
    dialects = (
        tuple(name for name in spec.detection.contributors if name in READERS)
        if spec.detection.dialect == "hybrid"
        else (spec.detection.dialect,)
    )
    files: list[SourceFile] = []
    elements: list[Element] = []
    warnings: list[str] = []
    unmapped: list[str] = []
    signals: dict[str, str] = {}
    for dialect in dialects:
        reading = _reader(dialect)(spec.workspace, at)
        files += [
            SourceFile(path=part.path, role=part.role, rule=f"{dialect}:{part.rule}")
            for part in reading.files
        ]
        warnings += reading.warnings
        unmapped += [f"{dialect}: {text}" for text in reading.unmapped]
        for part in reading.parts:
            signal = part.signal or f"text:{digest(part.text)}"
            if signals.setdefault(signal, dialect) != dialect:
                warnings.append(
                    f"{part.file} {part.lines} says what {dialects[0]} says already; the first one counts"
                )
                continue
            elements.append(
                cleaned(
                    Element(
                        source_file=part.file,
                        source_lines=part.lines,
                        tag=part.tag,
                        category=part.category,
                        content_summary=part.summary,
                        content_full=part.text,
                        dialect_rule_id=f"{dialect}:{part.rule}",
                        signal=signal,
                        confidence={"tag": 0.7, "category": 0.7},
                        step=0 if part.step else None,
                        title=part.summary if part.step else "",
                        row=part.row,
                        details=_details(part),
                    )
                )
            )
    if not elements:
        warnings.append(f"there is nothing of {', '.join(dialects)} that compile can use")
    return Found(tuple(files), tuple(elements), tuple(warnings), tuple(unmapped))
