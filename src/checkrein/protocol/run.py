"""A session on standard input and output: frames for programs, or one prompt that the caller shows."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.ids import new_uuid
from checkrein.model.view import View
from checkrein.protocol.last_words import LastWords
from checkrein.protocol.signals import Signals, interrupting
from checkrein.protocol.waits import Waits
from checkrein.runtime.session.control import Answerer, Asker, Prompt
from checkrein.runtime.session.events import Event, Finished, RequestSent, Result
from checkrein.runtime.session.idle import and_what_follows, idle_of
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.session.wakes import Wake

if TYPE_CHECKING:
    from checkrein.protocol.debug_log import DebugLog
    from checkrein.protocol.heartbeats import Heartbeats
    from checkrein.protocol.stream_json import FrameOptions

    Watch = Waits | Heartbeats | DebugLog

Show = Callable[[Event], None]
_CUT = frozenset({"aborted_streaming", "aborted_tools"})


class Job(Struct, frozen=True, kw_only=True):
    """What to run: a project, a model, options, and who answers questions. `last` knows whether the result
    is shown. `tell` gets a line about each wait, `debug` everything that happens."""

    project: View
    options: Options
    model: str | None = None
    asker: Asker | None = None
    answerer: Answerer | None = None
    last: LastWords
    tell: Callable[[str], None] | None = None
    debug: DebugLog | None = None


def run_stream(job: Job, frames: FrameOptions, prompt: Prompt) -> int:
    """Run one prompt and write every event as a frame on standard output. Returns the exit status."""
    from checkrein.protocol.heartbeats import Heartbeats
    from checkrein.protocol.stream_json import Frames
    from checkrein.protocol.wire import LineWriter

    out = LineWriter()
    made = Frames(frames)

    def show(event: Event) -> None:
        for frame in made.of(event):
            out.write(frame)

    beats = Heartbeats(lambda call, seconds: out.write(made.progress(call, seconds)))
    return run_prompt(job, prompt, show, beats, each=True)


def run_prompt(job: Job, prompt: Prompt, show: Show, *watches: Watch, each: bool = False) -> int:
    """Run one prompt, and what its tasks in the background bring; `show` gets the events, of the results only
    the last, unless it wants `each`. Returns the exit status: that of a signal only when the result says that
    the run was cut."""
    job.last.holds = not each
    if job.tell is not None:
        watches = (Waits(job.tell), *watches)
    with interrupting() as signals, open_session(job, signals, show, watches) as session:
        _play_all(session, signals, and_what_follows(prompt, idle_of(session, job.last.show)), job.last)
        done = session.result is not None and session.result.terminal_reason not in _CUT
        job.last.status = status = (None if done else signals.status) or failed(session)
    return status


def show_result(event: Event) -> None:
    """Write the end of a run as one result object on standard output."""
    from checkrein.protocol.result_frame import result_frame
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


@contextmanager
def open_session(job: Job, signals: Signals, show: Show, watches: Sequence[Watch]) -> Iterator[Session]:
    """A session whose end is sure. What fails while it closes does not change a result that is shown."""
    session = Session(
        job.project, model=job.model, options=job.options, asker=job.asker, answerer=job.answerer
    )
    session.consumers.append(_collect_garbage)
    if job.debug is not None:
        job.debug.attach(session)
        watches = (*watches, job.debug)
    for watch in watches:
        session.consumers.append(watch.take)
        if isinstance(watch, Waits):
            watch.before_model = lambda: session.conversation.services.choose.waiting
    job.last.attach(session, show)
    signals.attach(job.last)
    try:
        yield session
    finally:
        for watch in watches:
            watch.close()
        try:
            session.close()
        except OSError as error:
            if not job.last.told:
                raise
            if job.tell is not None:
                job.tell(f"The session did not close well: {error}")
        finally:
            job.last.close()


def _collect_garbage(event: Event) -> None:
    """From the first request on. What was imported for it stays, so the collector never looks at it."""
    if isinstance(event, RequestSent) and not gc.isenabled():
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        gc.enable()


def _play_all(session: Session, signals: Signals, prompts: Iterator[Prompt | Wake], last: LastWords) -> None:
    """Show the events of every prompt. A run that a signal ends before its first prompt has a result too."""
    for prompt in signals.awaited(prompts):
        for event in session.run(prompt):
            last.show(event)
    last.release()
    if signals.leaving and session.result is None:
        last.show(session.refuse("Interrupted before the first prompt.", cut=True))


def failed(session: Session) -> int:
    return 1 if session.result is not None and session.result.is_error else 0
