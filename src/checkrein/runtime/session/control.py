"""The one control surface of a session. Terminal, SDK, machine commands and recipes all steer through it.

Any thread may call every method, at any time. The effect comes at the next safe point (of an interrupt, at
once). Nothing here blocks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.llm.port import Block, Cancel
from checkrein.policy.updates import Update
from checkrein.runtime.session.wakes import Wakes

if TYPE_CHECKING:
    from checkrein.policy.near_misses import NearMiss
    from checkrein.policy.values import Piece
    from checkrein.runtime.mcp.elicitation import ElicitationAsker
    from checkrein.runtime.mcp.program_port import Exchange
    from checkrein.runtime.mcp.relay import Relay

Prompt = str | Sequence[Block]


class Typed(Struct, frozen=True, kw_only=True):
    """A prompt of a program, with more than its words. `uuid` is the one that the program knows it by. A
    `verbatim` one names no command and no file, whatever it says."""

    content: Prompt
    uuid: str | None = None
    verbatim: bool = False


class Question(Struct, frozen=True, kw_only=True):
    """A call that needs approval, and why. `suggestions` are changes of the permissions after which the same
    call needs no approval; an answer may carry some of them, or others. `blocked_path` is the file that it is
    about. `claims` is what a server says about its tool: nobody has checked it. `trace` has the parts of the
    call, each with its verdict; `near` is the allow rule that comes closest without covering it."""

    tool: str
    input: dict[str, Any]
    call_id: str
    reason: str
    rule: str | None = None
    origin: Origin | None = None
    suggestions: tuple[Update, ...] = ()
    blocked_path: str | None = None
    claims: tuple[str, ...] = ()
    agent_id: str | None = None
    trace: tuple[Piece, ...] = ()
    near: NearMiss | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """The gate judges `updated_input` again before it runs. `interrupt` ends the turn after a refusal.
    `updated_permissions` hold from then on, within the limits of `runtime.call.permissions`."""

    verdict: Literal["allow", "deny"]
    message: str = ""
    updated_input: dict[str, Any] | None = None
    updated_permissions: tuple[Update, ...] = ()
    interrupt: bool = False


class Asker(Protocol):
    """Answers for the user whether a call may run: their terminal, or the program that they wrote. It speaks
    for the user, so settings files may keep the permissions of its answers."""

    def ask(self, question: Question, cancel: Cancel) -> Answer: ...


class Answerer(Protocol):
    """Answers the agent's own questions (AskUserQuestion). None means that the user declines."""

    def answer(self, questions: dict[str, Any], cancel: Cancel) -> dict[str, Any] | None: ...


class ScriptedAsker:
    """Answers from a list, then denies; the fake that ships for tests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.questions: list[Question] = []

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else Answer(verdict="deny", message="Nobody answered.")


class ScriptedAnswerer:
    """Answers from a list, then declines; the fake that ships for tests."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.questions: list[dict[str, Any]] = []

    def answer(self, questions: dict[str, Any], cancel: Cancel) -> dict[str, Any] | None:
        self.questions.append(questions)
        return self.answers.pop(0) if self.answers else None


HookCallback = Callable[[dict[str, Any], str | None], dict[str, Any]]


class HookSink(Protocol):
    """Takes the functions of a program as hooks."""

    def __call__(
        self,
        event: str,
        matcher: str | None,
        call: HookCallback,
        timeout: float | None = None,
        *,
        fail_closed: bool = False,
    ) -> None: ...


class Control:
    def __init__(self, asker: Asker | None = None, answerer: Answerer | None = None) -> None:
        self.asker = asker
        self.answerer = answerer
        self.elicitations: ElicitationAsker | None = None
        self.exchange: Exchange | None = None
        self.relay: Relay | None = None
        self.wakes = Wakes()
        self._lock = threading.Lock()
        self._cancel = Cancel()
        self._stopped = False
        self._ended = False
        self._below: list[Control] = []
        self._mode: str | None = None
        self._model: str | None = None
        self._rewind: str | None = None
        self._directories: deque[str] = deque()
        self._messages: deque[Prompt] = deque()
        self._early_hooks: list[Callable[[HookSink], None]] = []
        self._hook_sink: HookSink | None = None

    @property
    def cancel(self) -> Cancel:
        """The Cancel of the running turn. Each turn gets its own."""
        return self._cancel

    def begin_turn(self, deadline: float | None = None) -> Cancel:
        """A fresh Cancel for a new turn, which fires at the deadline (monotonic seconds). An interrupt from
        before the turn has no effect, but after `stop` every turn is over before it begins."""
        with self._lock:
            self._cancel.release()
            self._cancel = Cancel(deadline)
            stopped, cancel = self._stopped, self._cancel
        if stopped:
            cancel.cancel()
        return cancel

    def interrupt(self) -> None:
        """End the running turn: cut the model's stream, kill running tools and their children. A child ends
        for good, also one that has not begun its turn."""
        with self._lock:
            cancel, below = self._cancel, self._below
        cancel.cancel()
        for child in below:
            child.stop()

    @property
    def interrupted(self) -> bool:
        return self._cancel.cancelled

    @property
    def stopped(self) -> bool:
        """Whether no turn follows."""
        return self._stopped

    def stop(self, *, now: bool = False) -> None:
        """End the session: the running turn, and every later one. With `now`, nothing outlasts it."""
        with self._lock:
            self._stopped = True
            cancel, below = self._cancel, self._below
        if now:
            cancel.force()
        else:
            cancel.cancel()
        for child in below:
            child.stop(now=now)

    def below(self) -> Control:
        """The control of a child: the same people answer, and an interrupt here reaches it too."""
        child = Control(self.asker, self.answerer)
        child.elicitations = self.elicitations
        child.exchange = self.exchange
        with self._lock:
            child._stopped = self._stopped
            self._below = [*(one for one in self._below if not one._ended), child]
        return child

    def end(self) -> None:
        """The conversation is closed: nothing reaches it any more."""
        self._ended = True
        self._cancel.release()

    def send(self, message: Prompt) -> None:
        """Say something to the agent without waiting for its answer.

        A running turn takes it before its next request, as its own prompt: the hooks of prompts see it, and
        it is in the transcript. When no request follows (the turn ends first, or no turn runs), the message
        waits: the next turn takes it before its own prompt, unless `take_message` gives it back. So each
        message enters the conversation once, or comes back once, or a hook refuses it and a Notice says
        so."""
        with self._lock:
            self._messages.append(message)

    def take_message(self) -> Prompt | None:
        """The oldest message that is still waiting. For the turn; between turns for the caller, who makes it
        a prompt."""
        with self._lock:
            return self._messages.popleft() if self._messages else None

    def take_text(self) -> str | None:
        """The oldest waiting message, if it is plain text."""
        with self._lock:
            if self._messages and isinstance(self._messages[0], str):
                return str(self._messages.popleft())
            return None

    def set_mode(self, mode: str) -> None:
        with self._lock:
            self._mode = mode

    def set_model(self, model: str | None) -> None:
        with self._lock:
            self._model = model or "default"

    def rewind(self, message_uuid: str) -> None:
        """Restore the files from before this message. It happens before the next prompt."""
        with self._lock:
            self._rewind = message_uuid

    def add_directory(self, path: str) -> None:
        """Add a working directory. It counts from the next request or prompt on."""
        with self._lock:
            self._directories.append(path)

    def add_hook(
        self,
        event: str,
        matcher: str | None,
        callback: HookCallback,
        timeout: float | None = None,
        *,
        fail_closed: bool = False,
    ) -> None:
        """Add a function as a hook. It gets the next event, also in a session that already runs. With
        `fail_closed` its failure blocks what it judges."""

        def add(sink: HookSink) -> None:
            sink(event, matcher, callback, timeout, fail_closed=fail_closed)

        with self._lock:
            if self._hook_sink is None:
                self._early_hooks.append(add)
                return
            sink = self._hook_sink
        add(sink)

    def attach_hooks(self, sink: HookSink) -> None:
        """Send hooks to `sink`, those added before too."""
        with self._lock:
            early, self._early_hooks = self._early_hooks, []
            self._hook_sink = sink
        for add in early:
            add(sink)

    def take_mode(self) -> str | None:
        with self._lock:
            mode, self._mode = self._mode, None
            return mode

    def take_model(self) -> str | None:
        with self._lock:
            model, self._model = self._model, None
            return model

    def take_directory(self) -> str | None:
        with self._lock:
            return self._directories.popleft() if self._directories else None

    def take_rewind(self) -> str | None:
        with self._lock:
            rewind, self._rewind = self._rewind, None
            return rewind
