"""The bottom of the terminal: what is at work, the question or the prompt, and the status line.

Only this part is drawn again. Finished lines go above it, into the terminal's own scrollback.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout
from prompt_toolkit.layout.containers import Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import ConditionalProcessor, PasswordProcessor
from prompt_toolkit.output import ColorDepth

from checkrein.cli.screen.dialog import Dialog, Entry
from checkrein.cli.screen.history import PromptHistory
from checkrein.cli.screen.ink import Line, cut, formatted
from checkrein.cli.screen.terminal import Terminal
from checkrein.cli.screen.theme import Theme

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyBindings

_INPUT_LINES = 10
_MENU_LINES = 7

Rows = Callable[[int, int], Sequence[Line]]
"""Lines for so many columns, and at most so many of them."""


def _no_rows(columns: int, room: int) -> Sequence[Line]:
    return ()


class Face:
    """For the thread of the event loop, but `commit`, `ask` and `redraw`, which are for any."""

    def __init__(self, terminal: Terminal, theme: Theme) -> None:
        self.terminal = terminal
        self.theme = theme
        self.activity: Rows = _no_rows
        self.status: Callable[[int], Sequence[Line]] = lambda columns: ()
        self.asked: Dialog | Entry | None = None
        self.last_key = 0.0
        self.buffer = Buffer(name="prompt", multiline=True, complete_while_typing=True)
        self.buffer.on_text_changed += lambda _: self._stamp()
        self._live: Sequence[Line] = ()
        self._queue: list[Dialog | Entry] = []
        self._draft = ""
        self._held: list[str] = []
        self._height = 0
        self._above: Sequence[Line] = ()
        self._below: Sequence[Line] = ()
        self._lock = threading.Lock()
        self.app: Application[int]

    def build(self, keys: KeyBindings, source: Input) -> None:
        listing = Condition(lambda: isinstance(self.asked, Dialog))
        secret = Condition(lambda: isinstance(self.asked, Entry) and self.asked.hidden)
        above = Window(
            FormattedTextControl(lambda: _joined(self._above, self.columns)),
            height=lambda: Dimension.exact(len(self._above)),
        )
        typed = Window(
            BufferControl(self.buffer, input_processors=[ConditionalProcessor(PasswordProcessor(), secret)]),
            height=lambda: Dimension(min=1, max=max(1, min(_INPUT_LINES, self._rows - 6))),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=self._prefix,
        )
        below = Window(
            FormattedTextControl(lambda: _joined(self._below, self.columns)),
            height=lambda: Dimension.exact(len(self._below)),
        )
        self.app = Application(
            layout=Layout(HSplit([above, ConditionalContainer(typed, ~listing), below]), typed),
            key_bindings=keys,
            input=source,
            output=self.terminal,
            full_screen=False,
            color_depth=ColorDepth.DEPTH_4_BIT if self.theme.colors else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
        )
        self.app.timeoutlen = 0.1
        self.app.ttimeoutlen = 0.05
        self.app.before_render += self._before_render

    # -- output --

    def commit(self, text: str, live: Sequence[Line]) -> None:
        """Put finished lines above, and draw the unfinished ones. Returns when that is done."""
        loop = self.app.loop
        if loop is None or not self.app.is_running:
            with self._lock:
                self._held.append(text)
            return
        done = threading.Event()

        def show() -> None:
            try:
                self._show(text, live)
            finally:
                done.set()

        try:
            loop.call_soon_threadsafe(show)
        except RuntimeError:  # the loop has just ended
            with self._lock:
                self._held.append(text)
            return
        done.wait(1.0)

    def _show(self, text: str, live: Sequence[Line]) -> None:
        self._live = live
        with self._lock:
            self._held.append(text)
            if self.app._running_in_terminal:
                return
            ready, self._held = "".join(self._held), []
        with self.terminal.piece():
            if ready:
                self.app.renderer.erase()
                self.terminal.write_raw(ready)
            self.app._redraw()

    def left_over(self) -> str:
        """What was not shown before the screen closed."""
        with self._lock:
            ready, self._held = "".join(self._held), []
        return ready

    def redraw(self) -> None:
        app = getattr(self, "app", None)
        if app is not None:
            app.invalidate()

    def _before_render(self, app: Application[int]) -> None:
        """Make the new picture. Forget the old one when it was higher, else its height would stay."""
        self._above, self._below = self._above_lines(), self._below_lines()
        typed = 0 if isinstance(self.asked, Dialog) else min(self.buffer.document.line_count, _INPUT_LINES)
        height = len(self._above) + len(self._below) + typed
        if height < self._height:
            with self.terminal.piece():
                app.renderer.erase()
        self._height = height

    # -- questions --

    def ask(self, question: Dialog | Entry) -> Any:
        """Ask and wait for the answer. Not for the thread of the event loop."""
        self.open(question)
        return question.answer.result()

    def open(self, question: Dialog | Entry) -> None:
        loop = self.app.loop
        if loop is None:
            question.settle(None)
            return
        question.answer.add_done_callback(lambda _: loop.call_soon_threadsafe(self._answered, question))
        loop.call_soon_threadsafe(self._enqueue, question)

    def _enqueue(self, question: Dialog | Entry) -> None:
        self._queue.append(question)
        self._next()

    def _answered(self, question: Dialog | Entry) -> None:
        if question in self._queue:
            self._queue.remove(question)
        if self.asked is question:
            self.asked = None
            self.last_key = 0.0  # who has just answered sees what comes next
            if isinstance(question, Entry):
                self.put(self._draft)
                self._draft = ""
        self._next()

    def _next(self) -> None:
        if self.asked is None and self._queue:
            self.asked = self._queue.pop(0)
            self.asked.open(self.last_key)
            if isinstance(self.asked, Entry):
                self._draft = self.buffer.text
                self.put(self.asked.text)
        self.redraw()

    def remember(self) -> None:
        """Take in earlier prompts; what is being typed stays."""
        history, loop = self.buffer.history, self.app.loop
        assert isinstance(history, PromptHistory)
        history.fill()
        if loop is not None:
            loop.call_soon_threadsafe(lambda: self.buffer.reset(self.buffer.document))

    def put(self, text: str) -> None:
        from prompt_toolkit.document import Document

        typed = self.last_key
        self.buffer.set_document(Document(text, len(text)), bypass_readonly=True)
        self.last_key = typed

    def _stamp(self) -> None:
        """Somebody writes something."""
        self.last_key = time.monotonic()

    def sent(self) -> None:
        """The prompt was sent, so the next key is meant for what comes."""
        self.buffer.reset()
        self.last_key = 0.0

    # -- drawing --

    @property
    def columns(self) -> int:
        return self.terminal.get_size().columns

    @property
    def _rows(self) -> int:
        return self.terminal.get_size().rows

    def _above_lines(self) -> list[Line]:
        columns, room = self.columns, max(3, self._rows - 5)
        asked = self.asked.lines(self.theme, columns, room) if self.asked is not None else []
        room = max(0, room - len(asked))
        at_work = list(self.activity(columns, min(room, self._rows // 2)))[:room]
        live = list(self._live)[-max(0, room - len(at_work) - 1) :] if room > len(at_work) + 1 else []
        gap: list[Line] = [[]] if asked or at_work else []
        rule: list[Line] = [] if asked else [[(self.theme["quiet"], "─" * columns)]]
        return [*live, *gap, *at_work, *asked, *rule]

    def _below_lines(self) -> list[Line]:
        return [*self._menu(), *self.status(self.columns)][: max(1, self._rows - 3)]

    def _menu(self) -> list[Line]:
        """What could complete the word at the cursor."""
        state = self.buffer.complete_state
        if state is None or not state.completions:
            return []
        found, index = state.completions, state.complete_index
        most = min(_MENU_LINES, max(2, self._rows - 8))
        first = max(0, min((index or 0) - most // 2, len(found) - most))
        lines: list[Line] = []
        for at, one in enumerate(found[first : first + most], first):
            chosen = at == index
            style = self.theme["chosen"] if chosen else ""
            mark = " ❯ " if chosen else "   "
            label = f"{mark}{one.display_text}"
            lines.append([(style, label.ljust(24)), (self.theme["quiet"], f"  {one.display_meta_text}")])
        return lines

    def _prefix(self, number: int, wrapped: int) -> StyleAndTextTuples:
        first = number == 0 and wrapped == 0
        return formatted([(self.theme["accent"], "> " if first else "  ")])


def _joined(lines: Sequence[Line], columns: int) -> StyleAndTextTuples:
    fragments: StyleAndTextTuples = []
    for at, line in enumerate(lines):
        if at:
            fragments.append(("", "\n"))
        fragments += formatted(cut(line, columns))
    return fragments
