"""The warden: starts guarded commands, answers at each exec, ends what is left.

One thread, one loop. It waits for orders of the session, notifications of the kernel, answers to questions
and changes of children. When the session is gone, everything below the warden ends, and then the warden.
"""

from __future__ import annotations

import _socket
import errno
import gc
import os
import select
import sys

from checkrein.runtime.process.guard import descent, filters, launcher, quick, syscalls, wire
from checkrein.runtime.process.guard.caller import Caller, UnreadableError, read_caller
from checkrein.runtime.process.guard.faces import Start
from checkrein.runtime.process.guard.identity import Files
from checkrein.runtime.process.guard.launch import Launch
from checkrein.runtime.process.guard.leaders import note
from checkrein.runtime.process.guard.lookout import Lookout
from checkrein.runtime.process.guard.notification import Notification, prefer_one_core
from checkrein.runtime.process.guard.nursery import Nursery
from checkrein.runtime.process.guard.tracer import Expected, Tracer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from checkrein.runtime.process.guard.effect_calls import Effects

_GRACE = 1.0
_LATE = 2.5
_MOST_SHOWN = 4000


class Warden:
    def __init__(self, orders: _socket.socket, mark: str, library: str) -> None:
        """`library` is the path of the compiled code for clear starts; it may be empty."""
        syscalls.prctl(syscalls.SUBREAPER, 1)
        syscalls.prctl(syscalls.DUMPABLE, 0)
        self._orders: _socket.socket | None = orders
        self._mark = mark
        compiled = quick.usable(library)
        self._nursery = Nursery(compiled)
        self._files = Files()
        self._tracer = Tracer()
        self._lookouts: dict[Any, Lookout] = {}
        self._launches: dict[int, Launch] = {}
        self._execveat = filters.number("execveat")
        self._arrivals = quick.arrivals(compiled, self._tracer)
        self._ready: dict[int, Callable[[], None]] = {}
        self._watch(orders.fileno(), self._order)
        self._watch(self._arrivals.signals, self._changed)
        self._rest: descent.Rest | None = None

    def serve(self) -> None:
        while self._rest is None or not self._rest.is_gone:
            patience = self._tracer.patience
            if self._rest is not None:
                patience = self._rest.patience
            descriptor = self._arrivals.wait(patience)
            handle = self._ready.get(descriptor)
            if handle is not None:
                handle()
            if descriptor < 0 or (patience is not None and self._tracer.is_due):
                self._look_after()

    def _watch(self, descriptor: int, handle: Callable[[], None]) -> None:
        self._ready[descriptor] = handle
        self._arrivals.watch(descriptor)

    def _forget(self, descriptor: int) -> None:
        if self._ready.pop(descriptor, None) is not None:
            self._arrivals.forget(descriptor)

    def _order(self) -> None:
        assert self._orders is not None
        received = wire.receive(self._orders)
        if received is None:
            self._leave(_LATE)
        elif received[0] == wire.GOODBYE:
            self._leave(0.0)
        else:
            self._launch(*received)

    def _leave(self, late: float) -> None:
        assert self._orders is not None
        self._forget(self._orders.fileno())
        self._orders.close()
        self._orders = None
        self._nursery.close()
        self._rest = descent.Rest(self._mark, _GRACE, late)

    def _launch(self, order: dict[str, Any], descriptors: list[int]) -> None:
        channel, leaders = _socket.socket(fileno=descriptors.pop(0)), descriptors.pop(0)
        spare = None
        try:
            order["path"] = launcher.executable(order["argv"][0], order["env"], order["cwd"])
            lookout = self._lookout(order)
            spare, effects = self._nursery.take(order, self._is_another_waiting)
            note(leaders, order["place"], spare.pid)
            spare.start(order, descriptors)
        except OSError as error:
            with syscalls.ignored:
                wire.send(channel, ("failed", error.errno or errno.EIO))
            channel.close()
            for descriptor in descriptors:
                os.close(descriptor)
            if spare is not None:
                spare.discard()
            return
        finally:
            os.close(leaders)
        prefer_one_core(spare.listener)
        launch = Launch(spare, channel, lookout, effects)
        launch.is_awaited = order["awaited"]
        self._launches[launch.pid] = launch
        self._watch(launch.listener, lambda: self._notified(launch))
        self._watch(channel.fileno(), lambda: self._answered(launch))
        self._watch(launch.pipe, lambda: self._begun(launch))

    def _is_another_waiting(self) -> bool:
        return self._orders is not None and bool(select.select((self._orders,), (), (), 0)[0])

    def _lookout(self, order: dict[str, Any]) -> Lookout:
        watch = order["watch"]
        path, cwd = order["env"].get("PATH", os.defpath), order["cwd"]
        key = (watch["every"], watch["programs"], watch["only"], path, cwd)
        known = self._lookouts.get(key)
        if known is None or not known.is_current:
            if known is not None:
                self._arrivals.outdated(known)
            known = self._lookouts[key] = Lookout(watch, path, cwd, self._files)
        return known

    def _begun(self, launch: Launch) -> None:
        failed = launcher.failure(launch.pipe)
        self._forget(launch.pipe)
        os.close(launch.pipe)
        launch.pipe = -1
        launch.let_go()
        if failed:
            launch.tell("failed", failed)
        elif launch.is_awaited:
            launch.tell("started")

    def _notified(self, launch: Launch) -> None:
        try:
            notification = self._arrivals.call(launch)
        except OSError:
            self._hung_up(launch)
            self._drop(launch)
            return
        if launch.spare is not None:  # the exec that the session asked for
            launch.let_go()
            notification.proceed()
            self._arrivals.begun(launch)
            return
        launch.seen.add(notification.pid)
        if launch.effects is not None and launch.effects.has(notification.number):
            self._act(launch, launch.effects, notification)
        else:
            self._judge(launch, notification)

    def _act(self, launch: Launch, effects: Effects, notification: Notification) -> None:
        refused = effects.answer(notification)
        if refused is not None:
            with syscalls.ignored:
                launch.tell("effect", os.readlink(f"/proc/{notification.pid}/exe"), *refused)
            notification.refuse(errno.EACCES)

    def _hung_up(self, launch: Launch) -> None:
        """The notification was withdrawn, or nobody is left that could send one."""
        if launch.listener < 0:
            return
        poll = select.poll()
        poll.register(launch.listener, select.POLLIN)
        if not any(events & select.POLLHUP for _, events in poll.poll(0)):
            return
        self._close(launch)

    def _close(self, launch: Launch) -> None:
        self._arrivals.closed(launch)
        self._forget(launch.listener)
        os.close(launch.listener)
        launch.listener = -1

    def _judge(self, launch: Launch, notification: Notification) -> None:
        caller = None
        try:
            caller = read_caller(
                notification.pid, notification.number == self._execveat, notification.arguments
            )
            start = launch.lookout.start(caller)
        except UnreadableError as error:
            if notification.is_valid:
                notification.refuse(error.number)
                if error.reason:
                    self._report(launch, notification.pid, caller, error.reason)
            return
        except OSError as error:
            notification.refuse(error.errno or errno.EACCES)
            return
        if not notification.is_valid:
            return
        reason = launch.lookout.refused(start)
        if reason is not None:
            notification.refuse(errno.EACCES)
            self._report(launch, notification.pid, caller, reason, start.faces[0].real)
            return
        faces = launch.lookout.open_faces(start)
        if not faces:
            self._proceed(launch, notification, start)
            self._arrivals.cleared(launch, caller, start)
        elif launch.tell("question", notification.id, notification.pid, caller.cwd, faces):
            launch.held[notification.id] = notification, start
        else:
            notification.refuse(errno.EACCES)

    def _look_after(self) -> None:
        self._arrivals.overdue()
        for one in self._tracer.overdue():
            self._confirm(one)

    def _proceed(self, launch: Launch, notification: Notification, start: Start) -> None:
        expected = Expected(notification.pid, start.inode, start.line, launch)
        if self._tracer.follow(expected) or launch.lookout.is_idle:
            notification.proceed()
        else:
            self._proceed_untraced(launch, notification, start, expected)
        if start.powerless and os.geteuid() != 0:
            launch.tell("powerless", start.faces[0].real)

    def _proceed_untraced(
        self, launch: Launch, notification: Notification, start: Start, expected: Expected
    ) -> None:
        stranger = self._tracer.stranger(expected)
        if stranger is None:
            notification.proceed()
            self._tracer.look(expected)
            self._look_after()
        elif notification.is_valid:
            notification.refuse(errno.EACCES)
            why = f"{stranger} traces the process, so nobody can prove what it starts"
            first = start.faces[0]
            argv = tuple(map(os.fsdecode, first.argv[:_MOST_SHOWN]))
            launch.tell("refused", notification.pid, first.real, argv, why)

    def _report(
        self, launch: Launch, pid: int, caller: Caller | None, reason: str, program: str = ""
    ) -> None:
        argv = tuple(os.fsdecode(word)[:_MOST_SHOWN] for word in caller.argv[:_MOST_SHOWN]) if caller else ()
        shown = program or (os.fsdecode(caller.path) if caller else "?")
        launch.tell("refused", pid, shown, argv, reason)

    def _answered(self, launch: Launch) -> None:
        assert launch.channel is not None
        received = wire.receive(launch.channel)
        if received is None:
            self._forget(launch.channel.fileno())
            launch.channel.close()
            launch.channel = None
            for notification, _ in launch.held.values():
                notification.refuse(errno.EACCES)
            launch.held.clear()
            self._drop(launch)
            return
        kind, *values = received[0]
        if kind == "signal":
            self._signal(launch, values[0])
            return
        if values[0] not in launch.held:
            return
        notification, start = launch.held.pop(values[0])
        if not values[1]:
            notification.refuse(errno.EACCES)
            return
        if self._is_unchanged(launch, notification, start):
            self._proceed(launch, notification, start)
        else:
            self._judge(launch, notification)

    def _is_unchanged(self, launch: Launch, notification: Notification, start: Start) -> bool:
        """Nobody has changed what was asked about while the answer was awaited."""
        try:
            caller = read_caller(
                notification.pid, notification.number == self._execveat, notification.arguments
            )
            now = launch.lookout.start(caller)
        except (OSError, UnreadableError):
            return False
        return (now.inode, now.line) == (start.inode, start.line)

    def _signal(self, launch: Launch, number: int) -> None:
        if not launch.is_over:
            with syscalls.ignored:
                os.killpg(launch.pid, number)
            return
        own = descent.below((os.getpid(),))
        descent.send(
            (one.pid for one in descent.processes() if one.group == launch.pid and one.pid in own), number
        )

    def _changed(self) -> None:
        """Whoever waits comes first. The signal is taken after that, and a look at all follows."""
        self._look()
        self._arrivals.take_signal()
        while self._look():
            pass

    def _look(self) -> bool:
        """One change of a child or of a traced process; False when there is none."""
        pid, status = self._arrivals.change()
        if pid == 0:
            return False
        if not os.WIFSTOPPED(status):
            self._tracer.gone(pid)
            self._exited(pid, status)
            return True
        expected = self._tracer.stopped(pid, status)
        if expected is not None:
            self._confirm(expected)
            self._tracer.release(pid)
        return True

    def _exited(self, pid: int, status: int) -> None:
        launch = self._launches.get(pid)
        if launch is None:
            self._nursery.lose(pid)
            return
        if launch.is_over:
            return
        launch.is_over = True
        launch.let_go()
        if launch.pipe >= 0:
            self._begun(launch)
        self._hung_up(launch)
        launch.tell("exited", os.waitstatus_to_exitcode(status), launch.listener >= 0)
        self._drop(launch)
        self._nursery.refill()

    def _confirm(self, expected: Expected) -> None:
        """Something else than what was judged has started: it is judged as it is, and ends when it is not
        clear."""
        try:
            if not expected.holds:
                self._compare(expected.launch, expected)
        except OSError:  # it is gone
            return

    def _compare(self, launch: Launch, expected: Expected) -> None:
        _, line = expected.shown()
        argv = line.split(b"\0")[:-1]
        caller = Caller(expected.pid, b"", argv, 0, True)
        caller.base = f"/proc/{expected.pid}/exe"
        try:
            start = launch.lookout.start(caller)
            if launch.lookout.refused(start) is None and not launch.lookout.open_faces(start):
                return
            program = start.faces[0].real
        except UnreadableError:
            program = "?"
        self._end(launch)
        launch.tell("raced", expected.pid, program, tuple(map(os.fsdecode, argv)))

    def _end(self, launch: Launch) -> None:
        """Kill the whole tree of a command. Nothing of it that is left starts anything."""
        if launch.listener >= 0:
            self._close(launch)
        roots = {launch.pid, *launch.seen}
        for _ in range(3):
            own = descent.below((os.getpid(),))
            tree = descent.below(roots, lambda one: one.pid in roots or one.session in roots)
            descent.send(tree & own, syscalls.SIGKILL)

    def _drop(self, launch: Launch) -> None:
        if launch.is_over and launch.listener < 0:
            if self._launches.get(launch.pid) is launch:
                del self._launches[launch.pid]
            if launch.channel is not None:
                self._forget(launch.channel.fileno())
                launch.channel.close()
                launch.channel = None


def main() -> None:
    """Started as a program: the socket's descriptor, the mark of the session's processes, a library."""
    orders = _socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(orders.fileno(), False)
    gc.freeze()
    Warden(orders, *sys.argv[2:4]).serve()
    os._exit(0)
