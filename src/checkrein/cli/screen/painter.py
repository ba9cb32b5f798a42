"""Turns events into lines, in a thread of its own, and hands them to the terminal a few times a second.

Whoever puts something in never waits. A reply that comes faster than it can be laid out is shown plainly.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from checkrein.cli.screen import scroll_lines
from checkrein.cli.screen.board import Board
from checkrein.cli.screen.ink import Line, encoded
from checkrein.cli.screen.markdown_lines import MarkdownLines
from checkrein.cli.screen.reply import Reply
from checkrein.cli.screen.theme import Theme
from checkrein.llm.port import Text, TextDelta, Thinking, ThinkingDelta, text_of
from checkrein.runtime.session.events import (
    AssistantBlock,
    BackgroundEnded,
    Cleared,
    Compacted,
    Event,
    Finished,
    HookFinished,
    ModeChanged,
    Notice,
    PermissionsChanged,
    PromptAccepted,
    Retrying,
    Streamed,
    ToolFinished,
)

_FRAME = 0.04
_BEHIND = 20_000
"""Characters of a reply that wait; with more, there is no time for colours."""
_LIVE_LINES = 12

Hand = Callable[[str, Sequence[Line]], None]
"""Shows finished lines, already encoded, and the lines that are drawn again. Waits until they are shown."""


class Painter:
    """`hand` shows what is ready. `columns` is the width of the terminal now."""

    def __init__(self, theme: Theme, board: Board, columns: Callable[[], int], hand: Hand) -> None:
        self._theme = theme
        self._board = board
        self._columns = columns
        self._hand = hand
        self._markdown = MarkdownLines(theme)
        self._waiting: deque[Event | list[Line] | threading.Event] = deque()
        self._woken = threading.Event()
        self._closed = False
        self._reply = Reply()
        self._streamed = False
        self._thinking: list[str] = []
        self._thought_shown = False
        self._live: list[Line] = []
        self._thread = threading.Thread(target=self._run, name="checkrein-painter", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def show(self, event: Event) -> None:
        self._waiting.append(event)
        self._woken.set()

    def say(self, lines: Iterable[Line]) -> None:
        """Put lines of our own into the scrollback, after everything that came before."""
        self._waiting.append(list(lines))
        self._woken.set()

    def flush(self, patience: float = 2.0) -> None:
        """Wait until everything so far is shown."""
        shown = threading.Event()
        self._waiting.append(shown)
        self._woken.set()
        shown.wait(patience)

    def close(self) -> None:
        """Show what is left."""
        self._closed = True
        self._woken.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(2.0)

    def _run(self) -> None:
        while True:
            self._woken.wait()
            self._woken.clear()
            began = time.monotonic()
            seen: list[threading.Event] = []
            ready = self._lines(seen)
            self._hand(encoded(ready, colors=self._theme.colors), self._live)
            for one in seen:
                one.set()
            if self._closed and not self._waiting:
                return
            time.sleep(max(0.0, _FRAME - (time.monotonic() - began)))

    def _lines(self, seen: list[threading.Event]) -> list[Line]:
        lines: list[Line] = []
        texts: list[str] = []
        while self._waiting:
            item = self._waiting.popleft()
            match item:
                case threading.Event():
                    seen.append(item)
                case list():
                    lines += [*self._heard(texts), *item]
                case Streamed(event=TextDelta(text=text), agent_id=None):
                    lines += self._thought()
                    texts.append(text)
                case Streamed(event=ThinkingDelta(text=thinking), agent_id=None):
                    self._thinking.append(thinking)
                case _:
                    lines += [*self._heard(texts), *self._steered(item)]
                    self._board.take(item)
                    lines += self._of(item)
        lines += self._heard(texts)
        rest = self._reply.rest
        self._live = self._markdown.of(rest, self._columns())[-_LIVE_LINES:] if rest is not None else []
        return lines

    def _steered(self, event: Event) -> list[Line]:
        """A message that waited and that the running turn has taken."""
        if not isinstance(event, PromptAccepted) or event.agent_id is not None:
            return []
        said = text_of(event.message.content)
        if said not in self._board.waiting:
            return []
        return scroll_lines.prompt(self._board.labels.pop(said, said), self._theme)

    def _thought(self) -> list[Line]:
        """One line for what the model has thought, before what it says."""
        if not self._thinking:
            return []
        said = "".join(self._thinking)
        self._thinking.clear()
        self._thought_shown = True
        return scroll_lines.thought(said, self._theme)

    def _heard(self, texts: list[str]) -> list[Line]:
        """The finished lines of a reply, with what has come of it."""
        if not texts:
            return []
        said = "".join(texts)
        texts.clear()
        self._streamed = True
        self._reply.add(said)
        return self._blocks(hurry=len(said) > _BEHIND)

    def _blocks(self, *, hurry: bool = False) -> list[Line]:
        columns = self._columns()
        return [
            line for block in self._reply.taken() for line in self._markdown.of(block, columns, hurry=hurry)
        ]

    def _ended_reply(self) -> list[Line]:
        self._reply.end()
        self._streamed = False
        lines = self._blocks()
        self._reply = Reply()
        return lines

    def _of(self, event: Event) -> list[Line]:
        theme = self._theme
        if event.agent_id is not None:
            return []
        match event:
            case AssistantBlock(block=Text(text=text)):
                if not self._streamed:
                    self._reply.add(text)
                return self._ended_reply()
            case AssistantBlock(block=Thinking() as block):
                shown, self._thought_shown = self._thought_shown, False
                self._thinking.clear()
                return [] if shown else scroll_lines.thought(block.thinking, theme)
            case ToolFinished() if event.caller == "model":
                return [*self._ended_reply(), *scroll_lines.tool(event, theme, self._columns())]
            case Notice():
                return scroll_lines.notice(event.text, theme, warns=event.level == "warning")
            case Retrying():
                words = f"{event.error} Trying again in {event.delay_ms / 1000:.1f} s."
                return scroll_lines.notice(words, theme, warns=True)
            case HookFinished() if event.outcome == "error":
                words = f"The hook {event.hook_name} failed: {event.stderr.strip()[:300]}"
                return scroll_lines.notice(words, theme, warns=True)
            case ModeChanged():
                return scroll_lines.notice(f"The mode is {event.mode}.", theme, warns=False)
            case PermissionsChanged(file=str() as file):
                rules = ", ".join(one.text for one in getattr(event.update, "rules", ()))
                return scroll_lines.notice(f"Wrote {rules} to {file}.", theme, warns=False)
            case Compacted():
                words = f"Compacted: {event.tokens_before:,} to {event.tokens_after:,} tokens."
                return scroll_lines.notice(words, theme, warns=False)
            case Cleared():
                return scroll_lines.notice("A new conversation begins.", theme, warns=False)
            case BackgroundEnded():
                return scroll_lines.notice(event.summary, theme, warns=event.status == "failed")
            case Finished():
                return [*self._ended_reply(), *scroll_lines.end(event, theme)]
        return []
