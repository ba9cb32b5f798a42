"""The skills that a session has loaded, newest first: what the conversation holds of them, and what comes
back after compaction."""

from __future__ import annotations

from bridle.llm.port import Block, Text
from bridle.model.items import Skill
from bridle.runtime.context.reminders import reminder
from bridle.runtime.context.segments import estimate_tokens
from bridle.runtime.skills.invoke import Invocation

EACH_TOKENS = 5_000
TOTAL_TOKENS = 25_000
_BYTES_PER_TOKEN = 4


class ActiveSkills:
    def __init__(self) -> None:
        self._latest: dict[str, Invocation] = {}
        self._shown: dict[str, str] = {}

    def note(self, invocation: Invocation) -> None:
        self._latest.pop(invocation.name, None)
        self._latest[invocation.name] = invocation

    def show(self, invocation: Invocation) -> bool:
        """Whether the text has to be said; False when the conversation holds just this text already."""
        if self._shown.get(invocation.name) == invocation.text:
            return False
        self._shown[invocation.name] = invocation.text
        return True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(reversed(self._latest))

    def reattached(self) -> tuple[Block, ...]:
        """The newest text of each skill, cut at 5,000 tokens, newest first, while 25,000 tokens last.

        For a conversation that starts anew: what is not among these is not in it any more."""
        room = TOTAL_TOKENS
        found: list[Block] = []
        self._shown = {}
        for invocation in reversed(self._latest.values()):
            whole = skill_text(invocation)
            text = _cut(whole)
            size = estimate_tokens(text)
            if size > room:
                break
            room -= size
            found.append(Text(reminder(f"You loaded this skill before; it still holds.\n\n{text}")))
            if text == whole:
                self._shown[invocation.name] = invocation.text
        return tuple(found)


def skill_text(invocation: Invocation) -> str:
    """What the model gets: where the skill's files are, and its text."""
    place = f"\nIts files are in {invocation.item.directory}." if isinstance(invocation.item, Skill) else ""
    return f"Skill {invocation.name}.{place}\n\n{invocation.text}"


def _cut(text: str) -> str:
    data = text.encode("utf-8")
    limit = EACH_TOKENS * _BYTES_PER_TOKEN
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")
