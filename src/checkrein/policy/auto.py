"""Auto mode: what rules and built-in knowledge leave open is answered by a classifier.

The classifier is a port with one method; the runtime puts a model behind it, tests use `ScriptedClassifier`.
`decide` never calls it: it says `classify`, and `settle` joins the answer to the decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, Protocol

from msgspec import Struct, structs

from checkrein.policy.values import Call, Context, Decision

ClassifierAnswer = Literal["allow", "block", "none"]
"""`none`: no verdict came; the call is denied, and it does not count as blocked."""

MAX_CONSECUTIVE = 3
MAX_TOTAL = 20


class Classifier(Protocol):
    def classify(self, call: Call, context: Context, decision: Decision) -> ClassifierAnswer: ...


class ScriptedClassifier:
    """Answers in the given order, then `none`; remembers what it was asked."""

    def __init__(self, answers: Iterable[ClassifierAnswer]) -> None:
        self._answers = list(answers)[::-1]
        self.asked: list[Call] = []

    def classify(self, call: Call, context: Context, decision: Decision) -> ClassifierAnswer:
        self.asked.append(call)
        return self._answers.pop() if self._answers else "none"


class Blocks(Struct, frozen=True):
    """How often the classifier has blocked. Past the limits calls are asked for again."""

    consecutive: int = 0
    total: int = 0

    @property
    def paused(self) -> bool:
        return self.consecutive >= MAX_CONSECUTIVE or self.total >= MAX_TOTAL

    def after(self, answer: ClassifierAnswer) -> Blocks:
        if answer == "block":
            return Blocks(self.consecutive + 1, self.total + 1)
        return Blocks(0, self.total) if answer == "allow" else self


def settle(decision: Decision, answer: ClassifierAnswer) -> Decision:
    """The decision with the classifier's answer. One that is not open stays as it is."""
    if not decision.classify:
        return decision
    if answer == "allow":
        return structs.replace(decision, verdict="allow", reason="the classifier allows it", classify=False)
    reason = "the classifier blocks it" if answer == "block" else "the classifier gave no verdict"
    return structs.replace(decision, verdict="deny", reason=reason, classify=False)


def decide_auto(
    decision: Decision, call: Call, context: Context, classifier: Classifier, blocks: Blocks
) -> tuple[Decision, Blocks]:
    """Ask the classifier where the decision is open and it was not paused."""
    if not decision.classify or blocks.paused:
        return decision, blocks
    answer = classifier.classify(call, context, decision)
    return settle(decision, answer), blocks.after(answer)


_BROAD = re.compile(
    r"(?:\*"
    r"|(?:python|pypy|perl|ruby|node|deno|bun|php|lua|bash|sh|zsh|fish|dash|ksh|pwsh|eval|exec|env|sudo|ssh|xargs)"
    r"[\d.]*\s*(?::\*|\*)?"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run|exec|x|dlx)\s*(?::\*|\*)"
    r"|(?:npx|bunx|pnpx|uvx|make|just|task|cargo run|go run|uv run|poetry run)\s*(?::\*|\*))"
)


def is_broad(pattern: str) -> bool:
    """Whether a Bash allow rule lets arbitrary code run; auto mode sets such rules aside."""
    return _BROAD.fullmatch(pattern.strip()) is not None
