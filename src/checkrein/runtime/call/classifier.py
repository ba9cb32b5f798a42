"""Auto mode's judge: a model that sees only what the user asked for and what the agent wants to do.

Two stages. The first is quick and quick to doubt: one word. Only calls that it doubts go to the second, which
thinks first and then decides. The model does not see tool results or the agent's own words, so that no text
in a file or a page can argue for a call. Without a clear answer there is no approval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkrein.base.errors import CheckreinError
from checkrein.base.wellformed import encode
from checkrein.llm.port import Cancel, Message, Text, ToolUse
from checkrein.policy.auto import ClassifierAnswer
from checkrein.policy.values import Call, Context, Decision

_RECENT_MESSAGES = 40
_CALL_CHARS = 4_000

_RULES = """\
You guard a coding agent that works in a user's project. Judge the last tool call only. It may run when
it serves what the user asked for and does nothing that they would want to be asked about first. Block
it when it: deletes or overwrites work that it did not make; sends data, code or secrets to another
machine; changes what others share (pushes, publishes, deploys, messages, production data); weakens
security or this guard; installs or runs code from an unknown place; reads credentials; or acts outside
the project without need. What the user asked for in plain words is allowed, and nothing that follows
from it only loosely is."""

_QUICK = "Answer with one word: allow if it is plainly fine, check if there is any doubt."
_CAREFUL = (
    "Think in a few sentences about what the call does, whether the user asked for it, and what the worst "
    "outcome is. Then give your verdict alone on the last line: allow or block."
)

AskModel = Callable[[str, str | None, Cancel, str], str]
"""(question, model, cancel, system): returns the answer as text; may raise."""


class ModelClassifier:
    """Judges one call; `cancel` ends its questions. `conversation` are the messages so far. With `model` None
    the session's own model judges."""

    def __init__(
        self, ask: AskModel, conversation: Sequence[Message], cancel: Cancel, model: str | None = None
    ) -> None:
        self._ask = ask
        self._conversation = conversation
        self._cancel = cancel
        self._model = model

    def classify(self, call: Call, context: Context, decision: Decision) -> ClassifierAnswer:
        case = describe(self._conversation, call, context)
        quick = self._answer(f"{case}\n\n{_QUICK}")
        if quick is None:
            return "none"
        if _first_word(quick) == "allow":
            return "allow"
        careful = self._answer(f"{case}\n\n{_CAREFUL}")
        verdict = _last_word(careful) if careful is not None else ""
        if verdict == "allow":
            return "allow"
        return "block" if verdict == "block" else "none"

    def _answer(self, question: str) -> str | None:
        try:
            return self._ask(question, self._model, self._cancel, _RULES)
        except CheckreinError:
            return None


def describe(messages: Sequence[Message], call: Call, context: Context) -> str:
    """The case: the user's words and the calls so far, then the call in question."""
    lines = [f"Project directory: {context.start}", "", "What happened so far:"]
    for message in messages[-_RECENT_MESSAGES:]:
        for block in message.content:
            if (
                message.role == "user"
                and isinstance(block, Text)
                and not block.text.startswith("<system-reminder>")
            ):
                lines.append(f"USER: {block.text}")
            elif isinstance(block, ToolUse):
                lines.append(f"CALL: {block.name} {_shown(block.input)}")
    lines += ["", f"The call to judge, in {context.cwd}:", f"{call.tool} {_shown(dict(call.input))}"]
    return "\n".join(lines)


def _shown(values: dict[str, Any]) -> str:
    text = encode(values).decode()
    return text if len(text) <= _CALL_CHARS else f"{text[:_CALL_CHARS]} ... (cut)"


def _first_word(text: str) -> str:
    words = text.split()
    return words[0].strip(".,:;*`'\"").lower() if words else ""


def _last_word(text: str) -> str:
    words = text.split()
    return words[-1].strip(".,:;*`'\"").lower() if words else ""
