"""What a blueprint implies for several files of its package."""

from __future__ import annotations

from msgspec import Struct

from checkrein.compile.blueprint import Blueprint
from checkrein.compile.rules import Permission
from checkrein.compile.steps import Step
from checkrein.compile.values import Tool
from checkrein.facts import compile as facts


class Traits(Struct, frozen=True, kw_only=True):
    """`extra` are the parameters of a run beside the request, each with a description; `real` the tools that
    the package implements; `slots` the steps that are generative functions; `slot_names` what a host
    supplies."""

    chat: bool
    streaming: bool
    kinds: frozenset[str]
    judges: bool
    instructs: bool
    generates: bool
    asks_forms: bool
    requirements: bool
    data: str | None
    all_steps: str
    denies: tuple[Permission, ...]
    asks: tuple[Permission, ...]
    real: tuple[Tool, ...]
    slots: tuple[Step, ...]
    slot_names: tuple[str, ...]
    slots_module: bool
    extra: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, int], ...]


def traits_of(b: Blueprint) -> Traits:
    chat = b.shape == "conversational_session"
    kinds = frozenset(step.kind for step in b.run_steps)
    denies = tuple(rule for rule in b.permissions if rule.behavior == "deny")
    judges = bool(kinds & {"judge", "remediate", "stream_remediation"})
    instructs = "instruct" in kinds
    requirements = bool(b.requirements or denies or b.allowed)
    slot_names = {tool.function for tool in b.slotted} | set(b.memory)
    if b.confirms:
        slot_names.add("confirm_action")
    return Traits(
        chat=chat,
        streaming=b.shape == "streaming",
        kinds=kinds,
        judges=judges,
        instructs=instructs,
        generates=instructs or "remediate" in kinds,
        asks_forms=judges or "decide" in kinds,
        requirements=requirements,
        data=None if chat else b.output_model,
        all_steps="(*STEPS, answer)" if b.closing is not None else "STEPS",
        denies=denies,
        asks=tuple(rule for rule in b.permissions if rule.behavior == "ask"),
        real=tuple(tool for tool in b.tools if tool.disposition == "real_impl"),
        slots=tuple(step for step in b.steps if step.slot),
        slot_names=tuple(sorted(slot_names)),
        slots_module=bool(slot_names or b.guarded),
        extra=_extra(b),
        limits=_limits(b, kinds, retries=requirements and instructs),
    )


def _extra(b: Blueprint) -> tuple[tuple[str, str], ...]:
    extra = [(one.name, one.about) for one in b.parameters]
    if b.asks_user:
        extra.append(("user_answers", "What a person answered to the questions of the spec."))
    if b.user_context:
        extra.append(("user_context", "What is known about the user."))
    return tuple(extra)


def _limits(b: Blueprint, kinds: frozenset[str], *, retries: bool) -> tuple[tuple[str, int], ...]:
    remediates = bool(kinds & {"remediate", "stream_remediation"})
    return (
        *((("MAX_ATTEMPTS", facts.MAX_ATTEMPTS),) if retries else ()),
        *((("MAX_TOOL_ROUNDS", facts.MAX_TOOL_ROUNDS),) if b.tools else ()),
        *((("MAX_REMEDIATION_ITERATIONS", facts.MAX_REMEDIATION),) if remediates else ()),
    )
