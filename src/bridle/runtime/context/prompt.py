"""The request: system text, tools and messages, with cache marks at the ends of the layers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from bridle.base.origin import BUNDLED, COMMAND_LINE, Origin
from bridle.llm.port import Message, Request, SystemBlock, Text, user
from bridle.model.view import View
from bridle.runtime.context.cache import cache_marks
from bridle.runtime.context.reminders import (
    environment_segment,
    git_branch,
    instruction_segments,
    reminder,
)
from bridle.runtime.context.segments import Segment
from bridle.runtime.options import Options
from bridle.runtime.toolbox import Toolbox


@cache
def stable_text() -> str:
    return files("bridle.runtime.context").joinpath("system.md").read_text("utf-8").strip()


class Prompt:
    """What a session says before the conversation. Made once at the start; it does not change after."""

    def __init__(self, view: View, options: Options, model: str, extra: Sequence[Segment] = ()) -> None:
        self.options = options
        self.system = tuple(_system(options))
        self._blocks = tuple(SystemBlock(segment.text) for segment in self.system)
        place = view.project.place
        opening: list[Segment] = []
        if not options.bare:
            opening += instruction_segments(view.project.instructions)
        opening.append(environment_segment(place, model, git_branch(place.repo_root)))
        opening += extra
        self.opening = tuple(opening)

    @property
    def segments(self) -> tuple[Segment, ...]:
        return (*self.system, *self.opening)

    def first_message(self) -> Message:
        """The reminders that stand before the first prompt, one block for each segment."""
        return user(*(Text(reminder(segment.text)) for segment in self.opening))

    def pinned(self) -> Message | None:
        """What survives compaction byte for byte; None when there is nothing."""
        first = self.first_message()
        return first if first.content else None

    def request(
        self,
        model: str,
        toolbox: Toolbox,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        session_id: str,
        effort: str | None = None,
        ttl: Literal["5m", "1h"] | None = "5m",
    ) -> Request:
        return Request(
            model=model,
            system=self._blocks,
            tools=toolbox.specs,
            messages=tuple(messages),
            max_tokens=max_tokens,
            thinking=self.options.thinking,
            effort=effort,  # type: ignore[arg-type]  # whoever set it has checked it
            marks=cache_marks(ttl, len(self.opening)),
            cache_key=session_id,
        )


def _system(options: Options) -> list[Segment]:
    text = stable_text() if options.system_prompt is None else options.system_prompt
    own = Origin(BUNDLED, "bundled") if options.system_prompt is None else Origin(COMMAND_LINE, "cli")
    found = [Segment("stable", "system", text, own, pinned=True)] if text else []
    if options.append_system_prompt:
        given = Origin(COMMAND_LINE, "cli")
        found.append(Segment("stable", "appended", options.append_system_prompt, given, pinned=True))
    return found
