"""What `checkrein run` prints for people, and how it asks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from checkrein.cli import paint
from checkrein.runtime.session.events import (
    AssistantBlock,
    Event,
    Finished,
    Notice,
    Retrying,
    Streamed,
    ToolFinished,
)

if TYPE_CHECKING:
    from checkrein.llm.port import Cancel
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
        click.echo(event.result.text, err=event.result.is_error)
    else:
        click.echo("\n".join(("Error: " + event.result.subtype, *event.result.errors)), err=True)


def warn(text: str) -> None:
    click.echo(f"checkrein: {text}", err=True)


class _TextScreen:
    """Prints text as it arrives, one line for each tool with its verdict, and the cost at the end."""

    def __init__(self) -> None:
        self._open_line = False

    def show(self, event: Event) -> None:
        from checkrein.llm.port import Text, TextDelta

        if event.agent_id is not None:
            return
        match event:
            case Streamed(event=TextDelta(text=text)):
                click.echo(text, nl=False)
                self._open_line = not text.endswith("\n")
            case AssistantBlock(block=Text()):
                self._end_line()
            case ToolFinished():
                self._end_line()
                click.echo(_tool_line(event))
            case Notice():
                self._end_line()
                click.echo(paint.dim(f"  {event.text}"), err=True)
            case Retrying():
                self._end_line()
                click.echo(
                    paint.dim(f"  {event.error} Trying again in {event.delay_ms / 1000:.1f} s."), err=True
                )
            case Finished():
                self._end_line()
                self._finish(event)

    def _end_line(self) -> None:
        if self._open_line:
            click.echo()
            self._open_line = False

    def _finish(self, event: Finished) -> None:
        result = event.result
        if result.is_error:
            reason = "; ".join(result.errors) or result.text
            click.echo(click.style(f"{result.terminal_reason}: {reason}", fg="red"), err=True)
        usage = result.usage
        tokens = f"{usage.prompt + usage.output:,} tokens"
        cached = (
            f", {usage.cache_read * 100 // usage.prompt}% cached" if usage.prompt and usage.cache_read else ""
        )
        money = f", ${result.cost_usd:.4f}" if result.cost_usd else ""
        refused = f", {len(result.denials)} refused" if result.denials else ""
        seconds = f"{result.duration_ms / 1000:.1f} s"
        requests = f"{result.requests} request{'s' * (result.requests != 1)}"
        click.echo(
            paint.dim(f"{requests}, {seconds}, {tokens}{cached}{money}{refused}  session {result.session_id}")
        )


def _tool_line(event: ToolFinished) -> str:
    mark, color = ("✗", "red") if event.refused or event.is_error else ("✓", "green")
    shown = paint.fit(" ".join(_primary(event.input).split()), paint.width() - len(event.name) - 16)
    line = f"{click.style(mark, fg=color)} {paint.bold(event.name)} {shown}"
    if event.refused:
        rule = f"{event.rule} at {paint.place(event.origin)}" if event.rule and event.origin else event.reason
        return f"{line}\n    {click.style('refused', fg='red')}: {rule}"
    return f"{line}  {paint.dim(f'{event.duration_ms} ms')}"


def _primary(values: dict[str, Any]) -> str:
    for key in ("command", "file_path", "notebook_path", "pattern", "url", "query", "skill", "description"):
        if isinstance(values.get(key), str):
            return str(values[key])
    return ", ".join(f"{key}={value}" for key, value in values.items() if isinstance(value, str | int))


class Terminal:
    """Asks the person at the terminal: whether a call may run once, and what the agent wants to know."""

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        from checkrein.runtime.session.control import Answer

        click.echo(f"\n{paint.bold(question.tool)} {_primary(question.input)}", err=True)
        click.echo(paint.dim(f"  {question.reason}"), err=True)
        try:
            yes = click.confirm("  Allow this once?", default=False, err=True)
        except click.Abort:
            return Answer(verdict="deny", message="The user interrupted.", interrupt=True)
        return Answer(verdict="allow") if yes else Answer(verdict="deny", message="The user said no.")

    def answer(self, questions: dict[str, Any], cancel: Cancel) -> dict[str, Any] | None:
        """Ask the agent's own questions, one after the other. None when the person declines."""
        answers: dict[str, str] = {}
        try:
            for question in questions.get("questions", []):
                options = [option["label"] for option in question["options"]]
                click.echo(f"\n{paint.bold(question['question'])}", err=True)
                for number, label in enumerate(options, 1):
                    click.echo(f"  {number}. {label}", err=True)
                given = click.prompt("  Number, or your own words", err=True)
                known = given.isdigit() and 0 < int(given) <= len(options)
                answers[question["question"]] = options[int(given) - 1] if known else given
        except click.Abort:
            return None
        return {"answers": answers}
