"""The result of a reader at inventory level: files with roles, and parts with their tag and category."""

from __future__ import annotations

from msgspec import Struct

from checkrein.facts.compile import Category, Tag


class PartFile(Struct, frozen=True):
    path: str
    role: str
    rule: str


class Part(Struct, frozen=True, kw_only=True):
    """One thing a file says.

    `row` names a fitting row of the mapping table, `tool` the tool, `schedule` and `cadence` when it runs by
    itself, `modality` how the agent is run.
    """

    file: str
    lines: str
    tag: Tag
    category: Category
    summary: str
    text: str
    rule: str
    signal: str = ""
    step: bool = False
    row: str | None = None
    tool: str = ""
    schedule: str = ""
    cadence: str = ""
    modality: str = ""


class Reading(Struct, frozen=True):
    """`unmapped` lists what was found but is not mapped."""

    files: tuple[PartFile, ...] = ()
    parts: tuple[Part, ...] = ()
    warnings: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()
