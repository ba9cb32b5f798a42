"""A Spawner that starts nothing: it records commands and gives prepared answers. For tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue

from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.guard.guard import Refusal
from checkrein.runtime.process.spawner import Command, Completed, Pipes, Running, Spawner

Talk = Callable[[bytes], Iterable[bytes]]
"""From a written line to the lines that the process answers."""


class FakeSpawner(Spawner):
    """`run` calls `answer` with each command; without it every command succeeds silently. `talk` makes the
    other side of each process that `open` gets; without it every process is silent.

    `start` raises an error: background commands must be real."""

    def __init__(
        self,
        answer: Callable[[Command], Completed] | None = None,
        talk: Callable[[Command], Talk] | None = None,
    ) -> None:
        super().__init__(lambda origin: True)
        self.commands: list[Command] = []
        self._answer = answer or (lambda command: Completed(exit_code=0))
        self._talk = talk or (lambda command: lambda line: ())

    def run(
        self, command: Command, cancel: Cancel, *, keep: bool = False, releasable: bool = False
    ) -> Completed:
        self.commands.append(command)
        return self._answer(command)

    def prepare_guard(self, more: Callable[[], object]) -> Callable[[], None]:
        """The guard of a command is recorded with it; `answer` may say what it refused."""
        return lambda: None

    def start(self, command: Command) -> Running:
        raise AssertionError(f"FakeSpawner can't start {command.purpose} in the background")

    def open(self, command: Command) -> Pipes:
        self.commands.append(command)
        return FakePipes(self._talk(command))


class FakePipes:
    """A function plays the process. It ends on `close`."""

    def __init__(self, talk: Talk, stderr: bytes = b"") -> None:
        self.written: list[bytes] = []
        self.stderr = stderr
        self.refused: tuple[Refusal, ...] = ()
        self.exit_code: int | None = None
        self._talk = talk
        self._begun = b""
        self._lines: SimpleQueue[bytes] = SimpleQueue()

    def write(self, data: bytes) -> None:
        if self.exit_code is not None:
            raise BrokenPipeError("the process was closed")
        *lines, self._begun = (self._begun + data).split(b"\n")
        for line in lines:
            self.written.append(line + b"\n")
            for answer in self._talk(line + b"\n"):
                self._lines.put(answer)

    def read_line(self, timeout: float | None = None) -> bytes:
        if self.exit_code is not None and self._lines.empty():
            return b""
        try:
            return self._lines.get(timeout=timeout)
        except Empty:
            raise TimeoutError from None

    def close(self, grace: float = 0.0) -> int | None:
        if self.exit_code is None:
            self.exit_code = 0
            self._lines.put(b"")
        return self.exit_code
