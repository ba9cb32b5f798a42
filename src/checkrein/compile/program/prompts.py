"""The prompts of a program, one constant for each step, gate, condition and list, and its choices."""

from __future__ import annotations

from checkrein.compile.program.draw import Program


def prompts(program: Program, file: str) -> list[tuple[str, str, str]]:
    """(name, text, source) of every text that a function puts to the model or to a person."""
    found: list[tuple[str, str, str]] = []
    for gate in program.gates:
        lines = ", ".join(map(str, gate.lines))
        found.append((gate.function.upper(), gate.text, f"{file}:{lines}" if lines else "the whole spec"))
    for step in (*program.steps, *((program.closing,) if program.closing is not None else ())):
        if step.holds:
            found.append((f"HOLDS_{step.short}", step.holds, step.source))
        lists = step.over.startswith("items_")
        if lists:
            found.append((f"ITEMS_{step.short}", f"every {step.each}", step.source))
        if lists or (step.slot is None and not step.ways):
            found.append((step.constant, step.text, step.source))
    if program.checks is not None:
        found.append(("CHECK_ANSWER", "Look at the answer once more. Is this true of it?", "the whole spec"))
    return found


def choices(program: Program) -> list[tuple[str, dict[str, str], tuple[str, ...]]]:
    """(name, texts by label, sources) of everything that a label chooses from."""
    found: list[tuple[str, dict[str, str], tuple[str, ...]]] = [
        (
            f"WAYS_{step.short}",
            {one.label: f"{step.title}\n\n{one.text}" for one in step.ways},
            (step.source,),
        )
        for step in program.steps
        if step.ways
    ]
    if program.procedures:
        sources = tuple(one.steps[0].source for one in program.procedures)
        found.append(("PROCEDURES", {one.title: one.about for one in program.procedures}, sources))
    return found
