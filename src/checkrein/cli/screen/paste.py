"""Large pastes stand as one line in the prompt; the text itself goes with it."""

from __future__ import annotations

import re

_LINES = 6
_CHARACTERS = 800


class Clippings:
    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._number = 0

    def shown(self, text: str) -> str:
        """What the prompt shows for a paste: the text, or one line for it."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + 1
        if lines <= _LINES and len(text) <= _CHARACTERS:
            return text
        self._number += 1
        size = f"{lines} lines" if lines > 1 else f"{len(text):,} characters"
        label = f"[Pasted text {self._number}: {size}]"
        self._kept[label] = text
        return label

    def expanded(self, prompt: str) -> str:
        """The prompt with the pasted texts in their places."""
        if not self._kept:
            return prompt
        labels = re.compile("|".join(map(re.escape, self._kept)))
        return labels.sub(lambda found: self._kept[found[0]], prompt)

    def forget(self) -> None:
        self._kept = {}
