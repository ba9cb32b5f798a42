"""Checkrein's own runtime as a backend: a session in this process, under the project's rules, with nobody to
ask, and never in the mode that skips them. It has no channel B: its events say when it ends."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from checkrein.llm.cancel import Cancel
from checkrein.llm.port import Text
from checkrein.policy.project import mode_of
from checkrein.runtime.session.events import (
    AssistantBlock,
    Event,
    Finished,
    Result,
    Streamed,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.worker.backend import Assignment, Heart
from checkrein.runtime.worker.session_report import Report, SessionSubtype, Tokens, Written, has_marker
from checkrein.runtime.worker.submission import SubmitResult

if TYPE_CHECKING:
    from checkrein.runtime.session.session import Session

TEXTS = 200
"""How many of the model's texts are kept, and how many of its writes times ten."""
_PATH_FIELDS = ("file_path", "notebook_path")
_TOO_LONG = ("prompt_too_long", "context_exhausted")


class OwnBackend:
    name = "checkrein"

    def work(self, assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        from checkrein.runtime.session.options import Options
        from checkrein.runtime.session.session import Session

        heard = _Heard(beat)
        mode = assignment.rights.mode or mode_of(assignment.view.project).mode
        options = Options(
            mode="default" if mode == "bypassPermissions" else assignment.rights.mode,
            trust=assignment.rights.trust,
            append_system_prompt=assignment.directives,
            kind="recipe",
            resume=assignment.resume,
            title=f"worker: {assignment.skill}",
        )
        with Session(
            assignment.view,
            model=assignment.model,
            options=options,
            tools=(SubmitResult(assignment.schema, heard.submitted),),
            env=dict(assignment.env),
        ) as session:
            heard.follow(session, assignment.prompt, cancel)
        return heard.report(session.result, assignment.marker)


class _Heard:
    """What a session says while it runs."""

    def __init__(self, beat: Heart) -> None:
        self._beat = beat
        self._lock = threading.Lock()
        self._texts: deque[str] = deque(maxlen=TEXTS)
        self._writes: deque[Written] = deque(maxlen=10 * TEXTS)
        self._submission: dict[str, Any] | None = None

    def submitted(self, result: dict[str, Any]) -> None:
        with self._lock:
            self._submission = result
        self._beat("submitted")

    def follow(self, session: Session, prompt: str, cancel: Cancel) -> None:
        with cancel.on_cancel(session.control.stop, lambda: session.control.stop(now=True)):
            for event in session.run(prompt):
                self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case Streamed():
                self._beat("output")
            case ToolStarted():
                self._beat("tool_started")
            case ToolFinished():
                self._beat("tool_finished")
                if not event.is_error:
                    self._wrote(event)
            case AssistantBlock(block=Text(text=text), agent_id=None):
                self._texts.append(text)
                self._beat("step")
            case Finished():
                self._beat("submitted")
            case _:
                self._beat("step")

    def _wrote(self, event: ToolFinished) -> None:
        path = next((event.input[key] for key in _PATH_FIELDS if key in event.input), None)
        if event.name == "Bash":
            self._writes.append(Written("Bash", str(event.input.get("command", ""))))
        elif isinstance(path, str) and event.name != "Read":
            self._writes.append(Written(event.name, path))

    def report(self, result: Result | None, marker: str) -> Report:
        if result is None:
            return Report(subtype="empty_output", is_error=True, exit_code=1, problem="there is no result")
        submission = self._submission
        done = submission is not None or has_marker(result.text, marker)
        usage = result.usage
        return Report(
            subtype="success" if done else _subtype(result),
            is_error=result.is_error and not done,
            text=result.text,
            submission=submission,
            texts=tuple(self._texts),
            writes=tuple(self._writes),
            session_id=result.session_id,
            exit_code=0 if done or not result.is_error else 1,
            channel="channel_a" if done else "unmonitored",
            tokens=Tokens(
                input=usage.input,
                output=usage.output,
                cache_creation=usage.cache_creation,
                cache_read=usage.cache_read,
                cost_usd=result.cost_usd,
            ),
            problem=result.problem if result.is_error else "",
        )


def _subtype(result: Result) -> SessionSubtype:
    if not result.is_error:
        return "success"
    if result.subtype == "error_max_turns":
        return "error_max_turns"
    if result.terminal_reason in _TOO_LONG:
        return "context_exhaustion"
    return "interrupted" if result.terminal_reason.startswith("aborted") else "error_during_execution"
