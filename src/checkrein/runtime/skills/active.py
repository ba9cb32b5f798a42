"""The loaded skills of a session: their texts in the conversation, and the texts that return after
compaction."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrein.llm.port import Block, Message, Text, ToolResult, ToolUse
from checkrein.model.items import Skill
from checkrein.runtime.context.reminders import reminder
from checkrein.runtime.context.segments import estimate_tokens
from checkrein.runtime.skills.invoke import Invocation

AGAIN = "You loaded this skill before; it still holds."
LOADED = "The text of this command is above, unchanged"
_AGAIN = re.compile(rf"<system-reminder>\n{re.escape(AGAIN)}\n\n(.*)\n</system-reminder>", re.DOTALL)
_SKILL = re.compile(r"Skill ([^\n]+)\.\n")
_HEADER = re.compile(r"\A<command-message>.*\n<command-name>/(.+?)</command-name>")
EACH_TOKENS = 5_000
TOTAL_TOKENS = 25_000
_BYTES_PER_TOKEN = 4


class ActiveSkills:
    """The newest text of each skill, in the order of loading."""

    def __init__(self) -> None:
        self._latest: dict[str, str] = {}
        self._shown: dict[str, str] = {}

    def note(self, invocation: Invocation) -> None:
        self._note(invocation.name, skill_text(invocation))

    def _note(self, name: str, text: str) -> None:
        self._latest.pop(name, None)
        self._latest[name] = text

    def show(self, invocation: Invocation) -> bool:
        """Whether the model needs the text; False when the conversation already holds exactly this text."""
        text = skill_text(invocation)
        if self._shown.get(invocation.name) == text:
            return False
        self._shown[invocation.name] = text
        return True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(reversed(self._latest))

    def reattached(self) -> tuple[Block, ...]:
        """The newest text of each skill, cut at 5,000 tokens, newest first, up to 25,000 tokens in all.

        For a conversation that starts again: it no longer holds any other skill text."""
        room = TOTAL_TOKENS
        found: list[Block] = []
        self._shown = {}
        for name, whole in reversed(self._latest.items()):
            text = _cut(whole)
            size = estimate_tokens(text)
            if size > room:
                break
            room -= size
            found.append(Text(reminder(f"{AGAIN}\n\n{text}")))
            if text == whole:
                self._shown[name] = whole
        return tuple(found)

    def restore(self, messages: Sequence[Message]) -> None:
        """Find the loaded skills in the conversation of a resumed session."""
        calls: set[str] = set()
        for message in messages:
            header: re.Match[str] | None = None
            for block in message.content:
                if isinstance(block, ToolUse) and block.name == "Skill":
                    calls.add(block.id)
                elif isinstance(block, ToolResult) and block.tool_use_id in calls and not block.is_error:
                    self._found(block.content)
                elif isinstance(block, Text) and header is not None and not block.text.startswith(LOADED):
                    self._note(header[1], f"Skill {header[1]}.\n\n{block.text}")
                elif isinstance(block, Text) and AGAIN in block.text[:80]:
                    again = _AGAIN.fullmatch(block.text)
                    self._found(again[1] if again else "")
                header = _HEADER.search(block.text) if isinstance(block, Text) else None

    def _found(self, text: object) -> None:
        first = _SKILL.match(text) if isinstance(text, str) else None
        if first is not None and isinstance(text, str):
            self._note(first[1], text)


def skill_text(invocation: Invocation) -> str:
    """The text for the model: the directory of the skill's files, and its body."""
    place = f"\nIts files are in {invocation.item.directory}." if isinstance(invocation.item, Skill) else ""
    return f"Skill {invocation.name}.{place}\n\n{invocation.text}"


def _cut(text: str) -> str:
    data = text.encode("utf-8")
    limit = EACH_TOKENS * _BYTES_PER_TOKEN
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")
