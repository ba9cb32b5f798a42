"""What a blueprint implies for several files of its package."""

from __future__ import annotations

from msgspec import Struct

from checkrein.compile.blueprint import Blueprint
from checkrein.compile.inputs import Parameter
from checkrein.compile.program.flow import Flow, alias, annotation
from checkrein.compile.rules import Permission
from checkrein.compile.steps import Step
from checkrein.compile.values import Tool
from checkrein.facts import compile as facts

_FORMED = ("verdict", "outcome", "attempt", "report")
_FILLED = ("items", "records", "record", "label")


class Slot(Struct, frozen=True):
    """A generative function: its text and the type of its answer."""

    name: str
    returns: str
    text: str


class Traits(Struct, frozen=True, kw_only=True):
    """`forms` are the small models that methods of a run use; `typed` says that it fills slots, `formed` that
    steps have models, `writes` that steps give text. `extra` are the parameters of a run beside the request;
    `real` the tools that the package implements; `slots` its generative functions; `slot_names` what a host
    supplies."""

    chat: bool
    streaming: bool
    flow: Flow
    final: str
    forms: frozenset[str]
    writes: bool
    typed: bool
    formed: bool
    requirements: bool
    data: str | None
    denies: tuple[Permission, ...]
    asks: tuple[Permission, ...]
    real: tuple[Tool, ...]
    slots: tuple[Slot, ...]
    slot_names: tuple[str, ...]
    slots_module: bool
    extra: tuple[Parameter, ...]
    limits: tuple[tuple[str, int], ...]

    @property
    def plain(self) -> bool:
        return self.chat or self.streaming


def traits_of(b: Blueprint) -> Traits:
    chat, streaming = b.shape == "conversational_session", b.shape == "streaming"
    final = b.run_steps[-1].function if streaming else ""
    denies = tuple(rule for rule in b.permissions if rule.behavior == "deny")
    requirements = bool(b.requirements or denies or b.allowed)
    slot_names = {tool.function for tool in b.slotted} | set(b.memory)
    slot_names |= {"confirm_action"} if b.confirms else set()
    slot_names |= {"ask_person"} if b.questions else set()
    slots = tuple(_slots(b, final))
    inner = [step for step in b.run_steps if step.function != final]
    writes = any(step.ways or (step.result == "text" and step.slot is None) for step in inner)
    formed = any(step.result in _FORMED for step in inner) or b.program.checks is not None
    forms = _forms(b, inner)
    reported = any(step.result == "report" for step in b.run_steps)
    data = b.data if streaming or (reported and not chat) else None
    return Traits(
        chat=chat,
        streaming=streaming,
        flow=Flow(b.program, data, final=final, acts=bool(b.tools)),
        final=final,
        forms=forms,
        writes=writes,
        typed=bool(slots),
        formed=formed,
        requirements=requirements,
        data=data,
        denies=denies,
        asks=tuple(rule for rule in b.permissions if rule.behavior == "ask"),
        real=tuple(tool for tool in b.tools if tool.disposition == "real_impl"),
        slots=slots,
        slot_names=tuple(sorted(slot_names)),
        slots_module=bool(slot_names or b.guarded),
        extra=_extra(b),
        limits=_limits(b, retries=bool(slots or forms or formed or (requirements and writes)), inner=inner),
    )


def _forms(b: Blueprint, steps: list[Step]) -> frozenset[str]:
    found = {"outcome" for step in steps if step.result in ("outcome", "attempt")}
    found |= {"verdict" for step in steps if step.result == "verdict" and step.record is None}
    found |= {"condition" for step in steps if step.holds}
    found |= {"items" for step in steps if step.over.startswith("items_")}
    found |= {"questions" for gate in b.gates if gate.questions}
    found |= {"choice"} if b.procedures or b.program.topics else set()
    found |= {"form"} if any(s.result in _FORMED for s in steps) or b.program.checks is not None else set()
    return frozenset(found)


def _slots(b: Blueprint, final: str) -> list[Slot]:
    found: list[Slot] = []
    for step in b.run_steps:
        if step.ways:
            found.append(Slot(step.slot or f"choose_{step.short}", alias(step), step.text))
        elif step.slot is not None and step.function != final:
            found.append(Slot(step.slot, annotation(step, None), step.text))
    return found


def _extra(b: Blueprint) -> tuple[Parameter, ...]:
    extra = [one for one in b.parameters if one.name not in ("user_answers", "user_context")]
    if b.asks_user:
        about = "What a person answered to the questions of the spec."
        extra.append(Parameter(name="user_answers", about=about))
    if b.user_context:
        extra.append(Parameter(name="user_context", about="What is known about the user."))
    return tuple(extra)


def _limits(b: Blueprint, *, retries: bool, inner: list[Step]) -> tuple[tuple[str, int], ...]:
    repeats = any(step.result == "attempt" or step.again for step in inner)
    return (
        ("STEPS_BEFORE", facts.STEPS_BEFORE),
        *((("MAX_ATTEMPTS", facts.MAX_ATTEMPTS),) if retries else ()),
        *((("MAX_TOOL_ROUNDS", facts.MAX_TOOL_ROUNDS),) if b.tools else ()),
        *((("MAX_REMEDIATION_ITERATIONS", facts.MAX_REMEDIATION),) if repeats else ()),
    )
