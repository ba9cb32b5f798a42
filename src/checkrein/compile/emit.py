"""Step 3 to 6: the files of the package, as text, by path. The same input gives the same bytes."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from checkrein.compile import literals
from checkrein.compile.blueprint import Blueprint, Requirement
from checkrein.compile.constants import Constant
from checkrein.compile.elements import digest
from checkrein.compile.payload import PAYLOAD, payload
from checkrein.compile.render import mock_model, render
from checkrein.compile.rules import Permission
from checkrein.facts import compile as facts
from checkrein.facts.compile_checks import CHECKS

_WRITERS = ("write_file", "edit_file", "edit_notebook")
_ARGUMENTS = {
    "command": "The command line.",
    "path": "The path, relative to the project.",
    "pattern": "The pattern to look for.",
    "url": "An https address.",
    "query": "The words to search for.",
    "arguments": "The arguments, as JSON.",
    "tool": "The name of the server's tool, a blank, and its arguments as JSON.",
}
_SAMPLE = "A request that a model drafted."
# Fixtures whose text a model may draft, in this order.
SAMPLED = ("typical", "minimal", "several_lines")
_QUOTED = re.compile(r"(?<![\w])[\"“]([A-Za-z][^\"“”\n]* [^\"“”\n]{2,60})[\"”](?!\w)")
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


class Fixture(Struct, frozen=True):
    id: str
    about: str
    inputs: dict[str, str]
    steps: int
    error: str | None = None


class CheckCase(Struct, frozen=True):
    index: int
    good: str
    bad: str


def emit_code(b: Blueprint, *, loaded: dict[str, str], web_source: str) -> dict[str, str]:
    """Python files and pyproject.toml, relative to the output directory."""
    values = _values(b, web_source)
    package = b.package
    files = {
        "pyproject.toml": render("pyproject.toml", **values),
        f"{package}/__init__.py": render("init.py", **values),
        f"{package}/__main__.py": render("dunder_main.py", **values),
        f"{package}/config.py": render("config.py", **values),
        f"{package}/schemas.py": render("schemas.py", **values),
        f"{package}/session.py": render("session.py", **values),
        f"{package}/pipeline.py": render("pipeline.py", **values),
        f"{package}/main.py": render("main.py", **values),
        "tests/__init__.py": "",
        "tests/mock_model.py": mock_model(values["streaming"]),
        "tests/test_package.py": render("test_package.py", **values),
        "tests/test_run.py": render("test_run.py", **values),
    }
    if values["streaming"]:
        files[f"{package}/streaming.py"] = render("streaming.py", **values)
    if values["requirements"]:
        files[f"{package}/requirements.py"] = render("requirements.py", **values)
    if values["slots"]:
        files[f"{package}/slots.py"] = render("slots.py", **values)
    if values["slots_module"]:
        files[f"{package}/constrained_slots.py"] = render("constrained_slots.py", **values)
    if b.guarded:
        files[f"{package}/guards.py"] = payload(PAYLOAD)
    if values["real"]:
        files[f"{package}/tools.py"] = render("tools.py", **values)
    if b.loads or b.references:
        files[f"{package}/loader.py"] = render("loader.py", **values)
        for name, text in loaded.items():
            files[f"{package}/references/compiled/{name}"] = text
    if b.local_host and values["slots_module"]:
        files[f"{package}/host_local.py"] = render("host_local.py", **values)
    if b.handlers:
        files[f"{package}/handlers/__init__.py"] = '"""Hooks of the spec, left to the host."""\n'
        for handler in b.handlers:
            files[f"{package}/handlers/{handler.module}.py"] = render("handler.py", handler=handler, **values)
    fixtures = make_fixtures(b)
    files[f"{package}/fixtures/__init__.py"] = render("fixtures_init.py", fixtures=fixtures)
    for fixture in fixtures:
        files[f"{package}/fixtures/{fixture.id}.py"] = render("fixture.py", fixture=fixture)
    if values["mocked"]:
        files[f"{package}/fixtures/mock_tools.py"] = render("mock_tools.py", **values)
    if b.variables:
        files[".env.example"] = render("env_example", **values)
    return files


def _typical(b: Blueprint) -> str:
    """A request that the description quotes, else its first sentence."""
    about = " ".join(b.description.split())
    quoted = _QUOTED.search(about)
    if quoted is not None:
        return quoted[1]
    first = re.split(r"(?<=[a-z)])[.;] ", about, maxsplit=1)[0].rstrip(".")
    words = first[:160].rsplit(" ", 1)[0] if len(first) > 160 else first
    return f"Please do this: {words or b.name}"


def make_fixtures(b: Blueprint) -> tuple[Fixture, ...]:
    key = "message" if b.shape == "conversational_session" else "request"
    steps = len(b.run_steps)
    texts = (
        ("typical", "A request in the spec's own words.", _typical(b)),
        ("minimal", "A single word.", "help"),
        (
            "several_lines",
            "A request of several lines, with a list.",
            "Look at this:\n- one\n- two\n\nThen go on.",
        ),
        (
            "signs",
            "Quotes, backslashes, braces and other scripts.",
            "\"q\" 'q' \\n {{ x }} {% y %} $HOME é 漢字 🙂",
        ),
        ("out_of_scope", "Something the spec is not about.", "What is the weather on Mars?"),
    )
    drafted = dict(zip(SAMPLED, b.samples))
    made = [
        Fixture(name, _SAMPLE if name in drafted else text, {key: drafted.get(name, value)}, steps)
        for name, text, value in texts
    ]
    made.append(Fixture("empty", "Nothing but blanks is refused.", {key: "   "}, 0, "ValueError"))
    return tuple(sorted(made, key=lambda one: one.id))


def _values(b: Blueprint, web_source: str) -> dict[str, Any]:
    chat = b.shape == "conversational_session"
    kinds = frozenset(step.kind for step in b.run_steps)
    denies = tuple(rule for rule in b.permissions if rule.behavior == "deny")
    asks = tuple(rule for rule in b.permissions if rule.behavior == "ask")
    real = tuple(tool for tool in b.tools if tool.disposition == "real_impl")
    requirements = bool(b.requirements or denies or b.allowed)
    called = {one.check.function for one in b.requirements if one.check is not None}
    used = [row for row in CHECKS.values() if row.name in called]
    slot_names = sorted(
        {tool.function for tool in b.slotted} | set(b.memory) | ({"confirm_action"} if b.confirms else set())
    )
    slots_module = bool(slot_names or b.guarded)
    slots = tuple(step for step in b.steps if step.slot)
    extra = [(one.name, one.about) for one in b.parameters]
    if b.asks_user:
        extra.append(("user_answers", "What a person answered to the questions of the spec."))
    if b.user_context:
        extra.append(("user_context", "What is known about the user."))
    streaming = b.shape == "streaming"
    denied = next((rule for rule in denies if _callable(rule, b)), None)
    schemas = ["SkillResult", "StepRecord"]
    schemas += ["Decision"] if "decide" in kinds else []
    judges = bool(kinds & {"judge", "remediate", "stream_remediation"})
    schemas += ["Verdict"] if judges else []
    schemas += ["ProcedureChoice", "ProcedureName"] if b.procedures else []
    schemas += ["SHAPES"] if b.models else []
    data = None if chat else b.output_model
    schemas += [data] if data is not None else []
    instructs = "instruct" in kinds
    generates = instructs or "remediate" in kinds
    asks_forms = bool(judges or "decide" in kinds)
    shaped = [number for number, step in enumerate(b.steps) if step.kind in ("fill", "decide", "judge")]
    retries = requirements and instructs
    remediates = bool(kinds & {"remediate", "stream_remediation"})
    limits = [
        *([("MAX_ATTEMPTS", facts.MAX_ATTEMPTS)] if retries else []),
        *([("MAX_TOOL_ROUNDS", facts.MAX_TOOL_ROUNDS)] if b.tools else []),
        *([("MAX_REMEDIATION_ITERATIONS", facts.MAX_REMEDIATION)] if remediates else []),
    ]
    return {
        "b": b,
        "chat": chat,
        "streaming": streaming,
        "kinds": kinds,
        "judges": judges,
        "instructs": instructs,
        "generates": generates,
        "asks_forms": asks_forms,
        "data": data,
        "adds": bool(b.references or b.models or any(map(b.has, _LOOKED_UP))),
        "parses": asks_forms or data is not None or bool(b.procedures),
        "retries": retries,
        "gathers": bool(b.tools) and (asks_forms or "fill" in kinds),
        "shaped": shaped[0] if shaped and b.tools and not chat else None,
        "remediates": remediates,
        "sections": _sections(b.constants),
        "titles": facts.CATEGORY_TITLES,
        "limits": limits,
        "typing_imports": _typing_imports(b),
        "model_names": _tuple_of([model.name for model in b.models]),
        "all_steps": "(*STEPS, answer)" if b.closing is not None else "STEPS",
        "step_names": _tuple_of([step.function for step in b.steps]),
        "session_schemas": literals.imports(".schemas", schemas),
        "session_imports": literals.imports(
            ".",
            [
                "config",
                *(["constrained_slots"] if b.tools else []),
                *(["loader"] if b.loads or b.references else []),
                *(["requirements"] if requirements else []),
            ],
        ),
        "guard_imports": literals.imports(
            ".guards",
            ["Guard", *(["DeniedError"] if b.tools else []), *(["Rule"] if b.permissions else [])],
        ),
        "test_imports": literals.imports(
            b.package,
            [
                *("__agent_name__", "config", "main", "pipeline"),
                *(["constrained_slots"] if slot_names or denies or asks or b.tools else []),
                *(["loader"] if b.references else []),
                *(["requirements"] if requirements else []),
                *(["schemas"] if b.records else []),
                *(["tools"] if real else []),
            ],
        ),
        "requirements": requirements,
        "checks": used,
        "check_modules": sorted({module for row in used for module in row.needs}),
        "answer_step": b.answer_step,
        "denies": denies,
        "asks": asks,
        "allowed_texts": tuple(rule.text for rule in b.allowed),
        "slots": slots,
        "literals": any(step.labels for step in slots),
        "choices": [step for step in slots if step.drafted and step.labels],
        "record_imports": literals.imports(".schemas", [one.name for one in b.records]),
        "real": real,
        "writers": _WRITERS,
        "arguments": _ARGUMENTS,
        "slot_names": slot_names,
        "slots_module": slots_module,
        "slot_set": _list_of([literals.one_line(name) for name in slot_names]),
        "tool_names": _list_of([literals.one_line(tool.function) for tool in b.tools]),
        "deny_rules": _rules(denies),
        "ask_rules": _rules(asks),
        "mocked": tuple(tool for tool in b.tools if tool.disposition == "mock"),
        "local_slots": tuple(name for name in slot_names if name in _LOCAL),
        "web_source": web_source,
        "pipeline_doc": _pipeline_doc(b),
        "pipeline_imports": _pipeline_imports(b, chat),
        "result_type": not chat,
        "signature": [("request", ""), *((name, ' = ""') for name, _ in extra)],
        "run_doc": _run_doc(b, streaming),
        "options": [] if chat else extra,
        "main_imports": literals.imports(
            ".", ["__agent_name__", "config", *(["requirements"] if b.allowed else [])]
        ),
        "about_rows": [
            *((key, f"config.{name}") for key, name in _ABOUT if b.has(name)),
            *((("allowed_calls", "requirements.ALLOWED_CALLS"),) if b.allowed else ()),
        ],
        "summary": " ".join(b.description.split())[:200] or b.name,
        "dependencies": (*b.needs.values(), *b.dependencies),
        "packages": [b.package, *([f"{b.package}.handlers"] if b.handlers else [])],
        "package_data": [
            "melleafy.json",
            "*.md",
            *(f"{name}/**/*" for name in b.companions),
            *(["references/compiled/*"] if b.loads and "references" not in b.companions else []),
        ],
        "digests": [
            *((one.name, value_digest(one.value)) for one in b.constants),
            *((name, value_digest(value)) for name, value in limits),
        ],
        "requirement_digests": sorted(
            {(text, value_digest(text)) for text in _requirement_texts(b, denies)}, key=lambda pair: pair[1]
        ),
        "name_digest": value_digest(b.name),
        "check_cases": _check_cases(b.requirements),
        "make_type": "Callable[[], tuple[dict[str, str], str, str]]",
        "denied_call": _denied_call(denied, b) if denied is not None else None,
    }


def _typing_imports(b: Blueprint) -> str:
    """What the models need of typing; names of models may hold these words too."""
    written = [field.annotation for model in b.models for field in model.fields]
    written += [alias.text for model in b.models for alias in model.aliases]
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "", "\n".join(written))
    wanted = [name for name in ("Any", "Literal") if re.search(rf"\b{name}\b", bare)]
    if b.procedures and "Literal" not in wanted:
        wanted.append("Literal")
    return literals.imports("typing", wanted) if wanted else ""


def _tuple_of(names: list[str]) -> str:
    """A tuple of names, one per line where there are several."""
    if len(names) == 1:
        return f"({names[0]},)"
    return "(\n" + "".join(f"    {name},\n" for name in names) + ")"


def _list_of(names: list[str]) -> str:
    if len(names) < 2:
        return f"[{''.join(names)}]"
    return "[\n" + "".join(f"        {name},\n" for name in names) + "    ]"


def _sections(constants: tuple[Constant, ...]) -> list[tuple[str, list[Constant]]]:
    grouped: dict[str, list[Constant]] = {}
    for constant in constants:
        grouped.setdefault(constant.category, []).append(constant)
    return list(grouped.items())


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
        return "Run what the request calls for and give the answer as it arrives; returns a SkillResult."
    if b.procedures:
        return "Run the procedures that a request calls for. Raises ValueError when the request is empty."
    if streaming:
        return "Run every step and give the text of the last as it arrives; returns a SkillResult at the end."
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


def _check_cases(requirements: tuple[Requirement, ...]) -> list[CheckCase]:
    """A good and a bad answer for each check that code makes."""
    return [
        CheckCase(index, *one.check.examples())
        for index, one in enumerate(requirements)
        if one.check is not None
    ]


def _callable(rule: Permission, b: Blueprint) -> bool:
    return any(tool.tool == rule.example[0] for tool in b.slotted)


def _denied_call(rule: Permission, b: Blueprint) -> dict[str, str]:
    tool = next(one for one in b.slotted if one.tool == rule.example[0])
    arguments = {tool.argument: rule.example[1]}
    if tool.function in _WRITERS:
        arguments["content"] = "x"
    inner = ", ".join(
        f"{literals.one_line(key)}: {literals.one_line(value)}" for key, value in arguments.items()
    )
    return {"function": tool.function, "arguments": f"{{{inner}}}"}
