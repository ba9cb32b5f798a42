"""The package before it is text: every constant, step, rule, tool, parameter and handler it will have."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from checkrein.compile import names, tools
from checkrein.compile.blocks import plain
from checkrein.compile.checks import Check, check_of, rule_text
from checkrein.compile.constants import Constant, collect_constants
from checkrein.compile.details import HookDetails
from checkrein.compile.inputs import Parameter, read_parameters
from checkrein.compile.models import RESERVED, Model, collect_models
from checkrein.compile.program.draw import Program, draw_program
from checkrein.compile.program.gate_places import Gate
from checkrein.compile.program.prompts import choices, prompts
from checkrein.compile.references import Reference, carried
from checkrein.compile.rules import Permission, permissions
from checkrein.compile.signals import ARGUMENTS
from checkrein.compile.steps import Procedure, Step, draw_steps
from checkrein.compile.values import Classification, Element, Inventory, Mapping, PlanEntry, Tool
from checkrein.facts import compile as facts
from checkrein.facts.compile import Modality


class Requirement(Struct, frozen=True, kw_only=True, gc=False):
    text: str
    source: str
    check: Check | None = None


class Variable(Struct, frozen=True, kw_only=True):
    """A variable of the environment; `note` is what the spec says of it, on one line."""

    name: str
    note: str = ""


class Handler(Struct, frozen=True, kw_only=True):
    event: str
    module: str
    matchers: tuple[str, ...]


class Blueprint(Struct, frozen=True, kw_only=True):
    package: str
    distribution: str
    name: str
    description: str
    version: str
    license: str | None
    authors: tuple[str, ...]
    dependencies: tuple[str, ...]
    modality: Modality
    shape: str
    secondary: tuple[Modality, ...]
    memory: tuple[str, ...]
    constants: tuple[Constant, ...]
    program: Program
    requirements: tuple[Requirement, ...]
    permissions: tuple[Permission, ...]
    allowed: tuple[Permission, ...]
    tools: tuple[Tool, ...]
    hosts: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    handlers: tuple[Handler, ...]
    variables: tuple[Variable, ...]
    models: tuple[Model, ...]
    output_model: str | None
    asks_user: bool
    user_context: bool
    user_invocable: bool
    local_host: bool
    companions: tuple[str, ...]
    loads: tuple[str, ...]
    references: tuple[Reference, ...]
    arguments: bool
    samples: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.program.steps

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        return self.program.procedures

    @property
    def closing(self) -> Step | None:
        return self.program.closing

    @property
    def gates(self) -> tuple[Gate, ...]:
        return self.program.gates

    @property
    def run_steps(self) -> tuple[Step, ...]:
        """All that a run does: the steps of the spec, and the answer when the last step does not give one."""
        return (*self.steps, self.closing) if self.closing is not None else self.steps

    @property
    def guarded(self) -> bool:
        return bool(self.tools or self.permissions)

    @property
    def records(self) -> tuple[Model, ...]:
        """The models of what steps give, and of the report."""
        made = [step.record for step in self.steps if step.record is not None]
        made += self.program.report.models if self.program.report is not None else ()
        return (*made, *((self.program.checks,) if self.program.checks is not None else ()))

    @property
    def data(self) -> str | None:
        """The model of the answer."""
        report = self.program.report
        return report.name if report is not None else self.output_model

    @property
    def slotted(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in self.tools if tool.disposition != "real_impl")

    @property
    def confirms(self) -> bool:
        """Whether a person is asked for a yes."""
        gated = any(not gate.questions for gate in self.gates)
        consents = any(step.result == "consent" for step in self.steps)
        return gated or consents or any(rule.behavior == "ask" for rule in self.permissions)

    @property
    def questions(self) -> bool:
        """Whether a person is asked something in words."""
        return any(gate.questions for gate in self.gates) or any(s.result == "answer" for s in self.steps)

    @property
    def needs(self) -> dict[str, str]:
        """Modules that the package imports, and the requirement that installs each."""
        found = {"mellea": facts.MELLEA, "pydantic": "pydantic>=2"}
        if any(tool.disposition == "real_impl" for tool in self.tools):
            found["requests"] = "requests>=2.31"
        if self.local_host:
            found["checkrein"] = "checkrein>=0.1"
        return found

    @property
    def answer_step(self) -> str:
        """The step whose text the rules on the answer judge."""
        return self.program.answer.function

    def has(self, name: str) -> bool:
        return any(constant.name == name for constant in self.constants)


def draw(
    inventory: Inventory,
    classification: Classification,
    mappings: tuple[Mapping, ...],
    plan: tuple[PlanEntry, ...],
    *,
    local_host: bool = False,
    samples: tuple[str, ...] = (),
) -> Blueprint:
    spec = inventory.spec
    removed = {one for entry in plan if entry.disposition == "remove" for one in entry.source_elements}
    outside = {
        one
        for entry in plan
        if entry.disposition == "external_input" and entry.target.endswith(":KNOWLEDGE")
        for one in entry.source_elements
    }
    kept = tuple(e for e in inventory.elements if e.element_id not in removed)
    by_id = {element.element_id: element for element in kept}
    mocked = {entry.target.rsplit(":", 1)[-1] for entry in plan if entry.disposition == "mock"}
    found_tools = tuple(
        tool if tool.function not in mocked else _mocked(tool) for tool in tools.collect(kept).values()
    )
    package = names.package_name(_package_source(spec.name, spec.values, kept))
    models, output_model = _models(mappings, by_id)
    chat, streams = (
        classification.modality == "conversational_session",
        classification.modality == "streaming",
    )
    classes = names.Unique(frozenset({*RESERVED, *(one.name for one in models)}))
    program = draw_program(
        spec,
        draw_steps(mappings, by_id, plain=chat or streams, classes=classes),
        kept,
        plain=chat or streams,
        chat=chat,
        classes=classes,
        output_model=output_model,
        models=len(models),
    )
    parameters = read_parameters(kept)
    bundled = tuple(e for e in kept if e.element_id not in outside)
    loads = tuple(
        entry.target.rsplit(":", 1)[-1]
        for entry in plan
        if entry.disposition == "load_from_disk" and not entry.target.startswith("loader.py:")
    )
    rules = permissions(kept, ("deny", "ask"))
    web = next((tool for tool in found_tools if tool.disposition == "real_impl"), None)
    own = classification.modality in facts.OWN_SHAPE
    constants = collect_constants(
        spec,
        bundled,
        mappings,
        texts=[*prompts(program, spec.file), ("ANSWER_STEP", program.answer.function, "the whole spec")],
        tables=choices(program),
        loads=loads,
        sections=program.told,
    )
    return Blueprint(
        package=package,
        distribution=names.distribution_name(package),
        name=spec.name,
        description=spec.description,
        version=_version(spec.values),
        license=str(spec.values["license"]) if spec.values.get("license") else None,
        authors=_authors(spec.values),
        dependencies=tuple(
            e.content_full for e in kept if e.row == "M-35" and _is_requirement(e.content_full)
        ),
        modality=classification.modality,
        shape=classification.modality if own else "synchronous_oneshot",
        secondary=tuple(classification.secondary_modalities),
        memory=tuple(
            dict.fromkeys(
                mapping.target_symbol
                for mapping in mappings
                if mapping.target_symbol.startswith("recall_") and mapping.element_id in by_id
            )
        ),
        constants=constants,
        program=program,
        requirements=_requirements(mappings, by_id),
        permissions=rules,
        allowed=permissions(kept, ("allow",)),
        tools=found_tools,
        hosts=tools.hosts(web) if web is not None else (),
        parameters=parameters,
        handlers=_handlers(kept),
        variables=_variables(kept),
        models=models,
        output_model=output_model,
        asks_user=any(e.tag == "CONVERSE" and e.row is None for e in kept) or _asks(program),
        user_context=any(e.row == "M-25" for e in kept) or bool(outside),
        user_invocable=bool(spec.values.get("user-invocable")),
        local_host=local_host and bool(found_tools or rules),
        companions=tuple(dict.fromkeys(path.split("/", 1)[0] for path, _ in inventory.companions)),
        loads=loads,
        references=carried(kept),
        arguments=ARGUMENTS.search(spec.body) is not None,
        samples=samples,
    )


def _asks(program: Program) -> bool:
    return any(gate.questions for gate in program.gates) or any(s.result == "answer" for s in program.steps)


def _mocked(tool: Tool) -> Tool:
    from msgspec.structs import replace

    return replace(tool, disposition="mock")


def _package_source(name: str, values: dict[str, Any], elements: tuple[Element, ...]) -> str:
    if values.get("name"):
        return name
    plugin = next((e.content_full for e in elements if e.row == "M-34"), None)
    return plugin or name


def _version(values: dict[str, Any]) -> str:
    metadata = values.get("metadata")
    written = metadata.get("version") if isinstance(metadata, dict) else None
    text = str(written if written is not None else values.get("version") or "")
    return text if re.fullmatch(r"\d+(?:\.\d+){0,3}", text) else "0.1.0"


def _authors(values: dict[str, Any]) -> tuple[str, ...]:
    metadata = values.get("metadata")
    author = metadata.get("author") if isinstance(metadata, dict) else None
    return (author,) if isinstance(author, str) and author.strip() and "\n" not in author else ()


def _is_requirement(text: str) -> bool:
    return (
        re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[\w, -]+\])?\s*(?:[<>=!~].*)?", text) is not None
        and "\n" not in text
    )


def _requirements(mappings: tuple[Mapping, ...], by_id: dict[str, Element]) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(text=rule_text(element), source=element.place, check=check_of(element))
        for mapping in mappings
        if mapping.primitive == "Requirement"
        and (element := by_id.get(mapping.element_id)) is not None
        and not element.prose.carried
    )


def _handlers(elements: tuple[Element, ...]) -> tuple[Handler, ...]:
    grouped: dict[str, list[HookDetails]] = {}
    for element in elements:
        if isinstance(element.details, HookDetails):
            grouped.setdefault(element.details.event, []).append(element.details)
    unique = names.Unique()
    return tuple(
        Handler(
            event=event,
            module=unique.take(names.snake(event)),
            matchers=tuple(dict.fromkeys(known.matcher or "*" for known in members)),
        )
        for event, members in grouped.items()
    )


def _variables(elements: tuple[Element, ...]) -> tuple[Variable, ...]:
    from checkrein.facts.compile_words import CREDENTIAL

    notes = {e.content_full: "" for e in elements if e.row == "M-29"}
    for element in elements:
        if element.category == "C7" and element.row is None:
            for named in CREDENTIAL.finditer(element.content_full):
                if "_" in named[0] and not notes.get(named[0]):
                    notes[named[0]] = plain(element.content_full)
    return tuple(
        Variable(name=name, note=note)
        for name, note in notes.items()
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    )


def _models(mappings: tuple[Mapping, ...], by_id: dict[str, Element]) -> tuple[tuple[Model, ...], str | None]:
    described = [
        (by_id[mapping.element_id], mapping.target_symbol)
        for mapping in mappings
        if mapping.primitive == "BaseModel" and mapping.element_id in by_id
    ]
    return collect_models(described), described[0][1] if described else None
