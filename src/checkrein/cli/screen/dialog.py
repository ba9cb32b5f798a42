"""A question below the scrollback: a list to choose from, or a line to write. Any thread may ask it.

Nothing of the question comes from a text with its own colours: every row is drawn by the screen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from checkrein.cli.screen.ink import Line, cut
from checkrein.cli.screen.theme import Theme

_TYPED = 0.4
_ARMED = 0.8
"""Somebody who was typing a moment ago answers nothing for so many seconds."""


class Choice:
    """A row. `key` chooses it at once; `detail` stands beside it. `keeps` words that the list offers without
    regard to a filter."""

    def __init__(self, label: str, value: Any, detail: str = "", key: str = "") -> None:
        self.label = label
        self.value = value
        self.detail = detail
        self.key = key


class Dialog:
    """A list. With `search`, letters narrow it; else they may be keys of rows. The answer is the value of a
    row, or None."""

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        search: bool = False,
        hint: str = "",
        about: Sequence[Line] = (),
        actions: dict[str, Callable[[Choice], object]] | None = None,
    ) -> None:
        self.title = title
        self.choices = list(choices)
        self.search = search
        self.hint = hint
        self.about = about
        self.actions = actions or {}
        self.text = ""
        self.index = 0
        self.answer: Future[Any] = Future()
        self._armed_at = 0.0

    def open(self, last_key: float) -> None:
        now = time.monotonic()
        self._armed_at = now + _ARMED if now - last_key < _TYPED else now

    @property
    def armed(self) -> bool:
        return time.monotonic() >= self._armed_at

    @property
    def visible(self) -> list[Choice]:
        if not self.text:
            return self.choices
        wanted = self.text.casefold().split()
        return [
            one
            for one in self.choices
            if all(word in f"{one.label} {one.detail}".casefold() for word in wanted)
        ]

    @property
    def chosen(self) -> Choice | None:
        rows = self.visible
        return rows[min(self.index, len(rows) - 1)] if rows else None

    def move(self, by: int) -> None:
        rows = len(self.visible)
        self.index = (min(self.index, max(rows - 1, 0)) + by) % rows if rows else 0

    def type(self, text: str) -> bool:
        """Take typed letters; True when they answered."""
        if self.search:
            self.text += text
            self.index = 0
            return False
        row = next((one for one in self.choices if one.key == text), None)
        if row is None and text.isdigit() and 0 < int(text) <= len(self.choices):
            row = self.choices[int(text) - 1]
        if row is None:
            return False
        self.index = self.choices.index(row)
        return self.accept()

    def delete(self) -> None:
        self.text = self.text[:-1]
        self.index = 0

    def accept(self) -> bool:
        chosen = self.chosen
        if chosen is not None:
            self.settle(chosen.value)
        return chosen is not None

    def settle(self, value: Any) -> None:
        if not self.answer.done():
            self.answer.set_result(value)

    def lines(self, theme: Theme, columns: int, room: int) -> list[Line]:
        rows, most = self.visible, max(1, room - 2 - len(self.about))
        index = min(self.index, max(len(rows) - 1, 0))
        first = max(0, min(index - most // 2, len(rows) - most))
        head: Line = [(theme["accent"], f" {self.title}")]
        if self.search:
            head = [*head, ("", f"  {self.text}▏")]
        shown: list[Line] = [head, *self.about]
        for at, row in enumerate(rows[first : first + most], first):
            number = f"{at + 1}. " if not self.search and at < 9 else ""
            style = theme["chosen"] if at == index else ""
            mark = " ❯ " if at == index else "   "
            shown.append(
                cut([(style, f"{mark}{number}{row.label}"), (theme["quiet"], f"  {row.detail}")], columns)
            )
        if not rows:
            shown.append([(theme["quiet"], "   nothing fits")])
        more = len(rows) - most
        hint = self.hint if more <= 0 else f"{self.hint} · {len(rows)} in all".strip(" ·")
        return [*shown, [(theme["quiet"], cut([("", f"   {hint}")], columns)[0][1])]]


class Entry:
    """A text to write, in the place of the prompt. `label` may change while it is written; Tab calls
    `on_tab`. The answer is the text, or None."""

    def __init__(
        self,
        label: Callable[[], str],
        text: str = "",
        *,
        hint: str = "",
        on_tab: Callable[[], object] | None = None,
        problem: Callable[[str], str | None] = lambda text: None,
        hidden: bool = False,
    ) -> None:
        self.label = label
        self.text = text
        self.hint = hint
        self.on_tab = on_tab
        self.problem = problem
        self.hidden = hidden
        self.wrong: str | None = None
        self.answer: Future[str | None] = Future()

    def open(self, last_key: float) -> None:
        """A text needs Enter, so nobody answers by chance."""

    def accept(self, text: str) -> bool:
        self.wrong = self.problem(text)
        if self.wrong is None:
            self.settle(text)
        return self.wrong is None

    def settle(self, value: str | None) -> None:
        if not self.answer.done():
            self.answer.set_result(value)

    def lines(self, theme: Theme, columns: int, room: int) -> list[Line]:
        shown: list[Line] = [cut([(theme["accent"], f" {self.label()}")], columns)]
        if self.wrong:
            shown.append(cut([(theme["bad"], f"   {self.wrong}")], columns))
        if self.hint:
            shown.append(cut([(theme["quiet"], f"   {self.hint}")], columns))
        return shown
