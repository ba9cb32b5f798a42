"""What surrounds a command while it runs: its temporary directory, and the watch over protected files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.runtime.process.command import Command
from checkrein.runtime.process.guard.guard import Refusal

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
        if command.lease is not None:
            self._at_end.append(command.lease.close)
        if command.protect is not None:
            self._number = command.protect.files.begin(command.protect.allows)
        self.command = command

    def restored(self, *, over: bool) -> tuple[Restored, ...]:
        """The protected files that were restored by now. `over`: nothing of the command runs any more."""
        if self._protect is None:
            return ()
        return self._protect.files.check(self._number if over else None)

    @property
    def unreachable(self) -> tuple[Refusal, ...]:
        """What the proxy has refused by now."""
        found = self.command.lease.refused if self.command.lease is not None else ()
        return tuple(
            Refusal(
                program="",
                reason=str(one),
                rule=one.rule,
                origin=one.origin,
                effect="net",
                target=f"{one.host}:{one.port}",
            )
            for one in found
        )

    def close(self) -> None:
        if self._protect is not None:
            self._protect.files.end(self._number)
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
