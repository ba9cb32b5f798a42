"""What `checkrein run` prints for people, and how it asks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from checkrein.base.harmless import indented, one_line
from checkrein.cli import out
from checkrein.runtime.session.events import (
    AssistantBlock,
    Event,
    Finished,
    Notice,
    Result,
    Retrying,
    Streamed,
    ToolFinished,
)

_LONGEST_CHARACTER = 32
_FAILURE_LINES = 3
_LONGEST_FAILURE = 300

if TYPE_CHECKING:
    from checkrein.cli.permanent_rule import PermanentRule
    from checkrein.llm.port import Cancel
    from checkrein.model.project import Place
    from checkrein.policy.updates import Update
    from checkrein.runtime.session.control import Answer, Question


Show = Callable[[Event], None]


def screen(headless: bool) -> Show:
    return with_notes(_show_answer) if headless else _TextScreen().show


def with_notes(show: Show) -> Show:
    """Shows also what a person must know of a run that prints only its end."""
    from checkrein.cli import run_notes

    def shown(event: Event) -> None:
        run_notes.show(event)
        show(event)

    return shown


def _show_answer(event: Event) -> None:
    """Prints only the end: the text of the answer, or what went wrong."""
    if not isinstance(event, Finished):
        return
    if event.result.subtype == "success":
        if event.result.is_error:
            _give_words(event.result)
            out.say(event.result.problem, err=True)
        else:
            out.give(event.result.text)
    else:
        _give_words(event.result)
        out.say("\n".join(("Error: " + event.result.subtype, *event.result.errors)), err=True)


def _give_words(result: Result) -> None:
    """What the model said before the run failed."""
    if result.text:
        out.give(result.text)


def warn(text: str) -> None:
    out.say(f"checkrein: {text}", err=True)


class _TextScreen:
    """Prints text as it arrives, one line for each tool with its verdict, and the cost at the end."""

    def __init__(self) -> None:
        self._open_line = False
        self._held = ""

    def show(self, event: Event) -> None:
        from checkrein.cli import paint
        from checkrein.llm.port import Text, TextDelta

        if event.agent_id is not None:
            return
        match event:
            case Streamed(event=TextDelta(text=text)):
                self._stream(text)
            case AssistantBlock(block=Text()):
                self._end_line()
            case ToolFinished():
                self._end_line()
                out.say(_tool_line(event))
            case Notice():
                self._end_line()
                out.say(paint.dim(f"  {indented(event.text)}"), err=True)
            case Retrying():
                self._end_line()
                out.say(
                    paint.dim(f"  {event.error} Trying again in {event.delay_ms / 1000:.1f} s."), err=True
                )
            case Finished():
                self._end_line()
                self._finish(event)

    def _stream(self, text: str) -> None:
        """Print what has come. The characters of an emoji may come one by one, so its end may wait."""
        text = self._held + text
        ready = _ready(text)
        self._held = text[ready:]
        if ready:
            out.say(text[:ready], nl=False)
        self._open_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._held:
            out.say(self._held, nl=False)
            self._held = ""
        if self._open_line:
            out.say()
            self._open_line = False

    def _finish(self, event: Finished) -> None:
        from checkrein.cli import paint

        result = event.result
        if result.is_error:
            out.say(out.style(f"{result.terminal_reason}: {result.problem}", fg="red"), err=True)
        usage = result.usage
        tokens = f"{usage.prompt + usage.output:,} tokens"
        cached = (
            f", {usage.cache_read * 100 // usage.prompt}% cached" if usage.prompt and usage.cache_read else ""
        )
        money = f", ${result.cost_usd:.4f}" if result.cost_usd else ""
        refused = f", {len(result.denials)} refused" if result.denials else ""
        seconds = f"{result.duration_ms / 1000:.1f} s"
        requests = f"{result.requests} request{'s' * (result.requests != 1)}"
        out.say(
            paint.dim(f"{requests}, {seconds}, {tokens}{cached}{money}{refused}  session {result.session_id}")
        )


def _ready(text: str) -> int:
    """How much of a text can be printed before the rest is known."""
    end = len(text)
    while (
        end
        and len(text) - end < _LONGEST_CHARACTER
        and (text[end - 1] == "\r" or not text[end - 1].isascii())
    ):
        end -= 1
    return end if len(text) - end < _LONGEST_CHARACTER else len(text)


def _tool_line(event: ToolFinished) -> str:
    from checkrein.cli import paint
    from checkrein.cli.approval import primary

    mark, color = ("✗", "red") if event.refused or event.is_error else ("✓", "green")
    shown = paint.fit(" ".join(primary(event.input).split()), paint.width() - len(event.name) - 16)
    line = f"{out.style(mark, fg=color)} {paint.bold(one_line(event.name))} {shown}"
    if event.refused:
        rule = f"{event.rule} at {paint.place(event.origin)}" if event.rule and event.origin else event.reason
        return f"{line}\n    {out.style('refused', fg='red')}: {rule}"
    line = f"{line}  {paint.dim(f'{event.duration_ms} ms')}"
    return f"{line}{_why_failed(event)}" if event.is_error else line


def _why_failed(event: ToolFinished) -> str:
    """The last lines of what a failed tool said: that is where programs say why."""
    from checkrein.cli import paint
    from checkrein.llm.port import text_of

    said = event.content if isinstance(event.content, str) else text_of(event.content)
    lines = [one for one in said.strip().splitlines() if one.strip()]
    shown = [indented(one[:_LONGEST_FAILURE]) for one in lines[-_FAILURE_LINES:]]
    left = len(lines) - len(shown)
    more = [f"… {left} more line{'s' * (left != 1)} before"] if left else []
    return "".join(f"\n    {paint.dim(one)}" for one in (*more, *shown))


class Terminal:
    """Asks the person at the terminal: whether a call may run, once or always, and what the agent wants to
    know. `place` says where rules go that hold for good."""

    def __init__(self, place: Place | None = None) -> None:
        self._place = place

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        from checkrein.cli import approval
        from checkrein.cli.permanent_rule import offered
        from checkrein.cli.typed import line
        from checkrein.runtime.session.control import Answer

        out.say(f"\n{approval.whole(question)}", err=True)
        standing = offered(question) if self._place is not None else None
        while True:
            always = ", a: always" if standing is not None else ""
            said = line(f"  Allow this once? [y/N{always}, or what to do instead]: ", cancel)
            if said is None:
                return Answer(verdict="deny", message="The user interrupted.", interrupt=True)
            if said.lower() in ("y", "yes"):
                return Answer(verdict="allow")
            if said.lower() in ("", "n", "no"):
                return Answer(verdict="deny", message="The user said no.")
            if said.lower() not in ("a", "always") or standing is None:
                return Answer(verdict="deny", message=f"The user said no: {said}")
            update = self._standing(standing, cancel)
            if update is not None:
                return Answer(verdict="allow", updated_permissions=(update,))

    def _standing(self, standing: PermanentRule, cancel: Cancel) -> Update | None:
        """The rule as the person wants it; None when they do not."""
        from checkrein.cli.typed import line

        assert self._place is not None
        out.say(f"  {standing.text} goes to {standing.file(self._place)}", err=True)
        said = line("  Enter writes it; or write another rule, or `no`: ", cancel)
        if said is None or said.lower() in ("n", "no"):
            return None
        text = said or standing.text
        problem = standing.problem(text)
        if problem is not None:
            out.say(f"  {problem}", err=True)
            return None
        return standing.update(text)

    def answer(self, questions: dict[str, Any], cancel: Cancel) -> dict[str, Any] | None:
        """Ask the agent's own questions, one after the other. None when the person declines."""
        from checkrein.cli import paint
        from checkrein.cli.typed import line

        answers: dict[str, str] = {}
        for question in questions.get("questions", []):
            options = [option["label"] for option in question["options"]]
            out.say(f"\n{paint.bold(indented(question['question']))}", err=True)
            for number, label in enumerate(options, 1):
                out.say(f"  {number}. {indented(label)}", err=True)
            given: str | None = ""
            while given == "":
                given = line("  Number, or your own words: ", cancel)
            if given is None:
                return None
            known = given.isdigit() and 0 < int(given) <= len(options)
            answers[question["question"]] = options[int(given) - 1] if known else given
        return {"answers": answers}
