"""A rule that a person's answer writes for good: its exact text, and the file that it goes into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.base.errors import UsageError
from checkrein.cli import paint
from checkrein.model.rule import split_rule
from checkrein.policy.updates import AddRules, Destination, RuleText, problem_of

if TYPE_CHECKING:
    from checkrein.model.project import Place
    from checkrein.runtime.session.control import Question

DESTINATIONS: tuple[Destination, ...] = ("localSettings", "projectSettings", "userSettings", "session")


class PermanentRule:
    """What to write. Several rules stand in one text, separated by a semicolon and a blank."""

    def __init__(self, update: AddRules) -> None:
        self._update = update
        self.destination: Destination = update.destination

    @property
    def text(self) -> str:
        return "; ".join(rule.text for rule in self._update.rules)

    def next_destination(self) -> None:
        at = DESTINATIONS.index(self.destination)
        self.destination = DESTINATIONS[(at + 1) % len(DESTINATIONS)]

    def file(self, place: Place) -> str:
        """The file as people read it; for the session, that it is none."""
        if self.destination == "session":
            return "this session only (no file)"
        from checkrein.runtime.call.permissions import settings_file

        try:
            return paint.path(settings_file(place, self.destination))
        except UsageError as error:
            return f"this session only ({error.message})"

    def update(self, text: str) -> AddRules:
        rules = tuple(_rule(part) for part in _parts(text))
        return AddRules(rules=rules, behavior="allow", destination=self.destination)

    def problem(self, text: str) -> str | None:
        """Why a text can't be written; None when it can."""
        for part in _parts(text):
            _, _, problem = split_rule(part)
            if problem is not None:
                return f"`{part}`: {problem}"
        update = self.update(text)
        return problem_of(update) if update.rules else "There is no rule."


def offered(question: Question) -> PermanentRule | None:
    """The rule that would settle a question for good, if there is one."""
    found = next((one for one in question.suggestions if isinstance(one, AddRules)), None)
    return PermanentRule(found) if found is not None else None


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split("; ") if part.strip()]


def _rule(text: str) -> RuleText:
    name, opened, rest = text.partition("(")
    return RuleText(name, rest.removesuffix(")")) if opened else RuleText(name)
