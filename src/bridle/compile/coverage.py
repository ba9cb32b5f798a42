"""How much of the spec is in some element. Blank lines and headings do not count."""

from __future__ import annotations

import re

from bridle.compile.blocks import HEADING
from bridle.compile.values import Coverage, Element, Spec
from bridle.facts import compile as facts


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
        elif HEADING.match(line) and number not in covered:
            heading += 1
        elif number not in covered:
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
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", source_lines)
    if match is None:
        return range(0)
    return range(int(match[1]), int(match[2] or match[1]) + 1)
