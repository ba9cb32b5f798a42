"""What a check is.

A check is one module with its documentation, its rule, and two small projects: it fires on one and not on the
other. The module holds `CHECK`; its family's table maps the code to the module. Docs and tests are made from
the same value, so an example that does not fire fails the build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic, Edit, Fix, Severity
from checkrein.base.files import beneath, read_text
from checkrein.base.jsonpos import Json, decode
from checkrein.base.origin import Origin, Span
from checkrein.model.items import Agent, Command, Skill
from checkrein.model.project import Project
from checkrein.passes.checks.prose import Body

if TYPE_CHECKING:
    from checkrein.passes.recipes.case import Case
    from checkrein.passes.recipes.contracts import Contracts
    from checkrein.passes.recipes.library import Library
    from checkrein.policy.tools import Tools

Files = dict[str, str]
"""A small project for an example: path to content.

`~/` paths are in the user's home; a path that ends in `*` is an executable file without the `*`.
"""


class Subject:
    """The project under check, and the text of its files, read once.

    `dialect` is set when the project comes from another agent's files. `listings` holds the files of folders.
    """

    def __init__(self, project: Project, dialect: str | None = None) -> None:
        self.project = project
        self.dialect = dialect
        self._texts: dict[str, str] = {}
        self._split: dict[str, list[str]] = {}
        self._jsons: dict[str, Json | None] = {}
        self._bodies: dict[int, Body] = {}
        self.listings: dict[str, list[str]] = {}

    @cached_property
    def tools(self) -> Tools:
        """The tools that a session of the project would have, without those of servers."""
        from checkrein.passes.tools import added_tools

        return added_tools(self.project.place.root).registry()

    @cached_property
    def library(self) -> Library:
        """All recipes that the project can run."""
        from checkrein.passes.recipes.library import library_of

        return library_of(self.project)

    @cached_property
    def contracts(self) -> Contracts:
        """The contracts of the project's skills."""
        from checkrein.passes.recipes.contracts import Contracts

        return Contracts(self.project)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The recipes and sub-recipes of the project, for the rules that look at each."""
        if not self.project.recipes and not self.project.sub_recipes:
            return ()
        from checkrein.passes.recipes.case import cases_of

        return cases_of(self.project, self.library, self.contracts)

    def text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = read_text(file, within=self._bounds(file)).text
        return self._texts[file]

    def _bounds(self, file: str) -> tuple[str, ...] | None:
        place = self.project.place
        own = any(beneath(file, root) for root in place.within) and not beneath(file, place.config_dir)
        return place.within if own else None

    def lines(self, file: str) -> list[str]:
        if file not in self._split:
            self._split[file] = [line.removesuffix("\r") for line in self.text(file).split("\n")]
        return self._split[file]

    def line(self, file: str, number: int) -> str:
        lines = self.lines(file)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def json(self, file: str) -> Json | None:
        """A JSON file with the places of its values; None when the file is not JSON."""
        if file not in self._jsons:
            decoded = decode(self.text(file)) if self.text(file) else None
            self._jsons[file] = decoded if isinstance(decoded, Json) else None
        return self._jsons[file]

    def body(self, item: Skill | Command | Agent) -> Body:
        if id(item) not in self._bodies:
            self._bodies[id(item)] = Body(item.body, item.body_line)
        return self._bodies[id(item)]

    def find(self, origin: Origin, needle: str) -> Origin:
        """Narrow an origin to the first place of `needle` at or after its first line."""
        first = origin.line or 1
        last = origin.span.last_line if origin.span else None
        for number, line in enumerate(self.lines(origin.file)[first - 1 : last], first):
            at = line.find(needle, origin.span.column - 1 if origin.span and number == first else 0)
            if at >= 0:
                return origin.at(Span(number, at + 1, number, at + 1 + len(needle)), origin.field)
        return origin


class Finding(Struct, frozen=True, kw_only=True):
    """One hit of a check. Missing values come from the check."""

    origin: Origin
    message: str
    hint: str | None = None
    fix: Fix | None = None
    related: tuple[Origin, ...] = ()
    severity: Severity | None = None


Rule = Callable[[Subject], Iterator[Finding]]
Profile = Literal["default", "strict"]
Dialects = Literal["own", "others", "all"]
"""Whose files a check is for: Claude Code's and Agent Skills', those of other agents, or both."""


class Check(Struct, frozen=True, kw_only=True):
    """`summary` says what is wrong in a few words, `why` what it leads to, `hint` what to do.

    A check that is `whole` says that something is nowhere in the project. It does not run on a part of a
    larger tree, such as a collection of skills or a template.

    A check of profile `strict` runs only when its code is selected. A check for other agents' files runs once
    for each dialect, with the content of that dialect's files as the project.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    hint: str
    bad: Files
    good: Files
    run: Rule
    fixable: bool = False
    profile: Profile = "default"
    dialects: Dialects = "own"
    whole: bool = False

    def diagnostics(self, subject: Subject) -> Iterator[Diagnostic]:
        for finding in self.run(subject):
            yield Diagnostic(
                code=self.code,
                severity=finding.severity or self.severity,
                message=finding.message,
                origin=finding.origin,
                reason=self.why,
                hint=finding.hint or self.hint,
                fix=finding.fix,
                related=finding.related,
            )


def _replace_span(origin: Origin, replacement: str, title: str, *, safe: bool = True) -> Fix | None:
    """A fix that replaces the origin's span by `replacement`."""
    if origin.span is None:
        return None
    return Fix(title, (Edit(origin.file, origin.span, replacement),), safe)
