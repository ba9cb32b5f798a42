"""Recipes for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkrein.base.harmless import one_line
from checkrein.cli import paint

if TYPE_CHECKING:
    from checkrein.cli import recipe_check, recipe_show
    from checkrein.cli.recipe_list import RecipeRow
    from checkrein.passes.recipes.outline import InputRow, StepRow


def table(rows: Sequence[RecipeRow]) -> str:
    if not rows:
        return "No recipes here. They lie in .checkrein/recipes/."
    room = max(len(one_line(row.name)) for row in rows)
    lines = []
    for row in rows:
        state = f"{row.errors} error{'s' * (row.errors != 1)}" if row.errors else "ok"
        needs = f" (needs {', '.join(map(one_line, row.inputs))})" if row.inputs else ""
        part = "sub-recipe, " if row.is_sub_recipe else "campaign, " if row.kind == "campaign" else ""
        head = f"{one_line(row.name):<{room}}  {one_line(row.description) or 'no description'}{needs}"
        lines.append(paint.fit(head, paint.width()))
        lines.append(paint.dim(f"{'':<{room}}  {part}{row.steps} steps, {row.scope}, {state}"))
    return "\n".join(lines)


def shown(payload: recipe_show.Payload) -> str:
    lines = [f"{paint.bold(one_line(payload.name))}  {paint.dim(paint.place(payload.origin))}"]
    lines += [one_line(payload.description)] if payload.description else []
    if payload.inputs:
        lines += ["", paint.bold("inputs")]
        lines += [f"  {_input(one)}" for one in payload.inputs]
    lines += ["", paint.bold("dispatches" if payload.dispatches else "steps")]
    lines += [f"  {one_line(name)}" for name in payload.dispatches]
    lines += _steps(payload.steps, "  ")
    for title, values in (("rules", payload.rules), ("packs", payload.packs), ("sub-recipes", payload.parts)):
        if values:
            lines += ["", paint.bold(title), *(f"  {one_line(value)}" for value in values)]
    lines += [f"replaces {paint.place(origin)}" for origin in payload.shadows]
    if payload.findings:
        errors = sum(one.severity == "error" for one in payload.findings)
        verdict = "it can't run" if errors else "it can run"
        lines += [
            "",
            f"{len(payload.findings)} findings, {verdict}: checkrein recipe check {one_line(payload.name)}",
        ]
    return "\n".join(lines)


def checked(payload: recipe_check.Payload) -> str:
    blocks = [paint.diagnostic(finding) for finding in payload.findings]
    totals = [
        f"{number} {severity}{'s' * (number != 1)}" for severity, number in payload.counts.items() if number
    ]
    checked_ = f"{len(payload.recipes)} recipe{'s' * (len(payload.recipes) != 1)}"
    last = f"Checked {checked_}: {', '.join(totals) or 'nothing to report'}"
    if payload.invalid:
        last += f"; can't run: {', '.join(map(one_line, payload.invalid))}"
    return "\n\n".join([*blocks, last])


def _input(one: InputRow) -> str:
    notes = [one.type] if one.type != "string" else []
    notes += ["required"] if one.required else []
    notes += [f"default {one_line(one.default)}"] if one.default else []
    notes += ["hidden"] if one.hidden else []
    notes += ["set by the configuration"] if one.authority == "config" else []
    said = f": {one_line(one.description)}" if one.description else ""
    return f"{one_line(one.name)}{said}" + (paint.dim(f" ({', '.join(notes)})") if notes else "")


def _steps(steps: Sequence[StepRow], indent: str) -> list[str]:
    lines = []
    for step in steps:
        lines.append(f"{indent}{one_line(step.name)}  {paint.dim(f'{one_line(step.what)} [{step.effect}]')}")
        lines += _steps(step.inside, indent + "  | ")
        lines += [f"{indent}    {one_line(outcome)} -> {one_line(target)}" for outcome, target in step.routes]
    return lines
