"""The values that the steps pass to each other. Every file name is relative to the workspace root, with
`/`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.compile.details import NO_TEXT, Details, HookDetails, StepDetails, TextDetails
from checkrein.facts.compile import Archetype, Category, Disposition, Modality, Primitive, Shape, Tag, Variant
from checkrein.model.items import Hook
from checkrein.model.project import Detection, Place

SOURCE_LINES = r"^(?:[0-9]+(?:-[0-9]+)?|frontmatter\..+|json:.*|py:.+)$"
SpecKind = Literal["skill", "command", "agent", "other"]
SourceName = Literal["project", "local", "user", "managed", "settings.json", ".env"]


class SourceFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of the inventory. `read` is false when compile only saw it; no output contains `text`."""

    path: str
    role: str
    rule: str
    source: SourceName = "project"
    read: bool = True
    imported_by: str | None = None
    text: str = ""
    first_line: int = 1


class ElementText(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One thing the spec says, apart from its details.

    `source_lines` is `12`, `12-20`, `frontmatter.<field>`, `json:<path>` or `py:<symbol>`. `line` is the line
    of the source item behind a JSON path or a hook of the frontmatter: the one that `why` and `check` name.
    `signal` names the element by what it says, so it stays the same when lines move; it is the key of saved
    decisions.
    """

    element_id: Annotated[str, Meta(pattern=r"^(elem_[0-9]{3,})?$")] = ""
    source_file: str
    source_lines: Annotated[str, Meta(pattern=SOURCE_LINES)]
    line: int | None = None
    tag: Tag
    category: Category
    content_summary: str
    content_full: str = ""
    confidence: dict[str, float] = {}
    aggregation_hint: str | None = None
    notes: str | None = None
    dialect_attribution: str = ""
    dialect_rule_id: str = ""
    signal: str = ""
    source: SourceName | None = None
    sensitive: bool = False
    unknown_frontmatter_field: bool = False
    row: str | None = None
    step: int | None = None
    title: str = ""
    heading: str = ""


class Element(ElementText, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    details: Details | None = None

    @property
    def prose(self) -> TextDetails:
        """The details of a text; empty ones for elements of other kinds."""
        return self.details if isinstance(self.details, TextDetails) else NO_TEXT

    @property
    def place(self) -> str:
        """File and line, as `why` and `check` give them; without a line, the notation of the file."""
        return f"{self.source_file}:{self.line or self.source_lines}"

    @property
    def whole_place(self) -> str:
        """File and lines, those of every handler of a hook, and the path in a file that has one."""
        if self.line is None:
            return self.place
        lines = self.details.lines if isinstance(self.details, HookDetails) else (self.line,)
        return f"{self.source_file}:{', '.join(map(str, lines))} {self.source_lines}"


class Classification(Struct, frozen=True, kw_only=True, omit_defaults=True):
    format_version: str
    archetype: Archetype
    archetype_confidence: float
    shape: Shape
    shape_phase_count: int
    tool_involvement: str
    tool_involvement_variant: Variant
    source_runtime: str
    source_runtime_override: str | None = None
    source_runtime_scores: dict[str, float] = {}
    source_runtime_signals: dict[str, list[str]] = {}
    hybrid_threshold_triggered: bool = False
    hybrid_primary: str | None = None
    hybrid_contributors: list[str] = []
    modality: Modality
    modality_confidence: float = 1.0
    secondary_modalities: list[Modality] = []
    warnings: list[str] = []
    halt: str | None = None


class Coverage(Struct, frozen=True, kw_only=True):
    format_version: str
    source_file: str
    total_lines: int
    heading_lines: int
    blank_lines: int
    significant_lines: int
    covered_lines: int
    coverage_ratio: float
    threshold: float
    passed: bool
    uncovered_lines: list[int]


ValidationKind = Literal["executable", "llm_judged"]


class Mapping(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    mapping_id: Annotated[str, Meta(pattern=r"^map_[0-9]{3,}$")]
    element_id: Annotated[str, Meta(pattern=r"^elem_[0-9]{3,}(-step[12]|-mod|-eval|-loop)?$")]
    target_file: str
    target_symbol: str
    primitive: Primitive
    final_target_file: str
    primitive_details: StepDetails | None = None
    step_2_rationale: str = ""
    dialect_override_applied: str | None = None
    validation_kind: ValidationKind | None = None


Decider = Literal["auto", "user", "config", "dialect"]


class PlanEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    entry_id: Annotated[str, Meta(pattern=r"^dep_[0-9]{3,}$")]
    category: str
    disposition: Disposition
    source_of_decision: Decider
    source_elements: tuple[str, ...]
    target: str
    signal: str
    default_disposition: Disposition
    subtype: str | None = None
    override_rationale: str | None = None
    description: str = ""


class Tool(Struct, frozen=True, kw_only=True):
    """A function that the pipeline may call. The guard judges its `argument`."""

    function: str
    tool: str
    argument: str
    summary: str
    disposition: Disposition
    server: str | None = None
    entries: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()


class Spec(Struct, frozen=True, kw_only=True):
    """The primary spec. `directory` and `workspace` are absolute and appear in no output."""

    path: str
    file: str
    directory: str
    workspace: str
    kind: SpecKind
    name: str
    description: str
    place: Place
    detection: Detection
    body: str = ""
    body_line: int = 1
    values: dict[str, Any] = {}
    hooks: tuple[Hook, ...] = ()
    total_lines: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()


class Notes(Struct, frozen=True, kw_only=True):
    """What the report says besides the elements."""

    not_reproduced: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    provenance: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    settings_files: tuple[str, ...] = ()
    local_settings: bool = False
    instructions: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    skipped_scopes: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()


class Inventory(Struct, frozen=True, kw_only=True):
    spec: Spec
    files: tuple[SourceFile, ...]
    elements: tuple[Element, ...]
    coverage: Coverage
    notes: Notes
    companions: tuple[tuple[str, bytes], ...] = ()
    license_text: str | None = None
    suspicious: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


def scalar(value: object) -> str:
    """A frontmatter or JSON value as one line of text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
