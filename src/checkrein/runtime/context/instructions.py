"""Instruction files that change while a conversation goes on, or while it rests.

The opening holds their text from the start and never changes. What the files say now comes as a later note,
one for each file, in the words of the opening: so the conversation itself shows which text the model has.

An agent that writes a link or an import into such a file must not get at what its rules keep from it. So a
note holds only a text that the model may read; the model can try to read the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from checkrein.llm.port import Message, Text
from checkrein.model.items import Instruction
from checkrein.model.project import Place
from checkrein.model.rule import Verdict
from checkrein.runtime.context.prompt import Prompt
from checkrein.runtime.context.reminders import SCOPE_WORDS, file_stamp, instruction_segments

_CHANGED = "An instruction file changed. From now on this holds instead of what it said before:"
_GONE = "An instruction file no longer counts, and neither does what it said: "
_UNREAD = "An instruction file changed. Read it, if you may: "
_LONGEST = 60_000
_WORDS = "|".join(re.escape(words) for words in SCOPE_WORDS.values())
_CONTENTS = re.compile(
    rf"<system-reminder>\n(?:{re.escape(_CHANGED)}\n\n)?"
    rf"(?P<whole>Contents of (?P<name>[^\n]+) \((?:{_WORDS}); follow them\):\n.*)\n</system-reminder>",
    re.DOTALL,
)
_LEFT = re.compile(rf"<system-reminder>\n{re.escape(_GONE)}(?P<name>[^\n]+)\n</system-reminder>")
_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/rules")


class InstructionWatch:
    """Finds out between requests what the instruction files say now. `judge` gives the verdict on reading a
    file. `resumed`: the conversation is from an earlier process, and files may have changed since."""

    def __init__(
        self,
        prompt: Prompt,
        place: Place,
        env: Mapping[str, str],
        judge: Callable[[str], Verdict],
        *,
        resumed: bool,
    ) -> None:
        self._prompt = prompt
        self._place = place
        self._env = env
        self._judge = judge
        self._unsure = resumed
        self._start = {item.name: os.path.realpath(item.name) for item in prompt.instructions}
        self._paths = {os.path.join(folder, name) for folder in _above(place.cwd) for name in _FILES}
        self._paths |= {os.path.join(place.config_dir, name) for name in ("CLAUDE.md", "rules")}
        self._seen = self._stamps()

    def news(self, messages: Sequence[Message]) -> list[str]:
        """A note for each file that says something else than the conversation has of it."""
        now = self._stamps()
        kept: list[str] = []
        changed = {path for path in {*now, *self._seen} if now.get(path) != self._seen.get(path)}
        if changed:
            self._seen = now
            known = {item.name: item for item in self._prompt.instructions}
            current = self._current(changed)
            kept = [item.name for item in current if item is not known.get(item.name) and not self._may(item)]
            withheld = (known.get(item.name) if item.name in kept else item for item in current)
            self._prompt.adopt(tuple(item for item in withheld if item is not None))
            self._seen |= self._stamps()
        elif not self._unsure:
            return []
        self._unsure = False
        notes = _notes(told(messages), [item for item in self._prompt.instructions if self._may(item)], kept)
        return [*notes, *(f"{_UNREAD}{name}" for name in kept)]

    def _may(self, item: Instruction) -> bool:
        """Whether the model may have the text: its rules let it read the file; or they would ask, and the
        session began with the same file."""
        if not os.path.isabs(item.name):
            return True
        real = os.path.realpath(item.name)
        verdicts = {self._judge(item.name), self._judge(real)}
        same = self._start.get(item.name) == real
        return "deny" not in verdicts and ("ask" not in verdicts or same)

    def rewound(self) -> None:
        """The conversation went back; it may hold older texts."""
        self._unsure = True

    def _stamps(self) -> dict[str, tuple[int, int]]:
        names = {item.name for item in self._prompt.instructions if not item.lazy}
        found = ((path, file_stamp(path)) for path in {*self._paths, *names})
        return {path: stamp for path, stamp in found if stamp is not None}

    def _current(self, changed: set[str]) -> tuple[Instruction, ...]:
        """The instructions as the files are now. Of files that were not part of the session only those count
        that appeared or changed since, and what they import."""
        from checkrein.passes.load import load_again

        fresh = load_again(self._place, self._env).instructions
        known = {item.name for item in self._prompt.instructions}
        taken = {name: item for item in fresh if (name := item.name) in known}
        kept = [
            taken.get(item.name, item)
            for item in self._prompt.instructions
            if item.name in taken or not os.path.isabs(item.name) or os.path.isfile(item.name)
        ]
        for item in fresh:
            came = item.name in changed or os.path.dirname(item.name) in changed
            if item.name not in known and (came or item.imported_by in {one.name for one in kept}):
                kept.append(item)
        return tuple(kept)


def told(messages: Sequence[Message]) -> dict[str, str]:
    """The instruction files that a conversation holds, each with its newest text as the model has it."""
    found: dict[str, str] = {}
    for message in messages:
        for block in message.content if message.role == "user" else ():
            if not isinstance(block, Text):
                continue
            if held := _CONTENTS.fullmatch(block.text):
                found[held["name"]] = held["whole"]
            elif left := _LEFT.fullmatch(block.text):
                found.pop(left["name"], None)
    return found


def _notes(had: dict[str, str], now: Sequence[Instruction], kept: Sequence[str]) -> Iterator[str]:
    texts = {segment.name: segment.text for segment in instruction_segments(now)}
    for name, text in texts.items():
        short = _shortened(name, text)
        if had.get(name) not in (text, short):
            yield f"{_CHANGED}\n\n{short}"
    for name in had:
        if name not in texts and name not in kept:
            yield f"{_GONE}{name}"


def _shortened(name: str, text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n[... the rest is in {name}; read it ...]"


def _above(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent
