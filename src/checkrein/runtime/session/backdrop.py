"""The surroundings of a conversation: the fixed part of the prompt, what files bring in, watched files."""

from __future__ import annotations

from checkrein.runtime.context.cache import Key, PrefixWatch
from checkrein.runtime.context.filewatch import FileWatch
from checkrein.runtime.context.instructions import InstructionWatch
from checkrein.runtime.context.lazy import LazyContext
from checkrein.runtime.context.prompt import Prompt


class Backdrop:
    """`opening_context` comes before the first prompt. `initial_message` is a prompt that a SessionStart
    hook puts first. The session begins with `first_skills`. `notes` are for the person who started the
    session. `instructions` is None where the conversation has none of the project's own."""

    def __init__(
        self,
        prompt: Prompt,
        lazy: LazyContext,
        resumed: Key | None,
        notes: tuple[str, ...] = (),
        instructions: InstructionWatch | None = None,
    ) -> None:
        self.prompt = prompt
        self.lazy = lazy
        self.prefix = PrefixWatch(resumed)
        self.files = FileWatch()
        self.notes = notes
        self.instructions = instructions
        self.opening_context: list[str] = []
        self.initial_message: str | None = None
        self.first_skills: tuple[str, ...] = ()
