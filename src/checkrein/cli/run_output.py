"""What `checkrein run` prints: text for people, frames for programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

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
    from checkrein.base.errors import CheckreinError
    from checkrein.llm.port import Cancel
    from checkrein.runtime.session.control import Answer, Asker, Question


class Screen(Protocol):
    def show(self, event: Event) -> None: ...


def make(values: dict[str, Any], headless: bool) -> Screen:
    if values["output_format"] == "stream-json":
        return FrameScreen(values)
    if values["output_format"] == "json":
        return ResultScreen(as_json=True)
    return ResultScreen(as_json=False) if headless else TextScreen()


class FrameScreen:
    """One JSON object per line, flushed as it happens."""

    def __init__(self, values: dict[str, Any]) -> None:
        from checkrein.protocol.stream_json import FrameOptions, Frames

        self._frames = Frames(
            FrameOptions(
                partial=values["partial"],
                hook_events=values["hook_events"],
                replay_user=values["replay_user"],
            )
        )

    def show(self, event: Event) -> None:
        import msgspec

        for frame in self._frames.of(event):
            _write(msgspec.json.encode(frame, enc_hook=str))


class ResultScreen:
    """Only the end: the text, or the result object."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def show(self, event: Event) -> None:
        if not isinstance(event, Finished):
            return
        if self._as_json:
            import msgspec

            from checkrein.protocol.stream_json import result_frame

            frame = result_frame(event.result, event.uuid)
            _write(msgspec.json.encode(frame, enc_hook=str))
        elif event.result.subtype == "success":
            click.echo(event.result.text, err=event.result.is_error)
        else:
            click.echo("\n".join(("Error: " + event.result.subtype, *event.result.errors)), err=True)


def refuse(values: dict[str, Any], error: CheckreinError) -> None:
    """A run that could not begin, for programs: the result says why; people read it on standard error."""
    from checkrein.base.ids import new_uuid
    from checkrein.runtime.session.events import Result

    text = f"{error.message} {error.hint}" if error.hint else error.message
    result = Result(
        subtype="error_during_execution",
        is_error=True,
        session_id=values["session_id"] or new_uuid(),
        terminal_reason="turn_setup_failed",
        errors=(text,),
    )
    ResultScreen(as_json=True).show(Finished(result, new_uuid()))
    warn(text)


def warn(text: str) -> None:
    click.echo(f"checkrein: {text}", err=True)


def _write(line: bytes) -> None:
    """A line for programs, at once. A run whose standard output is closed goes on without it."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


class TextScreen:
    """Text as it is streamed, one line for each tool with its verdict, the cost at the end."""

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
                click.echo(tool_line(event))
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


def tool_line(event: ToolFinished) -> str:
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


def terminal_asker() -> Asker:
    return TerminalAsker()


class TerminalAsker:
    """Asks on the terminal: once, or no."""

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        from checkrein.runtime.session.control import Answer

        click.echo(f"\n{paint.bold(question.tool)} {_primary(question.input)}", err=True)
        click.echo(paint.dim(f"  {question.reason}"), err=True)
        try:
            yes = click.confirm("  Allow this once?", default=False, err=True)
        except click.Abort:
            return Answer(behavior="deny", message="The user interrupted.", interrupt=True)
        return Answer(behavior="allow") if yes else Answer(behavior="deny", message="The user said no.")

    def answer(self, questions: dict[str, Any]) -> dict[str, Any] | None:
        """Put the agent's own questions, one after the other; None when the person will not answer."""
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
