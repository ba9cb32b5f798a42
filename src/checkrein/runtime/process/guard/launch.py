"""One guarded command, as the warden sees it."""

from __future__ import annotations

import _socket

from checkrein.runtime.process.guard import launcher, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from checkrein.runtime.process.guard.effect_calls import Effects
    from checkrein.runtime.process.guard.faces import Start
    from checkrein.runtime.process.guard.lookout import Lookout
    from checkrein.runtime.process.guard.notification import Notification


class Launch:
    """One command with all that it starts. `held` are the starts that wait for an answer."""

    def __init__(
        self, spare: launcher.Spare, channel: _socket.socket, lookout: Lookout, effects: Effects | None
    ) -> None:
        self.pid = spare.pid
        self.listener = spare.listener
        self.spare: launcher.Spare | None = spare
        self.pipe = spare.pipe
        self.channel: _socket.socket | None = channel
        self.lookout = lookout
        self.effects = effects
        self.is_awaited = True
        """Somebody waits to hear that it has started."""
        self.is_over = False
        self.held: dict[int, tuple[Notification, Start]] = {}
        self.seen: set[int] = set()

    def let_go(self) -> None:
        """The child has started the command, or failed."""
        if self.spare is not None:
            self.spare.let_go()
            self.spare = None

    def tell(self, *message: Any) -> bool:
        """False when nobody listens any more."""
        if self.channel is None:
            return False
        try:
            wire.send(self.channel, message)
        except OSError:
            return False
        return True
