"""A guarded command, as the session sees it: its end, its questions, its refusals."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from checkrein.llm.cancel import Cancel
from checkrein.policy.starts import Answer, Started
from checkrein.runtime.process.child import NotStartedError
from checkrein.runtime.process.guard import wire
from checkrein.runtime.process.guard.descent import marked, send
from checkrein.runtime.process.guard.guard import Guard, Refusal
from checkrein.runtime.process.sandbox.bounds import Reason

_KILLED = -9
_NOT_STARTED = 127
_LOST = "the warden that judged its programs has ended, so the command was ended too"


class Ward:
    """Belongs to the thread that calls `notice`. Any thread may use `signal` and the values.

    `keep` gets a ward whose command is over while its children go on: somebody must still hear questions.
    `mark` is in the environment of every guarded process of the session. `leader` is the number of the
    command, 0 before its start."""

    def __init__(
        self,
        channel: socket.socket,
        guard: Guard,
        keep: Callable[[Ward], None],
        mark: str,
        leader: Callable[[], int],
        lose: Callable[[], None],
        reasons: tuple[Reason, ...] = (),
    ) -> None:
        """`lose` hears that the warden has ended. `reasons` are the rules on other effects, by their
        numbers."""
        self.refusals: list[Refusal] = []
        self.powerless: list[str] = []
        """Programs that would run with the rights of their owner, and did not."""
        self._channel: socket.socket | None = channel
        self._guard = guard
        self._keep = keep
        self._mark = mark
        self._leader = leader
        self._tell_lost = lose
        self._reasons = reasons
        self._status: int | None = None
        self._has_children = False
        self._lock = threading.Lock()
        self._asked = 0
        self._asked_since = 0.0
        self._held = 0.0
        self._cancel = Cancel()
        self._has_started = False

    def wait_for_start(self) -> None:
        """Only where the warden was asked to tell. Raises NotStartedError."""
        try:
            while not self._has_started and self._channel is not None:
                self._hear(wire.receive(self._channel))
        except BaseException:
            self.release()
            raise
        if not self._has_started:
            raise NotStartedError(errno.EPIPE, _LOST)

    @property
    def descriptor(self) -> int:
        """Readable when `notice` has work; -1 when all is over."""
        return self._channel.fileno() if self._channel is not None else -1

    @property
    def held(self) -> float:
        """Seconds in which it waited for answers."""
        with self._lock:
            return self._held + (time.monotonic() - self._asked_since if self._asked else 0.0)

    def notice(self) -> bool:
        """Hear what there is. True when the command is over; its children may still have questions."""
        with contextlib.suppress(BlockingIOError):
            while self._channel is not None:
                self._hear(wire.receive(self._channel, socket.MSG_DONTWAIT))
        return self._status is not None

    def wait(self) -> int:
        while self._status is None and self._channel is not None:
            self._hear(wire.receive(self._channel))
        return _KILLED if self._status is None else self._status

    def poll(self) -> int | None:
        return self._status

    def signal(self, number: int) -> None:
        """To the whole group."""
        self._cancel.cancel()
        is_over = self._status is not None and not self._has_children
        if not is_over and not self._tell("signal", int(number)):
            self._kill(number)

    def close(self) -> None:
        """Nobody calls `notice` here any more."""
        if self._has_children and self._channel is not None:
            self._keep(self)
        else:
            self.release()

    def release(self) -> None:
        self._cancel.cancel()
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _hear(self, received: tuple[Any, list[int]] | None) -> None:
        if received is None:
            if self._status is None:
                self._lose()
            self.release()
            return
        kind, *values = received[0]
        if kind == "started":
            self._has_started = True
        elif kind == "failed":
            self._status = _NOT_STARTED
            self.release()
            raise NotStartedError(values[0], os.strerror(values[0]))
        elif kind == "exited":
            self._status, self._has_children = values
            if not self._has_children:
                self.release()
        elif kind == "question":
            self._ask(*values)
        elif kind == "powerless":
            self.powerless.append(values[0])
        elif kind == "refused":
            _, program, argv, reason = values
            self._refuse(Refusal(program=program, argv=argv, reason=reason))
        elif kind == "effect":
            program, effect, target, key = values
            why = self._reasons[key] if 0 <= key < len(self._reasons) else Reason("", None)
            self._refuse(
                Refusal(
                    program=program,
                    reason=why.about(effect, target),
                    rule=why.rule or None,
                    origin=why.origin,
                    effect=effect,
                    target=target,
                )
            )
        elif kind == "raced":
            _, program, argv = values
            why = "what it was asked to start changed after it was judged; the whole command was ended"
            self._refuse(Refusal(program=program, argv=argv, reason=why, ended=True))

    def _lose(self) -> None:
        """Without a warden nothing of it can start programs. It ends."""
        self._tell_lost()
        self._kill(signal.SIGKILL)
        send(marked(self._mark), signal.SIGKILL)
        self._status = _KILLED
        self._refuse(Refusal(program="", reason=_LOST, ended=True))

    def _kill(self, number: int) -> None:
        group = self._leader()
        if group:
            with contextlib.suppress(OSError):
                os.killpg(group, number)

    def _refuse(self, refusal: Refusal) -> None:
        self.refusals.append(refusal)
        if self._guard.on_refused is not None:
            self._guard.on_refused(refusal)

    def _ask(self, number: int, pid: int, cwd: str, faces: list[tuple[str, Any, Any]]) -> None:
        with self._lock:
            self._asked += 1
            if self._asked == 1:
                self._asked_since = time.monotonic()
        starts = [
            Started(pid=pid, program=program, names=names, argv=argv, cwd=cwd)
            for program, names, argv in faces
        ]
        threading.Thread(
            target=self._answer, args=(number, starts), name="checkrein-start", daemon=True
        ).start()

    def _answer(self, number: int, starts: list[Started]) -> None:
        """All faces of a start must be allowed."""
        refused = None
        try:
            for started in starts:
                answer = self._judged(started)
                if not answer.allow:
                    refused = started, answer
                    break
        finally:
            with self._lock:
                self._asked -= 1
                if not self._asked:
                    self._held += time.monotonic() - self._asked_since
            if refused is not None:
                started, answer = refused
                self._refuse(
                    Refusal(
                        program=started.program,
                        argv=started.argv,
                        reason=answer.reason,
                        rule=answer.rule,
                        origin=answer.origin,
                    )
                )
            self._tell("answer", number, refused is None and not self._cancel.cancelled)

    def _judged(self, started: Started) -> Answer:
        try:
            return self._guard.judge.judge(started, self._cancel)
        except Exception as error:  # a judge that fails allows nothing
            return Answer(False, f"it could not be judged: {error}")

    def _tell(self, *message: Any) -> bool:
        channel = self._channel
        if channel is None:
            return False
        try:
            wire.send(channel, message)
        except OSError:
            return False
        return True
