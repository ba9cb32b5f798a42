"""The calls of a command that are judged besides its starts: which they are, and who answers them."""

from __future__ import annotations

import errno
import os

from checkrein.runtime.process.guard import dialer, file_calls, filters
from checkrein.runtime.process.guard.dialer import Dialing
from checkrein.runtime.process.guard.file_rules import FileRules
from checkrein.runtime.process.guard.file_writes import Writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from checkrein.runtime.process.guard.notification import Notification

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _TCP = 1, 6
_KIND = 0xF


class Effects:
    """From plain values: `files` as FileRules has them, `network` as Dialing has them; each may be None."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        machine = os.uname().machine
        self._names: dict[int, str] = {}
        self.steps: list[filters.Step] = []
        self.refused: tuple[str, ...] = ()
        self._writing = self._dialing = None
        files, network = given["files"], given["network"]
        if files is not None:
            self._writing = Writing(FileRules(files))
            numbers = file_calls.NUMBERS[machine]
            self.refused = tuple(name for name in file_calls.REMOUNTS if name in numbers)
            if files["names"]:
                self.refused = tuple(name for name in self.refused if name != "chroot")
                self._notify(numbers, file_calls.NAMES)
            else:
                self._judge_writes(numbers)
        if network is not None:
            self._dialing = Dialing(network)
            numbers = dialer.NUMBERS[machine]
            self._notify(numbers, ("connect",))
            if network["proxy"] is not None:
                self.steps += _sockets(numbers["socket"])
                for name, argument in dialer.FAST_OPEN.items():
                    refuse = filters.refuse(errno.EOPNOTSUPP)
                    self.steps += filters.if_set(
                        numbers[name], argument, dialer.FAST_OPEN_FLAG, refuse, filters.ALLOW
                    )

    def _judge_writes(self, numbers: Mapping[str, int]) -> None:
        self._notify(numbers, (*file_calls.PATHS, *file_calls.ATTRIBUTES))
        for name in file_calls.NEW:
            self.steps += filters.always(numbers[name], filters.refuse(errno.ENOSYS))
        for name, argument in file_calls.OPENS.items():
            if name in numbers:
                self._names[numbers[name]] = name
                self.steps += filters.if_set(
                    numbers[name], argument, file_calls.WRITE_FLAGS, filters.NOTIFY, filters.ALLOW
                )

    def _notify(self, numbers: Mapping[str, int], names: Iterable[str]) -> None:
        for name in names:
            if name in numbers:
                self._names[numbers[name]] = name
                self.steps += filters.always(numbers[name], filters.NOTIFY)

    def answer(self, notification: Notification) -> tuple[str, str, int] | None:
        """Do a call and answer. Where it is refused, return that instead: `write` or `net`, where to, and the
        rule's number."""
        name = self._names[notification.number]
        if name in dialer.NUMBERS["x86_64"]:
            assert self._dialing is not None
            unreachable = self._dialing.answer(notification)
            return None if unreachable is None else ("net", unreachable.target, unreachable.key)
        assert self._writing is not None
        reason = self._writing.answer(name, notification)
        return None if reason is None else ("write", reason.path, reason.key)

    def has(self, number: int) -> bool:
        return number in self._names


def _sockets(number: int) -> list[filters.Step]:
    """TCP, sockets to programs of this machine, and questions to the kernel about routes."""
    accept, refuse = filters.ALLOW, filters.refuse(errno.EACCES)
    return filters.decide(
        number,
        [
            *filters.load(0),
            *filters.if_equal(_UNIX, [filters.give(accept)]),
            *filters.if_equal(
                _NETLINK,
                [*filters.load(2), *filters.if_equal(0, [filters.give(accept)]), filters.give(refuse)],
            ),
            *filters.if_equal(_INET, _stream(accept, refuse)),
            *filters.if_equal(_INET6, _stream(accept, refuse)),
            filters.give(refuse),
        ],
    )


def _stream(accept: int, refuse: int) -> list[filters.Step]:
    return [
        *filters.load(1),
        filters.mask(_KIND),
        *filters.if_equal(
            _STREAM,
            [
                *filters.load(2),
                *filters.if_equal(0, [filters.give(accept)]),
                *filters.if_equal(_TCP, [filters.give(accept)]),
                filters.give(refuse),
            ],
        ),
        filters.give(refuse),
    ]
