"""How much of the spec the elements cover. Blank lines and headings do not count."""

from __future__ import annotations

from checkrein.compile.blocks import HEADING
from checkrein.compile.values import Coverage, Element, Spec
from checkrein.facts import compile as facts


def measure(spec: Spec, elements: tuple[Element, ...]) -> Coverage:
    covered: set[int] = set()
    for element in elements:
        if element.source_file == spec.file:
            covered.update(lines_of(element.source_lines))
    lines = spec.body.replace("\r\n", "\n").split("\n")
    blank = heading = 0
    missing = []
    for number, line in enumerate(lines, spec.body_line):
        if not line.strip():
            blank += 1
        elif number in covered:
            continue
        elif HEADING.match(line):
            heading += 1
        else:
            missing.append(number)
    significant = len(lines) - blank - heading
    ratio = 1.0 if significant == 0 else (significant - len(missing)) / significant
    return Coverage(
        format_version=facts.FORMAT_VERSION,
        source_file=spec.file,
        total_lines=spec.total_lines,
        heading_lines=heading,
        blank_lines=blank,
        significant_lines=significant,
        covered_lines=significant - len(missing),
        coverage_ratio=round(ratio, 4),
        threshold=facts.COVERAGE,
        passed=ratio >= facts.COVERAGE,
        uncovered_lines=missing,
    )


def lines_of(source_lines: str) -> range:
    """The lines of `12` or `12-20`; nothing for the other notations."""
    if not source_lines[:1].isdigit():
        return range(0)
    first, _, last = source_lines.partition("-")
    return range(int(first), int(last or first) + 1)
