"""What the tests of a package show with a scripted model: gates, loops, conditions, routes, prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrein.compile import literals, sheets
from checkrein.compile.blueprint import Blueprint
from checkrein.compile.rules import Permission
from checkrein.compile.tools import WRITERS
from checkrein.compile.traits import Traits

_DONE = ("outcome", "verdict", "attempt")
_MADE_TYPE = "Callable[[], tuple[dict[str, str], str, str]]"


def run_tests(b: Blueprint, t: Traits, *, told: Sequence[str], quoted: bool) -> sheets.RunTestSheet:
    """`told` names the constants with texts by section; with `quoted` the tests hold the text of the spec."""
    denied = next((rule for rule in t.denies if _callable(rule, b)), None)
    gates = () if t.chat else tuple(_gates(b))
    hosted = t.slots_module and bool(t.slot_names)
    needs_run = denied is not None
    told_names = tuple(
        one.name for one in b.constants if one.name in (*told, "PREFIX_TEXT", "AGENT_DESCRIPTION")
    )
    prompts = tuple(_prompts(b, t)) if quoted else ()
    topics = b.program.topics
    table, other = _topic_table(b, told) if topics else ("", "")
    uses_config = bool(
        (told_names and not t.plain) or prompts or b.procedures or any(s.ways for s in b.steps)
    )
    session = [
        *(["AnswerError"] if _typed(t) and not t.plain else []),
        *(["Run"] if needs_run else []),
        *(["open_session"] if needs_run or t.chat else []),
    ]
    return sheets.RunTestSheet(
        b=b,
        chat=t.chat,
        streaming=t.streaming,
        writes=t.writes,
        formed=t.formed,
        data=None if t.plain else t.data,
        slots=t.slots,
        told=told_names,
        gates=gates,
        question_names=tuple(name for name, _ in gates if _is_question(b, name)),
        loops=() if t.plain else tuple(s.function for s in b.steps if s.over and s.when is None),
        conditional=() if t.plain else tuple(s.function for s in b.steps if s.holds),
        outcomes=not t.plain and any(s.result in _DONE and not (s.holds or s.when) for s in b.steps),
        typed=_typed(t) and not t.plain,
        routes=max((len(s.ways) for s in b.steps), default=0),
        prompts=prompts,
        asked_prompts=tuple(step.constant for step in b.steps if step.asks),
        hosted=hosted,
        modules=[
            *(["config"] if uses_config else []),
            *(["constrained_slots"] if hosted or needs_run else []),
        ],
        session_names=session,
        run_line='_, result = drain(run_pipeline("do it"))'
        if t.streaming
        else 'result = run_pipeline("do it")',
        topic_table=table,
        topic_other=other,
        denied_call=_denied_call(denied, b) if denied is not None else None,
        make_type=_MADE_TYPE,
    )


def _typed(t: Traits) -> bool:
    return bool(t.slots or t.forms)


def _gates(b: Blueprint) -> Iterator[tuple[str, str]]:
    """Each gate with the step behind it."""
    closing = b.closing.function if b.closing is not None else ""
    for gate in b.gates:
        yield gate.function, gate.before or closing
    for at, step in enumerate(b.steps):
        if step.asks:
            later = [
                one.function for one in b.steps[at + 1 :] if not one.asks and one.procedure == step.procedure
            ]
            yield step.function, later[0] if later else closing


def _is_question(b: Blueprint, name: str) -> bool:
    asked = any(gate.function == name and gate.questions for gate in b.gates)
    return asked or any(step.function == name and step.result == "answer" for step in b.steps)


def _prompts(b: Blueprint, t: Traits) -> Iterator[tuple[str, int, int]]:
    """Every prompt that is a step of the spec, with its lines."""
    slots = {slot.name for slot in t.slots}
    for step in b.steps:
        if not step.lines[1]:
            continue
        slot = step.slot or (f"choose_{step.short}" if step.ways else None)
        name = slot if slot in slots else step.constant if slot is None else ""
        if name:
            yield name, step.lines[0], step.lines[1] - 1


def _topic_table(b: Blueprint, told: Sequence[str]) -> tuple[str, str]:
    """A constant with a text of a topic that is not the last one."""
    for constant in b.constants:
        if constant.name in told:
            other = next((name for name in constant.value if name in b.program.topics[:-1]), None)
            if other is not None:
                return constant.name, other
    return next(one.name for one in b.constants if one.name in told), ""


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
