"""Diagnostics about one session file, with a bound per code: a file of noise gives a short list."""

from __future__ import annotations

from pathlib import Path

from checkrein.base.diagnostic import Diagnostic, Severity
from checkrein.base.origin import Origin, Span

LIMIT = 20


class Findings:
    def __init__(self, path: Path) -> None:
        self._origin = Origin(str(path), "user")
        self._found: list[tuple[int, Diagnostic]] = []
        self._counts: dict[str, int] = {}

    def add(
        self, code: str, line: int, message: str, *, severity: Severity = "warning", hint: str = ""
    ) -> None:
        count = self._counts[code] = self._counts.get(code, 0) + 1
        if count <= LIMIT:
            origin = self._origin.at(Span(line))
            self._found.append((line, Diagnostic(code, severity, message, origin, hint=hint or None)))

    def all(self) -> tuple[Diagnostic, ...]:
        """In file order. One last line per code counts the findings past the bound."""
        listed = [diagnostic for _, diagnostic in sorted(self._found, key=lambda item: item[0])]
        for code, count in self._counts.items():
            if count > LIMIT:
                listed.append(Diagnostic(code, "info", f"{count - LIMIT} more of {code}.", self._origin))
        return tuple(listed)
