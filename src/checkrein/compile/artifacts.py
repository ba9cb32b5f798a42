"""The JSON files of a package as types. Compile checks every artifact against its type before it writes
it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from checkrein.compile.details import FieldDraft
from checkrein.compile.values import Classification, Coverage, ElementText, Mapping, PlanEntry
from checkrein.facts.compile import Disposition

Version = Annotated[str, Meta(pattern=r"^\d+\.\d+$")]
PackageName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*_mellea$")]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class InventoryEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    path: str
    role: str
    rule: str
    source: str = "project"
    read: bool = True
    imported_by: str | None = None


class InventoryElement(ElementText, frozen=True, kw_only=True, omit_defaults=True):
    """An element as written: `details` are those of its kind, with the keys that have a value."""

    details: dict[str, Any] | None = None


class InventoryFile(Struct, frozen=True, forbid_unknown_fields=True):
    format_version: Version
    files: list[InventoryEntry]
    elements: Annotated[list[InventoryElement], Meta(min_length=1)]


class MappingFile(Struct, frozen=True, forbid_unknown_fields=True):
    format_version: Version
    mappings: list[Mapping]


class AuditEntry(Struct, frozen=True, forbid_unknown_fields=True):
    entry_id: Annotated[str, Meta(pattern=r"^dep_[0-9]{3,}$")]
    category: str
    default_disposition: Disposition
    source_elements: Annotated[list[str], Meta(min_length=1)]
    subtype: str | None = None


class AuditFile(Struct, frozen=True, forbid_unknown_fields=True):
    format_version: Version
    entries: list[AuditEntry]


class PlanFile(Struct, frozen=True, forbid_unknown_fields=True):
    format_version: Version
    source_runtime: str
    generation_mode: str
    user_acknowledged_stubs: bool
    plan: list[PlanEntry]


class Amendment(Struct, frozen=True, forbid_unknown_fields=True):
    element_id: str
    field: str
    before: str
    after: str
    reason: str | None


class AmendmentsFile(Struct, frozen=True, forbid_unknown_fields=True):
    format_version: Version
    step: str
    generation_mode: str
    amendments: list[Amendment]
    removed: list[str]


class ResolvedEntry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    entry_id: str
    disposition: Disposition
    target: str
    description: Annotated[str, Meta(max_length=200)] | None = None


class ResolvedCategory(Struct, frozen=True, forbid_unknown_fields=True):
    count: int
    entries: list[ResolvedEntry]


class ParameterRow(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    name: str
    type: str
    required: bool
    default: str | None = None


class ManifestFile(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """melleafy.json."""

    manifest_version: str
    format_version: Version
    package_name: PackageName
    melleafy_version: str
    target_runtime: str
    entry_signature: Annotated[str, Meta(pattern=r"^run_pipeline\(")]
    source_runtime: str
    modality: str
    secondary_modalities: list[str]
    archetype: str
    categories_resolved: dict[str, ResolvedCategory]
    declared_env_vars: list[VariableName]
    pipeline_parameters: list[ParameterRow]
    schedule_config: dict[str, str] | None = None
    hybrid_primary: str | None = None
    hybrid_contributors: list[str] = []
    tagging_model: str | None = None
    element_provenance: dict[str, str] = {}
    drafting_model: str | None = None
    draft_provenance: dict[str, str] = {}


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model said about one element."""

    tag: str
    category: str


class Draft(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a model drafted for an element or for the fixtures; empty when nothing fits."""

    check: str | None = None
    arguments: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    fields: tuple[FieldDraft, ...] = ()
    samples: tuple[str, ...] = ()


AskedHash = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$")]


class AdviceFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Answers of a model by the hash of the question."""

    format_version: Version
    model: str
    answers: dict[AskedHash, Answer]
    drafts: dict[AskedHash, Draft] = {}


class LintFailure(Struct, frozen=True, forbid_unknown_fields=True):
    file: str
    line: int
    message: str


class LintResult(Struct, frozen=True, forbid_unknown_fields=True):
    lint_id: str
    tier: int
    severity: str
    verdict: str
    failures: list[LintFailure]


class LintFile(Struct, frozen=True, forbid_unknown_fields=True):
    format_version: Version
    overall_verdict: str
    blocking_failures: int
    warnings: int
    lints: list[LintResult]


class LockFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The written files, by hash: a file with another hash was edited."""

    format_version: Version
    compiler: str
    files: dict[str, Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]]


ARTIFACTS: dict[str, Any] = {
    "classification.json": Classification,
    "inventory.json": InventoryFile,
    "coverage_report.json": Coverage,
    "element_mapping.json": MappingFile,
    "element_mapping_amendments.json": AmendmentsFile,
    "dependency_audit.json": AuditFile,
    "dependency_plan.json": PlanFile,
    "melleafy.json": ManifestFile,
    "step_7_report.json": LintFile,
    "files.json": LockFile,
    "model_advice.json": AdviceFile,
}


def encode(name: str, value: Any) -> str:
    """The JSON text of an artifact. Raises for a value that does not fit its type, which is a bug."""
    checked = msgspec.convert(value, ARTIFACTS[name])
    text = msgspec.json.format(msgspec.json.encode(checked), indent=2).decode("utf-8")
    return text + "\n"


def make_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one artifact."""
    return msgspec.json.schema(ARTIFACTS[name])
