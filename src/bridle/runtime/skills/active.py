"""The skills that a session has loaded, newest first: what comes back after compaction."""

from __future__ import annotations

from bridle.llm.port import Block, Text
from bridle.runtime.context.reminders import reminder
from bridle.runtime.context.segments import estimate_tokens
from bridle.runtime.skills.invoke import Invocation
from bridle.runtime.skills.tool import skill_text

EACH_TOKENS = 5_000
TOTAL_TOKENS = 25_000
_BYTES_PER_TOKEN = 4


class ActiveSkills:
    def __init__(self) -> None:
        self._latest: dict[str, Invocation] = {}

    def note(self, invocation: Invocation) -> None:
        self._latest.pop(invocation.name, None)
        self._latest[invocation.name] = invocation

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(reversed(self._latest))

    def reattached(self) -> tuple[Block, ...]:
        """The newest text of each skill, cut at 5,000 tokens, newest first, while 25,000 tokens last."""
        room = TOTAL_TOKENS
        found: list[Block] = []
        for invocation in reversed(self._latest.values()):
            text = _cut(skill_text(invocation))
            size = estimate_tokens(text)
            if size > room:
                break
            room -= size
            found.append(Text(reminder(f"You loaded this skill before; it still holds.\n\n{text}")))
        return tuple(found)


def _cut(text: str) -> str:
    data = text.encode("utf-8")
    limit = EACH_TOKENS * _BYTES_PER_TOKEN
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")
