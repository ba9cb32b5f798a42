"""The page of targets says what the rows say."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.facts.agents import Target, targets

PAGE = (Path(__file__).parents[3] / "docs" / "targets.md").read_text("utf-8")


def cell(value: str | None) -> str:
    return f"`{value}`" if value else "-"


def line(row: Target) -> str:
    form, instructions = row.command, row.instructions
    command = None
    if form is not None:
        command = form.dir + ("/NAME/SKILL.md" if form.form == "skill" else f"/NAME{form.extension}")
    cells = [
        ", ".join(f"`{name}`" for name in (row.key, *row.aliases)),
        row.label,
        cell(command),
        cell(row.skill_dir),
        cell(row.agents.path if row.agents else None),
        cell(instructions.file if instructions else "AGENTS.md" if form else None),
        cell(instructions.rules if instructions else None),
        *(cell(one.file if one else None) for one in (row.hooks, row.servers, row.rules)),
    ]
    return "| " + " | ".join(cells) + " |"


@pytest.mark.parametrize("row", targets().values(), ids=lambda row: row.key)
def test_the_table_of_targets_is_current(row: Target) -> None:
    assert line(row) in PAGE.splitlines()
