"""A Spawner that starts nothing: it records commands and gives prepared answers. For tests."""

from __future__ import annotations

from collections.abc import Callable

from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.spawner import Command, Completed, Running, Spawner


class FakeSpawner(Spawner):
    """`answer` is called with each command that `run` gets; without it every command succeeds silently.

    `start` is refused: what runs in the background has to be real."""

    def __init__(self, answer: Callable[[Command], Completed] | None = None) -> None:
        super().__init__(lambda origin: True)
        self.commands: list[Command] = []
        self._answer = answer or (lambda command: Completed(exit_code=0))

    def run(self, command: Command, cancel: Cancel, *, keep: bool = False) -> Completed:
        self.commands.append(command)
        return self._answer(command)

    def start(self, command: Command) -> Running:
        raise AssertionError(f"FakeSpawner can't start {command.purpose} in the background")
