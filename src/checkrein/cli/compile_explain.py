"""`checkrein compile --explain`: one element, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from checkrein.base.errors import NotFoundError

if TYPE_CHECKING:
    from checkrein.compile.package import Compiled
    from checkrein.compile.values import Element


class Explained(Struct, frozen=True):
    """One element with everything that compile made of it."""

    element: dict[str, Any]
    mappings: tuple[dict[str, Any], ...]
    plan: tuple[dict[str, Any], ...]


def explain(compiled: Compiled, wanted: str) -> tuple[Explained, str]:
    """An element as data and as text. Raises NotFoundError when `wanted` matches no element."""
    found = _element(compiled, wanted)
    if found is None:
        raise NotFoundError(
            f"There is no element {wanted!r}.",
            kind="element_not_found",
            hint="Name an id such as elem_001, or a place such as SKILL.md:12. Blank lines have no element.",
        )
    mappings = [one for one in compiled.mappings if one.element_id.split("-")[0] == found.element_id]
    plan = [one for one in compiled.plan if found.element_id in one.source_elements]
    lines = [f"{found.element_id}  {found.whole_place}  {found.content_summary}"]
    lines.append(f"  {found.tag} {found.category}  ({found.prose.why or found.dialect_rule_id})")
    if found.step is not None:
        procedure = found.prose.procedure
        lines.append(f"  step {found.step}" + (f", of the procedure {procedure!r}" if procedure else ""))
    lines += [f"  -> {one.final_target_file} {one.target_symbol} as {one.primitive}" for one in mappings]
    lines += [f"  {one.disposition}, decided by {one.source_of_decision}" for one in plan]
    explained = Explained(
        to_builtins(found), tuple(map(to_builtins, mappings)), tuple(map(to_builtins, plan))
    )
    return explained, "\n".join(lines)


def _element(compiled: Compiled, wanted: str) -> Element | None:
    """Find by id, or the narrowest on a line. The end of a path names a file; the spec's own comes first."""
    file, _, line = wanted.rpartition(":")
    spec = compiled.inventory.spec.file
    named = [
        element
        for element in compiled.inventory.elements
        if element.element_id == wanted
        or (
            f"/{element.source_file}".endswith(f"/{file}")
            and (element.source_lines == line or (line.isdigit() and int(line) in _lines(element)))
        )
    ]
    return min(named, key=lambda one: (one.source_file != spec, len(_lines(one))), default=None)


def _lines(element: Element) -> range | tuple[int, ...]:
    from checkrein.compile.coverage import lines_of
    from checkrein.compile.details import HookDetails

    if isinstance(element.details, HookDetails):
        return element.details.lines
    return lines_of(element.source_lines) if element.line is None else (element.line,)
