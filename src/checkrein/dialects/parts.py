"""What a reader at inventory level gives: files with roles, and parts with their tag and category."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.facts.compile import Category, Tag


class PartFile(Struct, frozen=True):
    path: str
    role: str
    rule: str


class Part(Struct, frozen=True, kw_only=True):
    """One thing a file says. `row` names a row of the mapping table where one fits."""

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
    details: dict[str, Any] = {}


class Reading(Struct, frozen=True):
    """`unmapped` says plainly what was seen and is not carried over."""

    files: tuple[PartFile, ...] = ()
    parts: tuple[Part, ...] = ()
    warnings: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()
