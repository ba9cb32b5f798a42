"""The values for each template: one type per template, whose fields are the names in the template."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from checkrein.compile.blueprint import Blueprint, Handler
from checkrein.compile.constants import Constant
from checkrein.compile.fixtures import Fixture
from checkrein.compile.inputs import Parameter
from checkrein.compile.models import Model
from checkrein.compile.rules import Permission
from checkrein.compile.traits import Slot
from checkrein.compile.values import Classification, Element, Inventory, Mapping, PlanEntry, SourceFile, Tool
from checkrein.facts.compile import Category
from checkrein.facts.compile_checks import CheckRow


class Sheet(Struct, frozen=True, kw_only=True):
    """The values of one template. `TEMPLATE` is its file, without the suffix."""

    TEMPLATE: ClassVar[str] = ""


class CheckCase(Struct, frozen=True):
    """Expressions for an answer that passes the check of a requirement and one that fails it."""

    index: int
    good: str
    bad: str


class DeniedCall(Struct, frozen=True):
    """A call that a deny rule covers; `arguments` is Python text."""

    function: str
    arguments: str


class SlotRow(Struct, frozen=True):
    """A function that a host supplies."""

    name: str
    signature: str
    about: str


class InitSheet(Sheet, frozen=True):
    TEMPLATE = "init.py"
    b: Blueprint


class DunderMainSheet(Sheet, frozen=True):
    TEMPLATE = "dunder_main.py"
    b: Blueprint


class EnvSheet(Sheet, frozen=True):
    TEMPLATE = "env_example"
    b: Blueprint


class LoaderSheet(Sheet, frozen=True):
    TEMPLATE = "loader.py"
    b: Blueprint


class StreamingSheet(Sheet, frozen=True):
    TEMPLATE = "streaming.py"


class MockModelSheet(Sheet, frozen=True):
    TEMPLATE = "mock_model.py"
    streaming: bool


class PyprojectSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "pyproject.toml"
    b: Blueprint
    summary: str
    dependencies: tuple[str, ...]
    packages: tuple[str, ...]
    package_data: tuple[str, ...]
    slots: tuple[Slot, ...]


class ConfigSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "config.py"
    sections: tuple[tuple[Category, tuple[Constant, ...]], ...]
    titles: dict[Category, str]
    limits: tuple[tuple[str, int], ...]


class SchemasSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "schemas.py"
    b: Blueprint
    forms: frozenset[str]
    plain: bool
    data: str | None
    models: tuple[Model, ...]
    layout: dict[str, str]
    aliases: tuple[tuple[str, tuple[str, ...], str], ...]
    typing_imports: str
    model_names: str


class SessionSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "session.py"
    b: Blueprint
    streaming: bool
    plain: bool
    requirements: bool
    forms: frozenset[str]
    writes: bool
    typed: bool
    formed: bool
    chooses: bool
    data: str | None
    tables: tuple[str, ...]
    notes: frozenset[str]
    collections: str
    session_imports: str
    session_schemas: str


class PipelineSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "pipeline.py"
    b: Blueprint
    chat: bool
    streaming: bool
    final: str
    functions: tuple[str, ...]
    procedures: tuple[tuple[str, str, str], ...]
    program: str
    steps_doc: str
    parameters: tuple[Parameter, ...]
    collections: str
    typing_names: str
    pipeline_doc: str
    pipeline_imports: str
    schema_imports: str
    session_imports: str
    run_doc: str


class MainSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "main.py"
    b: Blueprint
    chat: bool
    streaming: bool
    options: tuple[Parameter, ...]
    about_rows: tuple[tuple[str, str], ...]
    main_imports: str


class RequirementsSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "requirements.py"
    b: Blueprint
    checks: tuple[CheckRow, ...]
    check_modules: tuple[str, ...]
    denies: tuple[Permission, ...]
    allowed_texts: tuple[str, ...]


class SlotsSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "slots.py"
    slots: tuple[Slot, ...]
    schema_imports: str


class ConstrainedSlotsSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "constrained_slots.py"
    b: Blueprint
    real: tuple[Tool, ...]
    slot_names: tuple[str, ...]
    arguments: dict[str, str]
    writers: tuple[str, ...]
    guard_imports: str
    deny_rules: str
    ask_rules: str


class ToolsSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "tools.py"
    b: Blueprint
    web_source: str


class HostSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "host_local.py"
    b: Blueprint
    local_slots: tuple[str, ...]


class HandlerSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "handler.py"
    handler: Handler


class FixturesSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "fixtures_init.py"
    fixtures: tuple[Fixture, ...]


class FixtureSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "fixture.py"
    fixture: Fixture


class MockToolsSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "mock_tools.py"
    b: Blueprint
    mocked: tuple[Tool, ...]


class PackageTestSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "test_package.py"
    b: Blueprint
    denies: tuple[Permission, ...]
    asks: tuple[Permission, ...]
    real: tuple[Tool, ...]
    slot_names: tuple[str, ...]
    slot_set: str
    tool_names: str
    test_imports: str
    check_cases: tuple[CheckCase, ...]
    told_lines: tuple[tuple[int, int], ...]
    program_texts: tuple[str, ...]
    limits: tuple[str, ...]


class RunTestSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "test_run.py"
    b: Blueprint
    chat: bool
    streaming: bool
    writes: bool
    formed: bool
    data: str | None
    slots: tuple[Slot, ...]
    told: tuple[str, ...]
    gates: tuple[tuple[str, str], ...]
    question_names: tuple[str, ...]
    loops: tuple[str, ...]
    conditional: tuple[str, ...]
    outcomes: bool
    typed: bool
    routes: int
    prompts: tuple[tuple[str, int, int], ...]
    asked_prompts: tuple[str, ...]
    hosted: bool
    modules: list[str]
    session_names: list[str]
    run_line: str
    topic_table: str
    topic_other: str
    denied_call: DeniedCall | None
    make_type: str


class ReadmeSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "README.md"
    b: Blueprint
    spec_file: str
    requirement_count: int
    compatibility: str
    paths: tuple[str, ...]


class SetupSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "SETUP.md"
    b: Blueprint
    anthropic: bool
    credentials_file: bool
    helper: bool
    backend: str
    model_id: str
    model_name: str
    servers: tuple[str, ...]
    modalities: frozenset[str]
    loop_task: bool
    host_modalities: tuple[str, ...]
    slot_rows: tuple[SlotRow, ...]


class ReportSheet(Sheet, frozen=True, kw_only=True):
    TEMPLATE = "mapping_report.md"
    c: Classification
    i: Inventory
    plan: tuple[PlanEntry, ...]
    removed: tuple[PlanEntry, ...]
    recap: str
    scores: str
    archetype: str
    table: tuple[tuple[str, str, int], ...]
    by_file: tuple[tuple[str, tuple[tuple[Element, Mapping], ...]], ...]
    calls: tuple[tuple[str, str, str], ...]
    order: str
    skill_order: str
    merge_order: str
    unknown_fields: tuple[str, ...]
    contributions: tuple[tuple[SourceFile, int], ...]
