"""What compile knows about an element beside its text: one type for each kind of element."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Given = Literal["named", "always", "never"]


class FieldDraft(Struct, frozen=True, forbid_unknown_fields=True):
    """A field of what a step collects."""

    name: str
    type: str
    about: str


class Drafted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model's accepted draft for an element; `by` names the model."""

    by: str
    check: str | None = None
    arguments: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    fields: tuple[FieldDraft, ...] = ()


class Details(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The base of all kinds. A field that is absent here is absent in `inventory.json`."""


class TextDetails(Details, frozen=True, kw_only=True):
    """Text of a spec or of a file beside it.

    `argument` is what the caller gives, with the text `about` it; a `table` may list such inputs. `language`
    is None outside fences. `lead` is the line before a list, `carried` marks what another element says too,
    `procedure` names the procedure of a step, `reads` the files that a pointer names. When a model chose the
    tag, `provenance` says so and `was` is the choice of the rules.
    """

    why: str = ""
    table: str = ""
    argument: str | None = None
    about: str | None = None
    language: str | None = None
    lead: str = ""
    carried: bool = False
    procedure: str = ""
    reads: tuple[str, ...] = ()
    provenance: str = ""
    was: str = ""
    draft: Drafted | None = None


class RuleDetails(Details, frozen=True, kw_only=True):
    """A permission rule of the settings."""

    behavior: str


class HookDetails(Details, frozen=True, kw_only=True):
    """A matcher group: the kind and the line of each handler."""

    event: str
    matcher: str
    handlers: tuple[str, ...]
    lines: tuple[int, ...] = ()


class ServerDetails(Details, frozen=True, kw_only=True):
    """An MCP server."""

    server: str


class ToolDetails(Details, frozen=True, kw_only=True):
    """A tool that the spec may use; `specifier` is the text between the parentheses."""

    tool: str
    specifier: str | None
    modality: str = ""


class ArgumentDetails(Details, frozen=True, kw_only=True):
    """An argument of the frontmatter."""

    argument: str
    about: str


class MetadataDetails(Details, frozen=True, kw_only=True):
    """A key of `metadata`."""

    key: str


class LoopDetails(Details, frozen=True, kw_only=True):
    """A task that the body schedules with `/loop`."""

    cadence: str | None


class ScheduleDetails(Details, frozen=True, kw_only=True):
    """What another runtime runs by itself."""

    schedule: str
    cadence: str = ""
    modality: str = ""


class ModalityDetails(Details, frozen=True, kw_only=True):
    """A part of another runtime that says how to run the agent."""

    modality: str


class ScriptDetails(Details, frozen=True, kw_only=True):
    """A script beside the spec, by its path in the package."""

    script: str


class ReferenceDetails(Details, frozen=True, kw_only=True):
    """A reference beside the spec: `named` as the text calls it, `reads` its path in the package."""

    reads: str
    named: str
    given: Given
    digest: str


class StepDetails(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a mapping adds to its target: the step and its function, or why there is no target."""

    step: int | None = None
    function: str = ""
    reason: str = ""


NO_TEXT = TextDetails()
