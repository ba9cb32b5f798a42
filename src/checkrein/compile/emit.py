"""Step 3 to 6: the files of the package, as text, by path. The same input gives the same bytes."""

from __future__ import annotations

import json
import re
from typing import Any

from checkrein.compile import literals, sheets
from checkrein.compile.blueprint import Blueprint, Requirement
from checkrein.compile.constants import Constant
from checkrein.compile.elements import digest
from checkrein.compile.fixtures import make_fixtures
from checkrein.compile.payload import PAYLOAD, payload
from checkrein.compile.render import mock_model, render
from checkrein.compile.rules import Permission
from checkrein.compile.tools import ARGUMENTS, WRITERS
from checkrein.compile.traits import Traits, traits_of
from checkrein.facts import compile as facts
from checkrein.facts.compile import Category
from checkrein.facts.compile_checks import CHECKS

_LOOKED_UP = ("LOOKUP_TABLES", "OUTPUT_TEMPLATES", "COMMAND_TEMPLATES")
_LOCAL = ("run_bash", "read_file", "write_file")
_ABOUT = (
    ("compatibility", "COMPATIBILITY_NOTE"),
    ("metadata", "METADATA"),
    ("shell", "DEFAULT_SHELL"),
    ("model", "MODEL_NAME"),
    ("permission_mode", "DEFAULT_PERMISSION_MODE"),
    ("schedule", "SCHEDULE_CONFIG"),
)


def emit_code(b: Blueprint, *, loaded: dict[str, str], web_source: str) -> dict[str, str]:
    """Python files and pyproject.toml, relative to the output directory."""
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
        f"{package}/pipeline.py": render(_pipeline(b, t)),
        f"{package}/main.py": render(_main(b, t)),
        "tests/__init__.py": "",
        "tests/mock_model.py": mock_model(t.streaming),
        "tests/test_package.py": render(_package_tests(b, t)),
        "tests/test_run.py": render(_run_tests(b, t)),
    }
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
    return sheets.SchemasSheet(
        b=b,
        kinds=t.kinds,
        judges=t.judges,
        data=t.data,
        typing_imports=_typing_imports(b),
        model_names=_tuple_of([model.name for model in b.models]),
    )


def _session(b: Blueprint, t: Traits) -> sheets.SessionSheet:
    schemas = ["SkillResult", "StepRecord"]
    schemas += ["Decision"] if "decide" in t.kinds else []
    schemas += ["Verdict"] if t.judges else []
    schemas += ["ProcedureChoice", "ProcedureName"] if b.procedures else []
    schemas += ["SHAPES"] if b.models else []
    schemas += [t.data] if t.data is not None else []
    modules = [
        "config",
        *(["constrained_slots"] if b.tools else []),
        *(["loader"] if b.loads or b.references else []),
        *(["requirements"] if t.requirements else []),
    ]
    return sheets.SessionSheet(
        b=b,
        kinds=t.kinds,
        streaming=t.streaming,
        requirements=t.requirements,
        judges=t.judges,
        instructs=t.instructs,
        generates=t.generates,
        asks_forms=t.asks_forms,
        gathers=bool(b.tools) and (t.asks_forms or "fill" in t.kinds),
        adds=bool(b.references or b.models or any(map(b.has, _LOOKED_UP))),
        parses=t.asks_forms or t.data is not None or bool(b.procedures),
        data=t.data,
        answer_step=b.answer_step,
        session_imports=literals.imports(".", modules),
        session_schemas=literals.imports(".schemas", schemas),
    )


def _pipeline(b: Blueprint, t: Traits) -> sheets.PipelineSheet:
    return sheets.PipelineSheet(
        b=b,
        chat=t.chat,
        streaming=t.streaming,
        result_type=not t.chat,
        signature=(("request", ""), *((name, ' = ""') for name, _ in t.extra)),
        all_steps=t.all_steps,
        step_names=_tuple_of([step.function for step in b.steps]),
        pipeline_doc=_pipeline_doc(b),
        pipeline_imports=_pipeline_imports(b, t.chat),
        run_doc=_run_doc(b, t.streaming),
    )


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
        answer_step=b.answer_step,
    )


def _slots(b: Blueprint, t: Traits) -> sheets.SlotsSheet:
    return sheets.SlotsSheet(
        b=b,
        slots=t.slots,
        literals=any(step.labels for step in t.slots),
        record_imports=literals.imports(".schemas", [one.name for one in b.records]),
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


def _package_tests(b: Blueprint, t: Traits) -> sheets.PackageTestSheet:
    modules = [
        *("__agent_name__", "config", "main", "pipeline"),
        *(["constrained_slots"] if t.slot_names or t.denies or t.asks or b.tools else []),
        *(["loader"] if b.references else []),
        *(["requirements"] if t.requirements else []),
        *(["schemas"] if b.records else []),
        *(["tools"] if t.real else []),
    ]
    texts = {(text, value_digest(text)) for text in _requirement_texts(b, t.denies)}
    return sheets.PackageTestSheet(
        b=b,
        requirements=t.requirements,
        denies=t.denies,
        asks=t.asks,
        real=t.real,
        slot_names=t.slot_names,
        slot_set=_list_of([literals.one_line(name) for name in t.slot_names]),
        tool_names=_list_of([literals.one_line(tool.function) for tool in b.tools]),
        test_imports=literals.imports(b.package, modules),
        digests=(
            *((one.name, value_digest(one.value)) for one in b.constants),
            *((name, value_digest(value)) for name, value in t.limits),
        ),
        requirement_digests=tuple(sorted(texts, key=lambda pair: pair[1])),
        name_digest=value_digest(b.name),
        check_cases=_check_cases(b.requirements),
        answer_step=b.answer_step,
    )


def _run_tests(b: Blueprint, t: Traits) -> sheets.RunTestSheet:
    shaped = [number for number, step in enumerate(b.steps) if step.kind in ("fill", "decide", "judge")]
    denied = next((rule for rule in t.denies if _callable(rule, b)), None)
    return sheets.RunTestSheet(
        b=b,
        chat=t.chat,
        streaming=t.streaming,
        generates=t.generates,
        all_steps=t.all_steps,
        data=t.data,
        choices=tuple(step for step in t.slots if step.drafted and step.labels),
        shaped=shaped[0] if shaped and b.tools and not t.chat else None,
        denied_call=_denied_call(denied, b) if denied is not None else None,
        make_type="Callable[[], tuple[dict[str, str], str, str]]",
    )


def _typing_imports(b: Blueprint) -> str:
    """The imports from typing that the models need; names of models may contain these words too."""
    written = [field.annotation for model in b.models for field in model.fields]
    written += [alias.text for model in b.models for alias in model.aliases]
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "", "\n".join(written))
    wanted = [name for name in ("Any", "Literal") if re.search(rf"\b{name}\b", bare)]
    if b.procedures and "Literal" not in wanted:
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


def _pipeline_doc(b: Blueprint) -> str:
    count = len(b.steps)
    if b.procedures:
        return f"The steps of the spec, {count} in {len(b.procedures)} procedures."
    return f"The steps of the spec, in order: {count} of them." if count > 1 else "The one step of the spec."


def _run_doc(b: Blueprint, streaming: bool) -> str:
    if b.procedures and streaming:
        return "Run what the request calls for and yield the answer as it arrives; returns a SkillResult."
    if b.procedures:
        return "Run the procedures that a request calls for. Raises ValueError when the request is empty."
    if streaming:
        return (
            "Run every step and yield the text of the last as it arrives; returns a SkillResult at the end."
        )
    return "Run every step on a request. Raises ValueError when the request is empty."


def _pipeline_imports(b: Blueprint, chat: bool) -> str:
    wanted = [] if chat else ["__agent_name__"]
    if any(step.slot is None for step in b.run_steps):
        wanted.append("config")
    if b.memory:
        wanted.append("constrained_slots")
    return literals.imports(".", wanted) if wanted else ""


def value_digest(value: Any) -> str:
    plain = list(value) if isinstance(value, tuple) else value
    return digest(json.dumps(plain, sort_keys=True), 16)


def _requirement_texts(b: Blueprint, denies: tuple[Permission, ...]) -> list[str]:
    return [*(one.text for one in b.requirements), *(f"Never use {rule.text}" for rule in denies)]


def _check_cases(requirements: tuple[Requirement, ...]) -> tuple[sheets.CheckCase, ...]:
    """A good and a bad answer for each check in code."""
    return tuple(
        sheets.CheckCase(index, *one.check.examples())
        for index, one in enumerate(requirements)
        if one.check is not None
    )


def _callable(rule: Permission, b: Blueprint) -> bool:
    return any(tool.tool == rule.example[0] for tool in b.slotted)


def _denied_call(rule: Permission, b: Blueprint) -> sheets.DeniedCall:
    tool = next(one for one in b.slotted if one.tool == rule.example[0])
    arguments = {tool.argument: rule.example[1]}
    if tool.function in WRITERS:
        arguments["content"] = "x"
    inner = ", ".join(
        f"{literals.one_line(key)}: {literals.one_line(value)}" for key, value in arguments.items()
    )
    return sheets.DeniedCall(tool.function, f"{{{inner}}}")
