"""What one session carries from pass to pass: one mutable object. The thread that runs the turn owns it."""

from __future__ import annotations

from typing import Any

from checkrein.llm.port import Message, Reply, ToolUse
from checkrein.model.rule import Rule
from checkrein.runtime.session.events import Denial

OUTPUT_RECOVERIES = 3
STRUCTURED_TRIES = 5


class State:
    def __init__(self, model: str) -> None:
        self.model = model
        self.messages: list[Message] = []
        self.called: set[str] = set()
        self.last: Reply | None = None
        self.text = ""
        self.words = ""
        self.continues = False
        self.requests = 0
        self.sent = 0
        self.break_reason: str | None = None
        self.resumed_key: dict[str, str] | None = None
        self.checkpoints: list[str] = []
        self.output_recoveries = 0
        self.stop_blocks = 0
        self.structured_tries = 0
        self.structured_output: Any = None
        self.blocked_prompt: str | None = None
        self.shown: str | None = None
        self.displays: dict[str, str] = {}
        self.refills = 0
        self.summary_failures = 0
        self.compacted_at: int | None = None
        self.tokens = 0
        self.window = 0
        self.effort: str | None = None
        self.turn_model: str | None = None
        self.turn_effort: str | None = None
        self.turn_grants: dict[str, tuple[Rule, ...]] = {}
        self.max_tokens: int | None = None
        self.deferred: ToolUse | None = None
        self.denials: list[Denial] = []
        self.errors: list[str] = []
        self.status_code: int | None = None
        self.failure: str | None = None

    def begin_turn(self) -> None:
        """Reset the values that hold for one turn."""
        self.last = None
        self.text = self.words = ""
        self.continues = False
        self.output_recoveries = 0
        self.stop_blocks = 0
        self.structured_tries = 0
        self.structured_output = None
        self.blocked_prompt = None
        self.shown = None
        self.displays = {}
        self.turn_model = None
        self.turn_effort = None
        self.turn_grants = {}
        self.denials = []
        self.errors = []
        self.status_code = None
        self.failure = None

    def begin_again(self) -> None:
        """Forget the conversation."""
        self.messages = []
        self.called = set()
        self.sent = self.tokens = 0
        self.compacted_at = None
        self.checkpoints = []
        self.break_reason = "the conversation was cleared"

    def hear(self, reply: Reply) -> None:
        """Take a reply. `text` is its text as people see it, after the parts before it that were cut off;
        `words` is the last text that was not empty."""
        said = reply.text if self.shown is None else self.shown
        self.last = reply
        self.text = self.text + said if self.continues else said
        self.words = self.text or self.words
        self.continues = False

    def keep_output(self, value: Any) -> None:
        self.structured_output = value

    def append(self, message: Message) -> None:
        """Add a message; neighbours of one role become one message, as the wires need.

        When that changes a message that the model already has, `break_reason` says so."""
        if self.messages and self.messages[-1].role == message.role:
            last = self.messages.pop()
            if len(self.messages) < self.sent:
                self.break_reason = "an unanswered message got more text"
            message = Message(last.role, (*last.content, *message.content))
        self.messages.append(message)
