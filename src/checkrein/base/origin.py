"""Where a value came from: file, place in the file, scope.

`Origin.field` names the place in the file's own terms: `frontmatter.paths` in a Markdown file,
`$.permissions.deny[2]` in a JSON file. `Origin.span` is the same place in lines and columns, both
counted from 1. Either may be absent; the file never is.
"""

from __future__ import annotations

import os
from typing import Literal, get_args

from msgspec import Struct

Scope = Literal["managed", "cli", "local", "project", "user", "plugin", "bundled"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
# Files of these scopes come with a project: a link in them is not the user's word.
BOUND_SCOPES: tuple[Scope, ...] = ("project", "local", "plugin")

COMMAND_LINE = "<command line>"
BUNDLED = "<bundled>"


class Span(Struct, frozen=True, gc=False):
    """A range of text. `end_column` is the column after the last character; 0 means to the line's end."""

    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    @property
    def last_line(self) -> int:
        return self.end_line or self.line


class Origin(Struct, frozen=True, omit_defaults=True):
    file: str
    scope: Scope
    span: Span | None = None
    field: str | None = None

    @property
    def line(self) -> int | None:
        return self.span.line if self.span else None

    def at(self, span: Span | None, field: str | None = None) -> Origin:
        return Origin(self.file, self.scope, span, field)

    def beside(self, directory: str) -> str:
        """File and line as a person in that directory writes them."""
        below = os.path.relpath(self.file, directory) if os.path.isabs(self.file) else self.file
        file = self.file if below.startswith("..") else below
        return f"{file}:{self.span.line}" if self.span else file

    def __str__(self) -> str:
        return f"{self.file}:{self.span.line}" if self.span else self.file
