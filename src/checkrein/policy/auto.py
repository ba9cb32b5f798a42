"""Auto mode: a classifier answers what rules and built-in knowledge leave open.

The classifier is a port with one method; the runtime puts a model behind it, tests use `ScriptedClassifier`.
`decide` never calls it: it says `classify`, and `settle` joins the answer to the decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from msgspec import Struct, structs

from checkrein.base.later import later
from checkrein.policy.values import Call, Context, Decision

ClassifierAnswer = Literal["allow", "block", "none", "unseen"]
"""`none`: the classifier gave no verdict. The call is denied, and does not count as blocked. `unseen`: it did
not see the whole call, so a person must."""

_MAX_CONSECUTIVE = 3
_MAX_TOTAL = 20


class Classifier(Protocol):
    def classify(self, call: Call, context: Context, decision: Decision) -> ClassifierAnswer: ...


class ScriptedClassifier:
    """Gives its answers in order, then `none`. It remembers the calls."""

    def __init__(self, answers: Iterable[ClassifierAnswer]) -> None:
        self._answers = list(answers)[::-1]
        self.asked: list[Call] = []

    def classify(self, call: Call, context: Context, decision: Decision) -> ClassifierAnswer:
        self.asked.append(call)
        return self._answers.pop() if self._answers else "none"


class Blocks(Struct, frozen=True):
    """How often the classifier has blocked. Past the limits, calls need approval again."""

    consecutive: int = 0
    total: int = 0

    @property
    def paused(self) -> bool:
        return self.consecutive >= _MAX_CONSECUTIVE or self.total >= _MAX_TOTAL

    def after(self, answer: ClassifierAnswer) -> Blocks:
        if answer == "block":
            return Blocks(self.consecutive + 1, self.total + 1)
        return Blocks(0, self.total) if answer == "allow" else self


def settle(decision: Decision, answer: ClassifierAnswer) -> Decision:
    """The decision with the classifier's answer. A decision that is not open stays the same."""
    if not decision.classify:
        return decision
    if answer == "allow":
        return structs.replace(decision, verdict="allow", reason="the classifier allows it", classify=False)
    if answer == "unseen":
        return structs.replace(decision, reason="it is too long for the classifier to see", classify=False)
    reason = "the classifier blocks it" if answer == "block" else "the classifier gave no verdict"
    return structs.replace(decision, verdict="deny", reason=reason, classify=False)


def decide_auto(
    decision: Decision, call: Call, context: Context, classifier: Classifier, blocks: Blocks
) -> tuple[Decision, Blocks]:
    """Ask the classifier if the decision is open and the classifier is not paused."""
    if not decision.classify or blocks.paused:
        return decision, blocks
    answer = classifier.classify(call, context, decision)
    return settle(decision, answer), blocks.after(answer)


_BROAD = later(
    r"(?:\*"
    r"|(?:python|pypy|perl|ruby|node|deno|bun|php|lua|bash|sh|zsh|fish|dash|ksh|pwsh|eval|exec|env|sudo|ssh|xargs)"
    r"[\d.]*\s*(?::\*|\*)?"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run|exec|x|dlx)\s*(?::\*|\*)"
    r"|(?:npx|bunx|pnpx|uvx|make|just|task|cargo run|go run|uv run|poetry run)\s*(?::\*|\*))"
)


def is_broad(pattern: str) -> bool:
    """Whether a Bash allow rule lets arbitrary code run; auto mode sets such rules aside."""
    return _BROAD.fullmatch(pattern.strip()) is not None
