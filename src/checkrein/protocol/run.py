"""A session on standard input and output: frames for programs, or one prompt that the caller shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.base.ids import new_uuid
from checkrein.model.view import View
from checkrein.protocol.signals import Signals, interrupting
from checkrein.runtime.session.control import Answerer, Asker, Prompt
from checkrein.runtime.session.events import Event, Finished, Result
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session

if TYPE_CHECKING:
    from checkrein.protocol.stream_json import FrameOptions
    from checkrein.protocol.wire import LineWriter

Show = Callable[[Event], None]


class Job(Struct, frozen=True, kw_only=True):
    """What to run: a project, a model, options, and who answers questions."""

    project: View
    options: Options
    model: str | None = None
    asker: Asker | None = None
    answerer: Answerer | None = None


def run_stream(job: Job, frames: FrameOptions, prompt: Prompt | None = None) -> int:
    """Write every event as a frame on standard output. Without a `prompt`, prompts and control requests come
    as frames on standard input, until it ends. Returns the exit status."""
    from checkrein.protocol.stream_json import Frames
    from checkrein.protocol.wire import LineWriter

    out = LineWriter()
    made = Frames(frames)

    def show(event: Event) -> None:
        for frame in made.of(event):
            out.write(frame)

    if prompt is not None:
        return run_prompt(job, prompt, show)
    with interrupting() as signals:
        with _session(job, signals) as session:
            _listen(session, signals, out, show)
        return _status(session, signals)


def run_prompt(job: Job, prompt: Prompt, show: Show) -> int:
    """Run one prompt; `show` gets its events. Returns the exit status."""
    with interrupting() as signals:
        with _session(job, signals) as session:
            _play_all(session, signals, iter([prompt]), show)
        return _status(session, signals)


def show_result(event: Event) -> None:
    """Write the end of a run as one result object on standard output."""
    from checkrein.protocol.stream_json import result_frame
    from checkrein.protocol.wire import LineWriter

    if isinstance(event, Finished):
        LineWriter().write(result_frame(event.result, event.uuid))


def refuse(reason: str, session_id: str | None) -> None:
    """Write the result object of a run that could not begin."""
    result = Result(
        subtype="error_during_execution",
        is_error=True,
        session_id=session_id or new_uuid(),
        terminal_reason="turn_setup_failed",
        errors=(reason,),
    )
    show_result(Finished(result, new_uuid()))


def _session(job: Job, signals: Signals) -> Session:
    session = Session(
        job.project, model=job.model, options=job.options, asker=job.asker, answerer=job.answerer
    )
    signals.attach(session.control)
    return session


def _listen(session: Session, signals: Signals, out: LineWriter, show: Show) -> None:
    from checkrein.protocol.inbox import Inbox
    from checkrein.protocol.wire import LineReader

    inbox = Inbox(session.control, out)
    reader = LineReader(inbox.take)

    def seen(event: Event) -> None:
        inbox.show(event)
        show(event)

    reader.start()
    try:
        _play_all(session, signals, inbox.prompts(), seen)
    except UsageError as error:
        show(session.refuse(error.message))
        raise
    finally:
        reader.close()


def _play_all(session: Session, signals: Signals, prompts: Iterator[Any], show: Show) -> None:
    for prompt in signals.awaited(prompts):
        _play(session, prompt, show)


def _play(session: Session, prompt: Prompt, show: Show) -> None:
    """Show the events of one prompt; the result is among them even after Ctrl-C."""
    stream = session.run(prompt)
    ended = False
    try:
        for event in stream:
            show(event)
            ended = isinstance(event, Finished)
    except KeyboardInterrupt:
        stream.close()
        if session.result is not None and not ended:
            show(Finished(session.result, new_uuid()))


def _status(session: Session, signals: Signals) -> int:
    failed = session.result is not None and session.result.is_error
    return signals.status or (1 if failed else 0)
