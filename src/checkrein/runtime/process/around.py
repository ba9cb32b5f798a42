"""What surrounds a command while it runs: its temporary directory, and the watch over protected files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.runtime.process.command import Command

if TYPE_CHECKING:
    from checkrein.runtime.process.protected import Restored


class Around:
    """`command` is the command as it starts. Call `close` once, when nothing of it runs any more."""

    def __init__(self, command: Command) -> None:
        self._at_end: list[Callable[[], None]] = []
        self._protect = command.protect
        self._number = 0
        if command.sandbox is not None and command.sandbox.only_reads:
            command = self._with_scratch(command)
        if command.protect is not None:
            self._number = command.protect.vault.begin(command.protect.allows)
        self.command = command

    def restored(self, *, over: bool) -> tuple[Restored, ...]:
        """The protected files that were restored by now. `over`: nothing of the command runs any more."""
        if self._protect is None:
            return ()
        return self._protect.vault.check(self._number if over else None)

    def close(self) -> None:
        if self._protect is not None:
            self._protect.vault.end(self._number)
        while self._at_end:
            self._at_end.pop()()

    def _with_scratch(self, command: Command) -> Command:
        """git takes no locks in it: it refreshes its index on the way, and that would fail."""
        import shutil
        import tempfile

        assert command.sandbox is not None
        directory = tempfile.mkdtemp(prefix="checkrein-")
        self._at_end.append(lambda: shutil.rmtree(directory, ignore_errors=True))
        places = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), directory)
        env = {**command.env, **places, "GIT_OPTIONAL_LOCKS": "0"}
        return replace(command, env=env, sandbox=replace(command.sandbox, write=(directory,)))
