"""Draw the screens of docs/terminal.md as SVG: a scripted session in a real terminal, seen by an emulator.

    python scripts/terminal_screens.py

Needs the extra `dev`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.terminals import ENTER, ESC, Terminal, ctrl  # noqa: E402

PLACE = ROOT / "docs" / "screens"
CELL, LINE, EDGE = 8.4, 18, 14
COLORS = {
    "default": "#d4d4d4",
    "black": "#000000",
    "red": "#f14c4c",
    "green": "#4ec98f",
    "brown": "#d7ba7d",
    "yellow": "#d7ba7d",
    "blue": "#569cd6",
    "magenta": "#c586c0",
    "cyan": "#4fc1d6",
    "white": "#e5e5e5",
}
FILES = {
    ".claude/settings.json": {"permissions": {"allow": ["Bash(npm test *)"], "deny": ["Read(./.env)"]}},
    "CLAUDE.md": "# Shop\n\nRun `npm test` before a commit.\n",
    "src/cart.ts": "export const total = (items) => items.length;\n",
}
REPLY = (
    "## What I found\n\nThe total counts items, not prices:\n\n```ts\n"
    "export const total = (items) => items.length;\n```\n\n"
    "| file | problem |\n|---|---|\n| `src/cart.ts` | counts instead of adding |\n"
)
TODOS = [
    {"content": "Read the cart", "status": "completed", "activeForm": "Reading"},
    {"content": "Add up prices", "status": "in_progress", "activeForm": "Adding"},
    {"content": "Run the tests", "status": "pending", "activeForm": "Running"},
]


def call(name: str, **input: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "input": input}]}


def main() -> None:
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / "shop"
        for path, content in FILES.items():
            file = project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        cart = str(project / "src/cart.ts")
        turns = [
            {"thinking": "Let me look at the cart first.", "text": REPLY},
            call("TodoWrite", todos=TODOS),
            call("Bash", command="git status && npm run test:unit --watch"),
            call("Read", file_path=cart),
            call("Edit", file_path=cart, old_string="items.length", new_string="items.reduce(sum, 0)"),
            {"text": "Done."},
        ]
        script = Path(name) / "model.jsonl"
        script.write_text("".join(f"{json.dumps(turn)}\n" for turn in turns))
        env = {"HOME": name, "CHECKREIN_HOME": f"{name}/home", "COLORFGBG": "15;0"}
        words = ("--model", f"scripted:{os.path.relpath(script, project)}", "--trust")
        with Terminal(project, *words, rows=30, columns=96, **env) as terminal:
            terminal.wait("Ctrl-D leaves").send("What is wrong with the cart?", ENTER).turns(1)
            draw(terminal, "reply")
            terminal.send("Fix it", ENTER).wait("Allow Bash?")
            draw(terminal, "approval")
            terminal.send("2").wait("This rule goes to")
            draw(terminal, "always")
            terminal.send(ESC).wait("Allow Bash?").send("3").wait("What should").send("No tests yet", ENTER)
            terminal.wait("Allow Edit?")
            draw(terminal, "diff")
            terminal.send("1").turns(2).send("/").wait("/add-dir")
            draw(terminal, "commands")
            terminal.send(ctrl("c")).send("/context", ENTER).wait("Free space")
            draw(terminal, "context")


def draw(terminal: Terminal, name: str) -> None:
    screen = terminal._screen
    last = max((at for at, line in enumerate(terminal.lines) if line), default=0) + 1
    width, height = screen.columns * CELL + 2 * EDGE, last * LINE + 2 * EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" role="img" aria-label="{escape(name)}">',
        '<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>'
        '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">',
    ]
    for row in range(last):
        parts += [_text(screen.buffer[row], start, end, row) for start, end in _runs(screen, row)]
    PLACE.joinpath(f"{name}.svg").write_text("\n".join([*parts, "</g></svg>"]) + "\n", "utf-8")


def _runs(screen: Any, row: int) -> list[tuple[int, int]]:
    """Neighbours of one look."""
    line = screen.buffer[row]
    found: list[tuple[int, int]] = []
    for at in range(screen.columns):
        if found and _look(line[found[-1][0]]) == _look(line[at]):
            found[-1] = found[-1][0], at + 1
        else:
            found.append((at, at + 1))
    return [run for run in found if any(line[at].data.strip() for at in range(*run))]


def _look(cell: Any) -> tuple[Any, ...]:
    return cell.fg, cell.bold, cell.italics, cell.underscore


def _text(line: Any, start: int, end: int, row: int) -> str:
    said = "".join(line[at].data for at in range(start, end))
    cell = line[start]
    color = COLORS.get(cell.fg.removeprefix("bright"), COLORS["default"])
    weight = ' font-weight="bold"' if cell.bold else ""
    slant = ' font-style="italic"' if cell.italics else ""
    y = EDGE + row * LINE + 13
    words = (  # each at its column: how wide a blank is depends on the font
        f'<tspan x="{EDGE + (start + found.start()) * CELL:.1f}">{escape(found[0])}</tspan>'
        for found in re.finditer(r"\S+", said)
    )
    return f'<text y="{y}" fill="{color}"{weight}{slant}>{"".join(words)}</text>'


if __name__ == "__main__":
    main()
