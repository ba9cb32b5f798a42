"""The person at the screen, as the session asks them: whether a call may run, and what the agent wants to
know. Implements `Asker` and `Answerer`; the session's threads wait here for an answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from checkrein.base.harmless import harmless, one_line
from checkrein.cli import approval
from checkrein.cli.permanent_rule import PermanentRule, offered
from checkrein.cli.screen.dialog import Choice, Dialog, Entry
from checkrein.cli.screen.ink import Line
from checkrein.cli.screen.markdown_lines import MarkdownLines
from checkrein.cli.screen.styled import lines_of
from checkrein.runtime.session.control import Answer

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.llm.port import Cancel
    from checkrein.runtime.session.control import Question

_INTERRUPTED = Answer(verdict="deny", message="The user interrupted.", interrupt=True)
_PLAN = "ExitPlanMode"
_QUESTIONS = "AskUserQuestion"
_LONG_TURN = 10.0
"""Seconds after which somebody may look elsewhere."""


class Person:
    def __init__(self, cockpit: Cockpit) -> None:
        self._cockpit = cockpit
        self.own_command: str | None = None
        self._began = time.monotonic()

    # -- approvals --

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        if self.own_command is not None and question.input.get("command") == self.own_command:
            return Answer(verdict="allow")
        self._cockpit.terminal.notify(f"{question.tool} needs your approval")
        if question.tool == _QUESTIONS:
            return self._questions(question, cancel)
        if question.tool == _PLAN and isinstance(question.input.get("plan"), str):
            return self._plan(question, cancel)
        self._cockpit.say([[], *lines_of(approval.whole(question), "")])
        standing = offered(question)
        while True:
            chosen = self._choose(_approval(question, standing), cancel)
            match chosen:
                case "once":
                    return Answer(verdict="allow")
                case "always" if standing is not None:
                    answer = self._always(standing, cancel)
                case "mode":
                    kept = tuple(one for one in question.suggestions if not approval.adds_rules(one))
                    return Answer(verdict="allow", updated_permissions=kept)
                case "no":
                    answer = self._refusal(cancel)
                case _:
                    return _INTERRUPTED
            if answer is not None:
                return answer

    def _always(self, standing: PermanentRule, cancel: Cancel) -> Answer | None:
        """Show the exact rule and its file; both can be changed before they are written."""

        def label() -> str:
            return f"This rule goes to {standing.file(self._place)}:"

        entry = Entry(
            label,
            standing.text,
            hint="Enter writes it and allows the call · Tab: another file · Esc: back",
            on_tab=standing.next_destination,
            problem=standing.problem,
        )
        text = self._choose(entry, cancel)
        if text is None:
            return None
        return Answer(verdict="allow", updated_permissions=(standing.update(text),))

    def _refusal(self, cancel: Cancel) -> Answer | None:
        words = self._choose(
            Entry(lambda: "No. What should it do instead?", hint="Enter refuses · Esc: back"), cancel
        )
        if words is None:
            return None
        said = f"The user said no: {words.strip()}" if words.strip() else "The user said no."
        return Answer(verdict="deny", message=said)

    # -- plans --

    def _plan(self, question: Question, cancel: Cancel) -> Answer:
        plan = str(question.input["plan"])
        input: dict[str, Any] | None = None
        while True:
            self._show_plan(plan)
            chosen = self._choose(_plan_choices(), cancel)
            if chosen in ("accept", "edits"):
                updates = approval.mode_updates("acceptEdits") if chosen == "edits" else ()
                return Answer(verdict="allow", updated_input=input, updated_permissions=updates)
            if chosen == "edit":
                changed = self._edited(plan)
                if changed is not None and changed != plan:
                    plan, input = changed, {**question.input, "plan": changed}
            elif chosen == "no":
                answer = self._refusal(cancel)
                if answer is not None:
                    return answer
            else:
                return _INTERRUPTED

    def _show_plan(self, plan: str) -> None:
        theme = self._cockpit.theme
        lines: list[Line] = [[], [(theme["accent"], "  The plan")]]
        markdown = MarkdownLines(theme)
        from checkrein.cli.screen.reply import Reply

        reply = Reply()
        reply.add(plan)
        reply.end()
        for block in reply.taken():
            lines += markdown.of(block, self._cockpit.face.columns)
        self._cockpit.say(lines)

    def _edited(self, plan: str) -> str | None:
        from checkrein.cli.screen.whole_terminal import edited_elsewhere

        return edited_elsewhere(self._cockpit, plan)

    # -- questions of the agent --

    def _questions(self, question: Question, cancel: Cancel) -> Answer:
        """A question of the agent needs no approval, only an answer."""
        given = self.answer(question.input, cancel)
        if given is None:
            return Answer(verdict="deny", message="The user declined to answer.", interrupt=cancel.cancelled)
        return Answer(verdict="allow", updated_input={**question.input, **given})

    def answer(self, questions: dict[str, Any], cancel: Cancel) -> dict[str, Any] | None:
        self._cockpit.terminal.notify("The agent has a question")
        answers: dict[str, str] = {}
        for question in questions.get("questions", []):
            given = self._answered(question, cancel)
            if given is None:
                return None
            answers[question["question"]] = given
        return {"answers": answers}

    def _answered(self, question: dict[str, Any], cancel: Cancel) -> str | None:
        theme, several = self._cockpit.theme, question.get("multiSelect") is True
        asked = harmless(str(question["question"]))
        self._cockpit.say([[], *([(theme["strong"], f"  {line}")] for line in asked.split("\n"))])
        rows = [
            Choice(str(one["label"]), str(one["label"]), str(one.get("description") or ""))
            for one in question["options"]
        ]
        chosen: list[str] = []
        while True:
            marked = [
                Choice(f"{'☒' if row.value in chosen else '☐'} {row.label}", row.value, row.detail)
                for row in rows
            ]
            last = [Choice("Done", "", key="d")] if several and chosen else []
            own = Choice("Something else, in your words", None, key="o")
            dialog = Dialog(
                one_line(str(question.get("header") or "Your answer")),
                [*(marked if several else rows), own, *last],
                hint="Enter chooses · Esc: no answer",
            )
            dialog.choices[len(rows)].value = own
            found = self._choose(dialog, cancel)
            if found is None:
                return None
            if found is own:
                words = self._choose(Entry(lambda: "Your answer:"), cancel)
                if words:
                    return ", ".join((*chosen, words))
            elif not several:
                return str(found)
            elif found == "":
                return ", ".join(chosen)
            else:
                chosen = [one for one in chosen if one != found] if found in chosen else [*chosen, found]

    # -- turns --

    def turn_began(self) -> None:
        self._began = time.monotonic()

    def turn_ended(self) -> None:
        """Call somebody back who did not wait."""
        if time.monotonic() - self._began > _LONG_TURN:
            self._cockpit.terminal.notify("The turn has ended")

    @property
    def _place(self) -> Any:
        session = self._cockpit.session
        assert session is not None
        return session.conversation.view.project.place

    def _choose(self, question: Dialog | Entry, cancel: Cancel) -> Any:
        with cancel.on_cancel(lambda: question.settle(None)):
            return self._cockpit.ask(question)


def _approval(question: Question, standing: PermanentRule | None) -> Dialog:
    rows = [Choice("Yes, once", "once", key="y")]
    if standing is not None:
        rows.append(
            Choice("Yes, and always:", "always", f"{standing.text} (shown before it is written)", "a")
        )
    modes = [approval.update_words(one) for one in question.suggestions if not approval.adds_rules(one)]
    if modes:
        rows.append(Choice(f"Yes, and {' and '.join(modes)} in this session", "mode", key="s"))
    rows.append(Choice("No, and say what to do instead", "no", key="n"))
    return Dialog(f"Allow {one_line(question.tool)}?", rows, hint="Esc: no, and stop")


def _plan_choices() -> Dialog:
    return Dialog(
        "Carry out this plan?",
        [
            Choice("Yes, and accept its edits", "edits", key="a"),
            Choice("Yes, and ask for each edit", "accept", key="y"),
            Choice("Edit the plan first", "edit", "in $EDITOR", "e"),
            Choice("No, and say what to change", "no", key="n"),
        ],
        hint="Esc: no, and stop",
    )
