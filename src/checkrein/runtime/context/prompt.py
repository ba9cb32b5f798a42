"""The request: system text, tools and messages, with cache marks at the ends of the layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from checkrein.base.origin import BUNDLED, COMMAND_LINE, Origin
from checkrein.llm.port import Message, Request, SystemBlock, Text, user
from checkrein.model.items import Instruction
from checkrein.model.view import View
from checkrein.runtime.call.toolset import Toolbox
from checkrein.runtime.context.cache import cache_marks
from checkrein.runtime.context.reminders import (
    environment_segment,
    file_stamp,
    git_branch,
    instruction_segments,
    reminder,
    reread,
)
from checkrein.runtime.context.segments import Segment
from checkrein.runtime.context.withheld import Denial, nobody_denies
from checkrein.runtime.session.options import Options


@cache
def stable_text() -> str:
    return Path(__file__).with_name("system.md").read_text("utf-8").strip()


class Prompt:
    """What comes before the conversation. It stays the same while the conversation continues. When the
    conversation starts again, `refresh` reads changed instruction files and the current memory."""

    def __init__(
        self,
        view: View,
        options: Options,
        model: str,
        extra: Sequence[Segment] = (),
        memory: str | None = None,
        denial: Denial = nobody_denies,
        *,
        lean: bool = False,
        style: Segment | None = None,
    ) -> None:
        self.options = options
        self.thinking = options.thinking
        self.style: str | None = None
        self.system = tuple(_system(options, style))
        self._blocks = tuple(SystemBlock(segment.text) for segment in self.system)
        place = view.project.place
        self._instructions = () if options.bare or lean else view.project.instructions
        self._stamps = {item.name: file_stamp(item.name) for item in self._instructions}
        self._within = place.within
        self._memory = memory
        self._denial = denial
        branch = None if lean else git_branch(place.repo_root)
        environment = environment_segment(place, model, branch)
        self._session = (environment, *extra)
        self.opening = tuple(self._open())

    def _open(self) -> Iterator[Segment]:
        yield from instruction_segments(self._instructions)
        if self._memory is not None:
            from checkrein.runtime.memory.headlines import memory_segment

            yield memory_segment(self._memory)
        yield from self._session

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions that hold now; those of the opening, and what changed since."""
        return self._instructions

    def adopt(self, instructions: tuple[Instruction, ...]) -> None:
        """Other instructions hold from now on. The opening gets them when the conversation starts again."""
        self._instructions = instructions
        self._stamps |= {item.name: file_stamp(item.name) for item in instructions}

    def refresh(self) -> list[Instruction]:
        """Read again what comes before a conversation that starts again; returns the loaded files. A file
        that can no longer be read keeps its old text."""
        found = []
        for item in self._instructions:
            now = file_stamp(item.name)
            changed = now is not None and now != self._stamps.get(item.name)
            changed = changed and self._denial(item.name) is None
            self._stamps[item.name] = now or self._stamps.get(item.name)
            found.append(reread(item, self._within) if changed else item)
        self._instructions = tuple(found)
        self.opening = tuple(self._open())
        return [item for item in found if not item.lazy]

    def think(self, tokens: int | None) -> None:
        """Let the model think so many tokens from the next request on; None: as the session began."""
        self.thinking = self.options.thinking if tokens is None else tokens or "disabled"

    def restyle(self, style: Segment | None, name: str) -> None:
        """Another output style from the next request on."""
        self.style = name
        self.system = tuple(_system(self.options, style))
        self._blocks = tuple(SystemBlock(segment.text) for segment in self.system)

    @property
    def segments(self) -> tuple[Segment, ...]:
        return (*self.system, *self.opening)

    def first_message(self) -> Message:
        """The reminders before the first prompt, one block for each segment."""
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
            thinking=self.thinking,
            thinking_display=self.options.thinking_display,
            betas=self.options.betas,
            task_budget=self.options.task_budget,
            effort=effort,  # type: ignore[arg-type]  # whoever set it has checked it
            marks=cache_marks(ttl, len(self.opening)),
            cache_key=session_id,
        )


def _system(options: Options, style: Segment | None) -> list[Segment]:
    text = stable_text() if options.system_prompt is None else options.system_prompt
    given = options.system_origin or Origin(COMMAND_LINE, "cli")
    own = Origin(BUNDLED, "bundled") if options.system_prompt is None else given
    found = [Segment("stable", "system", text, own, pinned=True)] if text else []
    if style is not None:
        found.append(style)
    if options.append_system_prompt:
        place = Origin(COMMAND_LINE, "cli")
        found.append(Segment("stable", "appended", options.append_system_prompt, place, pinned=True))
    return found
