"""What the board says, as lines: what is at work, to-dos, agents, messages that wait, and the status line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from checkrein.base.harmless import one_line
from checkrein.cli.screen.board import AgentAtWork, Board
from checkrein.cli.screen.ink import Fragment, Line, cells, cut
from checkrein.cli.screen.theme import Theme

_MARKS = ("·", "✢", "✳", "✶", "✻", "✽")
TODO_MARKS = {"completed": "☒", "in_progress": "▶", "pending": "☐"}
_MOST_TODOS = 8
_MOST_AGENTS = 8
_ENDED_AGENT = 3.0
"""Seconds for which the tree still shows an agent that has ended."""
MODES = {
    "default": "",
    "acceptEdits": "edits are accepted",
    "plan": "plan mode",
    "auto": "auto mode",
    "dontAsk": "never asks",
    "bypassPermissions": "NO PERMISSIONS",
}

Tail = Callable[[str, int], Sequence[str]]
"""The last lines of what a running call has said."""


class StatusRows:
    """`tail` reads the output of a running command; `custom` is what the project's own command says."""

    def __init__(self, board: Board, theme: Theme, tail: Tail) -> None:
        self._board = board
        self._theme = theme
        self._tail = tail
        self.custom: Sequence[str] = ()
        self.note = ""

    def activity(self, columns: int, room: int) -> list[Line]:
        board, theme = self._board, self._theme
        lines: list[Line] = []
        if board.turn_began is not None:
            seconds = time.monotonic() - board.turn_began
            mark = _MARKS[int(seconds * 2) % len(_MARKS)]
            lines.append(
                [
                    (theme["accent"], f"{mark} {board.doing or 'Working'}… "),
                    (theme["quiet"], f"({_time(seconds)} · Esc interrupts)"),
                ]
            )
            lines += self._calls()
        lines += self._agents()
        lines += self._todos()
        lines += [
            [(theme["quiet"], f"  ⧗ {one_line(board.labels.get(text, text))}")] for text in board.waiting[-3:]
        ]
        return [*(cut(line, columns) for line in lines[:room])]

    def _calls(self) -> list[Line]:
        theme, lines = self._theme, list[Line]()
        for call in tuple(self._board.calls.values()):
            took = _time(time.monotonic() - call.began)
            lines.append(
                [("", "  "), (theme["tool"], call.name), ("", f" {call.words} "), (theme["quiet"], took)]
            )
            lines += [[(theme["quiet"], f"    {line}")] for line in self._tail(call.id, 3)]
        return lines

    def _todos(self) -> list[Line]:
        todos, theme = self._board.todos, self._theme
        first = next((at for at, todo in enumerate(todos) if todo.state != "completed"), 0)
        first = max(0, min(first - 1, len(todos) - _MOST_TODOS))
        roles = {"completed": "quiet", "in_progress": "strong"}
        lines: list[Line] = [
            [
                (theme[roles[todo.state]] if todo.state in roles else "", f"  {_todo_mark(todo.state)} "),
                (theme[roles[todo.state]] if todo.state in roles else "", todo.text),
            ]
            for todo in todos[first : first + _MOST_TODOS]
        ]
        left = len(todos) - _MOST_TODOS
        return [*lines, [(theme["quiet"], f"    {left} more")]] if left > 0 else lines

    def _agents(self) -> list[Line]:
        now = time.monotonic()
        agents = [
            one
            for one in tuple(self._board.agents.values())
            if one.ended is None or now - one.ended < _ENDED_AGENT
        ]
        return agent_tree(agents, self._theme)[:_MOST_AGENTS]

    def status(self, columns: int) -> list[Line]:
        board, theme = self._board, self._theme
        left: list[Fragment] = [(theme["warn"], f"{self.note} · ")] if self.note else []
        mode = MODES.get(board.mode, board.mode)
        if mode:
            left += [(theme["bad" if board.mode == "bypassPermissions" else "mode"], mode), ("", " · ")]
        left.append((theme["quiet"], board.model or "loading the project"))
        running = sum(task.state == "running" for task in board.tasks.values())
        if running:
            left.append((theme["warn"], f" · {running} in the background"))
        right = " · ".join(part for part in (self._context(), _money(board.cost), board.branch) if part)
        shown = cut([("", " "), *left], max(10, columns - len(right) - 2))
        gap = columns - cells(shown) - cells([("", right)]) - 1
        lines: list[Line] = [cut([*shown, ("", " " * gap), (theme["quiet"], right)], columns)]
        return [*([("", f" {line}")] for line in self.custom), *lines]

    def _context(self) -> str:
        board = self._board
        if not board.tokens or not board.window:
            return os.path.basename(os.getcwd())
        return f"{board.tokens * 100 // board.window}% of {board.window // 1000}k"


def agent_tree(agents: Sequence[AgentAtWork], theme: Theme) -> list[Line]:
    """Each agent below the one that started it: state, requests, time, cost."""
    known = {agent.id for agent in agents}
    lines: list[Line] = []

    def put(above: str | None, depth: int) -> None:
        for agent in agents:
            if (agent.above if agent.above in known else None) != above:
                continue
            mark, role = _agent_mark(agent)
            plural = "s" * (agent.requests != 1)
            facts = f"{agent.state} · {agent.requests} turn{plural} · {_time(agent.seconds)}"
            money = f" · {_money(agent.cost)}" if agent.cost else ""
            doing = f" · {agent.doing}" if agent.doing and agent.ended is None else ""
            lines.append(
                [
                    (theme[role], f"  {'  ' * depth}{mark} "),
                    ("", agent.name),
                    (theme["quiet"], f"  {facts}{money}{doing}"),
                ]
            )
            put(agent.id, depth + 1)

    put(None, 0)
    return lines


def _agent_mark(agent: AgentAtWork) -> tuple[str, str]:
    if agent.ended is None:
        return "◐", "accent"
    return ("✗", "bad") if agent.state in ("failed", "killed") else ("●", "good")


def _todo_mark(state: str) -> str:
    return TODO_MARKS.get(state, "☐")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _money(cost: float) -> str:
    return f"${cost:.2f}" if cost >= 0.005 else ""
