"""Step 3 to 6: the files of the package, as text, by path. The same input gives the same bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrein.compile import literals, sheets
from checkrein.compile.assembly import aliases, notes, pipeline_sheet
from checkrein.compile.blueprint import Blueprint, Requirement
from checkrein.compile.constants import Constant
from checkrein.compile.fixtures import make_fixtures
from checkrein.compile.models import Model
from checkrein.compile.payload import PAYLOAD, payload
from checkrein.compile.proofs import run_tests
from checkrein.compile.render import mock_model, render
from checkrein.compile.rules import Permission
from checkrein.compile.tools import ARGUMENTS, WRITERS
from checkrein.compile.traits import Traits, traits_of
from checkrein.facts import compile as facts
from checkrein.facts.compile import Category
from checkrein.facts.compile_checks import CHECKS

_TABLES = (
    "OPERATING_RULES",
    "ENVIRONMENT_NOTES",
    "KNOWLEDGE",
    "LOOKUP_TABLES",
    "OUTPUT_TEMPLATES",
    "COMMAND_TEMPLATES",
)
"""The constants with texts by section, in the order in which a step is told them."""
_LOCAL = ("run_bash", "read_file", "write_file")
_ABOUT = (
    ("compatibility", "COMPATIBILITY_NOTE"),
    ("metadata", "METADATA"),
    ("shell", "DEFAULT_SHELL"),
    ("model", "MODEL_NAME"),
    ("permission_mode", "DEFAULT_PERMISSION_MODE"),
    ("schedule", "SCHEDULE_CONFIG"),
)


def emit_code(
    b: Blueprint,
    *,
    loaded: dict[str, str],
    web_source: str,
    spec_text: str,
    told_lines: tuple[tuple[int, int], ...],
) -> dict[str, str]:
    """Python files and pyproject.toml, relative to the output directory. The package's tests compare its
    prompts with `spec_text`, whose `told_lines` it must hold."""
    t = traits_of(b)
    package = b.package
    files = {
        "pyproject.toml": render(_pyproject(b, t)),
        f"{package}/__init__.py": render(sheets.InitSheet(b=b)),
        f"{package}/__main__.py": render(sheets.DunderMainSheet(b=b)),
        f"{package}/config.py": render(
            sheets.ConfigSheet(sections=_sections(b.constants), titles=facts.CATEGORY_TITLES, limits=t.limits)
        ),
        f"{package}/schemas.py": render(_schemas(b, t)),
        f"{package}/session.py": render(_session(b, t)),
        f"{package}/pipeline.py": render(pipeline_sheet(b, t)),
        f"{package}/main.py": render(_main(b, t)),
        "tests/__init__.py": "",
        "tests/mock_model.py": mock_model(t.streaming),
        "tests/test_package.py": render(_package_tests(b, t, told_lines if spec_text else ())),
        "tests/test_run.py": render(run_tests(b, t, told=_TABLES, quoted=bool(spec_text))),
    }
    if spec_text:
        files["tests/spec.txt"] = spec_text
    if t.streaming:
        files[f"{package}/streaming.py"] = render(sheets.StreamingSheet())
    if t.requirements:
        files[f"{package}/requirements.py"] = render(_requirements(b, t))
    if t.slots:
        files[f"{package}/slots.py"] = render(_slots(b, t))
    if t.slots_module:
        files[f"{package}/constrained_slots.py"] = render(_constrained_slots(b, t))
    if b.guarded:
        files[f"{package}/guards.py"] = payload(PAYLOAD)
    if t.real:
        files[f"{package}/tools.py"] = render(sheets.ToolsSheet(b=b, web_source=web_source))
    if b.loads or b.references:
        files[f"{package}/loader.py"] = render(sheets.LoaderSheet(b=b))
        for name, text in loaded.items():
            files[f"{package}/references/compiled/{name}"] = text
    if b.local_host and t.slots_module:
        local = tuple(name for name in t.slot_names if name in _LOCAL)
        files[f"{package}/host_local.py"] = render(sheets.HostSheet(b=b, local_slots=local))
    if b.handlers:
        files[f"{package}/handlers/__init__.py"] = '"""Hooks of the spec, left to the host."""\n'
        for handler in b.handlers:
            files[f"{package}/handlers/{handler.module}.py"] = render(sheets.HandlerSheet(handler=handler))
    fixtures = make_fixtures(b)
    files[f"{package}/fixtures/__init__.py"] = render(sheets.FixturesSheet(fixtures=fixtures))
    for fixture in fixtures:
        files[f"{package}/fixtures/{fixture.id}.py"] = render(sheets.FixtureSheet(fixture=fixture))
    mocked = tuple(tool for tool in b.tools if tool.disposition == "mock")
    if mocked:
        files[f"{package}/fixtures/mock_tools.py"] = render(sheets.MockToolsSheet(b=b, mocked=mocked))
    if b.variables:
        files[".env.example"] = render(sheets.EnvSheet(b=b))
    return files


def _pyproject(b: Blueprint, t: Traits) -> sheets.PyprojectSheet:
    return sheets.PyprojectSheet(
        b=b,
        summary=" ".join(b.description.split())[:200] or b.name,
        dependencies=(*b.needs.values(), *b.dependencies),
        packages=(b.package, *((f"{b.package}.handlers",) if b.handlers else ())),
        package_data=(
            "melleafy.json",
            "*.md",
            *(f"{name}/**/*" for name in b.companions),
            *(("references/compiled/*",) if b.loads and "references" not in b.companions else ()),
        ),
        slots=t.slots,
    )


def _schemas(b: Blueprint, t: Traits) -> sheets.SchemasSheet:
    models = (*b.models, *b.records)
    report = b.program.report
    named = list(aliases(b))
    return sheets.SchemasSheet(
        b=b,
        forms=t.forms,
        plain=t.plain,
        data=t.data,
        models=models,
        layout=dict(report.models[-1].layout) if report is not None else {},
        aliases=tuple(named),
        typing_imports=_typing_imports(models, literals_used=bool(named)),
        model_names=_tuple_of([one.name for one in b.models]),
    )


_METHOD_MODELS = {"condition": "Condition", "items": "Items", "questions": "Questions"}


def _session(b: Blueprint, t: Traits) -> sheets.SessionSheet:
    schemas = ["SkillResult", "StepRecord"]
    schemas += [name for form, name in _METHOD_MODELS.items() if form in t.forms]
    schemas += ["Outcome"] if t.formed and "outcome" in t.forms else []
    schemas += ["ProcedureChoice", "ProcedureName"] if b.procedures else []
    schemas += ["Topic", "TopicChoice"] if b.program.topics else []
    schemas += [t.data] if t.data is not None else []
    schemas += ["SHAPES"] if b.program.shapes else []
    schemas += ["rendered"] if t.data is not None and not t.plain else []
    modules = [
        "config",
        *(["constrained_slots"] if b.tools or b.confirms or b.questions else []),
        *(["loader"] if b.loads or b.references else []),
        *(["requirements"] if t.requirements and _judges(t) else []),
    ]
    names = [
        "Mapping",
        "Sequence",
        *(["Callable"] if t.typed else []),
        *(["Iterator"] if t.streaming else []),
    ]
    return sheets.SessionSheet(
        b=b,
        streaming=t.streaming,
        plain=t.plain,
        requirements=t.requirements,
        forms=t.forms,
        writes=t.writes,
        typed=t.typed,
        formed=t.formed,
        chooses=bool(b.procedures or b.program.topics),
        data=t.data,
        notes=notes(b, t),
        tables=tuple(f"config.{name}" for name in _TABLES if b.has(name)),
        collections=", ".join(sorted(names)),
        session_imports=literals.imports(".", modules),
        session_schemas=literals.imports(".schemas", schemas),
    )


def _judges(t: Traits) -> bool:
    """Whether the session looks at the requirements."""
    return t.writes or t.formed or t.streaming


def _main(b: Blueprint, t: Traits) -> sheets.MainSheet:
    modules = ["__agent_name__", "config", *(["requirements"] if b.allowed else [])]
    return sheets.MainSheet(
        b=b,
        chat=t.chat,
        streaming=t.streaming,
        options=() if t.chat else t.extra,
        about_rows=(
            *((key, f"config.{name}") for key, name in _ABOUT if b.has(name)),
            *((("allowed_calls", "requirements.ALLOWED_CALLS"),) if b.allowed else ()),
        ),
        main_imports=literals.imports(".", modules),
    )


def _requirements(b: Blueprint, t: Traits) -> sheets.RequirementsSheet:
    called = {one.check.function for one in b.requirements if one.check is not None}
    used = tuple(row for row in CHECKS.values() if row.name in called)
    return sheets.RequirementsSheet(
        b=b,
        checks=used,
        check_modules=tuple(sorted({module for row in used for module in row.needs})),
        denies=t.denies,
        allowed_texts=tuple(rule.text for rule in b.allowed),
    )


def _slots(b: Blueprint, t: Traits) -> sheets.SlotsSheet:
    named = {name for name, _, _ in aliases(b)} | {model.name for model in b.records}
    used = {name for name in named for slot in t.slots if re.search(rf"\b{name}\b", slot.returns)}
    return sheets.SlotsSheet(
        slots=t.slots,
        schema_imports=literals.imports(".schemas", used) if used else "",
    )


def _constrained_slots(b: Blueprint, t: Traits) -> sheets.ConstrainedSlotsSheet:
    guards = ["Guard", *(["DeniedError"] if b.tools else []), *(["Rule"] if b.permissions else [])]
    return sheets.ConstrainedSlotsSheet(
        b=b,
        real=t.real,
        slot_names=t.slot_names,
        arguments=ARGUMENTS,
        writers=WRITERS,
        guard_imports=literals.imports(".guards", guards),
        deny_rules=_rules(t.denies),
        ask_rules=_rules(t.asks),
    )


def _program_texts(b: Blueprint) -> tuple[str, ...]:
    """Constants of the program that are no lines of the spec by themselves."""
    made = ("GATE_", "QUESTIONS_", "HOLDS_", "ITEMS_", "CHECK_ANSWER", "ANSWER")
    known = {step.constant for step in b.steps}
    found = (one.name for one in b.constants if one.name.startswith(made) and isinstance(one.value, str))
    effort = ("REASONING_EFFORT",) if b.has("REASONING_EFFORT") else ()
    return (*(name for name in found if name not in known), *effort)


def _package_tests(
    b: Blueprint, t: Traits, told_lines: tuple[tuple[int, int], ...]
) -> sheets.PackageTestSheet:
    modules = [
        *("config", "main", "pipeline", "session"),
        *(["constrained_slots"] if t.slot_names or t.denies or t.asks or b.tools else []),
        *(["loader"] if b.references else []),
        *(["requirements"] if b.allowed or any(one.check for one in b.requirements) else []),
        *(["schemas"] if b.records else []),
        *(["tools"] if t.real else []),
    ]
    return sheets.PackageTestSheet(
        b=b,
        denies=t.denies,
        asks=t.asks,
        real=t.real,
        slot_names=t.slot_names,
        slot_set=_list_of([literals.one_line(name) for name in t.slot_names]),
        tool_names=_list_of([literals.one_line(tool.function) for tool in b.tools]),
        test_imports=literals.imports(b.package, modules),
        check_cases=_check_cases(b.requirements),
        told_lines=told_lines,
        program_texts=_program_texts(b),
        limits=tuple(name for name, _ in t.limits),
    )


def _typing_imports(models: Sequence[Model], *, literals_used: bool) -> str:
    """The imports from typing that the models need; names of models may contain these words too."""
    written = [field.annotation for model in models for field in model.fields]
    written += [alias.text for model in models for alias in model.aliases]
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "", "\n".join(written))
    wanted = [name for name in ("Any", "Literal") if re.search(rf"\b{name}\b", bare)]
    if literals_used and "Literal" not in wanted:
        wanted.append("Literal")
    return literals.imports("typing", wanted) if wanted else ""


def _tuple_of(names: list[str]) -> str:
    """A tuple of names, one per line when there are several."""
    if len(names) == 1:
        return f"({names[0]},)"
    return "(\n" + "".join(f"    {name},\n" for name in names) + ")"


def _list_of(names: list[str]) -> str:
    if len(names) < 2:
        return f"[{''.join(names)}]"
    return "[\n" + "".join(f"        {name},\n" for name in names) + "    ]"


def _sections(constants: tuple[Constant, ...]) -> tuple[tuple[Category, tuple[Constant, ...]], ...]:
    grouped: dict[Category, list[Constant]] = {}
    for constant in constants:
        grouped.setdefault(constant.category, []).append(constant)
    return tuple((category, tuple(group)) for category, group in grouped.items())


def _rules(rules: tuple[Permission, ...]) -> str:
    if not rules:
        return "()"
    lines = "".join(
        "        Rule(\n"
        f"            tool={literals.one_line(rule.tool)},\n"
        f"            specifier={literals.value(None if rule.specifier is None else rule.specifier)},\n"
        f"            source={literals.one_line(rule.source)},\n"
        "        ),\n"
        for rule in rules
    )
    return f"(\n{lines}    )"


def _check_cases(requirements: tuple[Requirement, ...]) -> tuple[sheets.CheckCase, ...]:
    """A good and a bad answer for each check in code."""
    return tuple(
        sheets.CheckCase(index, *one.check.examples())
        for index, one in enumerate(requirements)
        if one.check is not None
    )
