"""One tool call from the model's words to its result.

Validate; PreToolUse hooks, which may rewrite the input; validate again; the gate on the final input;
then the tool; then the hooks after it. Every way through ends in one `ToolFinished`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct

from checkrein.base.ids import new_uuid
from checkrein.base.origin import Origin
from checkrein.llm.port import Cancel, ToolUse
from checkrein.policy.values import HookVerdict
from checkrein.runtime.call.gate import Gate, Judgement, refusal
from checkrein.runtime.context.compaction import RESULT_CHARS, spill_blocks
from checkrein.runtime.context.toolsearch import unwrapped
from checkrein.runtime.hooks import payloads_calls as payloads
from checkrein.runtime.hooks.outcome import HookOutcome, same_shape
from checkrein.runtime.hooks.payloads import notification
from checkrein.runtime.session.control import Answer, Question
from checkrein.runtime.session.events import (
    ContextAdded,
    Denial,
    Event,
    Notice,
    PermissionDenied,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.tools.port import Tool, ToolContext, ToolDeclaration, ToolFailure, ToolOutput

if TYPE_CHECKING:
    from checkrein.runtime.call.toolset import Toolbox
    from checkrein.runtime.hooks.moment import Firing
    from checkrein.runtime.store.recorder import Recorder

INTERRUPTED = "Interrupted by the user before it finished. What it did until then stays."


MakeContext = Callable[[str, Cancel, Callable[[Event], None], tuple[str, ...], tuple[str, ...]], ToolContext]
"""(call id, cancel, emit, approved paths, approved hosts): what one call may use."""


class Done(Struct, frozen=True, kw_only=True):
    """The end of a call. `after` are texts for the model that follow the results; `stop` ends the turn."""

    finished: ToolFinished
    denial: PermissionDenied | None = None
    after: tuple[ContextAdded, ...] = ()
    stop: str | None = None
    interrupt: bool = False
    deferred: ToolUse | None = None


class Caller:
    """Runs calls for one session. `make_context` gives what a tool may use; `coerce` makes an input fit the
    declaration and names what is wrong with it."""

    def __init__(
        self,
        toolbox: Toolbox,
        gate: Gate,
        firing: Firing,
        recorder: Recorder,
        make_context: MakeContext,
        coerce: Callable[[ToolDeclaration, dict[str, Any]], tuple[dict[str, Any], str | None]],
        place: Callable[[Origin], str],
        cwd: Callable[[], str],
    ) -> None:
        self.toolbox = toolbox
        self.gate = gate
        self.firing = firing
        self.recorder = recorder
        self.make_context = make_context
        self.coerce = coerce
        self.place = place
        self.cwd = cwd

    def run(self, call: ToolUse, emit: Callable[[Event], None], cancel: Cancel) -> Done:
        """Never raises: whatever happens is the call's result."""
        call = unwrapped(call)
        try:
            return self._run(call, emit, cancel)
        except Exception as error:
            text = f"The tool failed unexpectedly: {type(error).__name__}: {error}"
            return Done(finished=_error(call, call.input, text))

    def _run(self, call: ToolUse, emit: Callable[[Event], None], cancel: Cancel) -> Done:
        tool = self.toolbox.get(call.name)
        if tool is None or call.broken is not None:
            return Done(finished=_error(call, call.input, self._problem(call, tool)))
        name = tool.name
        input, problem = self.coerce(tool.declaration, call.input)
        if problem is not None:
            return Done(finished=_error(call, call.input, problem))
        before = self.firing.fire(
            payloads.pre_tool_use(self.firing.common, name, self._shown(input), call.id), emit, cancel
        )
        _tell(before, emit)
        if before.updated_input is not None:
            input, problem = self.coerce(tool.declaration, before.updated_input)
            if problem is not None:
                return Done(finished=_error(call, input, f"A hook rewrote the input, and {problem}"))
        after = self._contexts(before)
        if before.decision == "defer" and self.firing.may_defer:
            return Done(finished=_error(call, input, "Deferred."), deferred=call)
        judgement = self._judge(call, name, input, before, emit, cancel)
        if not judgement.allowed:
            return self._refused(call, name, judgement, after, emit)
        if not before.continue_:
            reason = before.stop_reason or before.reason or "a hook ended the turn"
            return Done(finished=_error(call, input, f"Not run: {reason}"), after=after, stop=reason)
        if cancel.cancelled:
            return Done(finished=_error(call, input, "Not run: the user interrupted the turn."))
        return self._execute(call, tool, judgement, emit, cancel, after)

    def _problem(self, call: ToolUse, tool: Tool | None) -> str:
        if tool is None:
            from checkrein.base.nearest import did_you_mean

            return f"There is no tool {call.name!r}.{did_you_mean(call.name, self.toolbox.names())}"
        return f"The input of {call.name} was not a JSON object: {(call.broken or '')[:200]}"

    def _judge(
        self,
        call: ToolUse,
        name: str,
        input: dict[str, Any],
        before: HookOutcome,
        emit: Callable[[Event], None],
        cancel: Cancel,
    ) -> Judgement:
        verdicts: tuple[HookVerdict, ...] = ()
        if before.decision is not None:
            verdicts = (HookVerdict(before.decision, before.reason, before.origin),)

        def request_hooks(asked: dict[str, Any]) -> Answer | None:
            payload = payloads.permission_request(self.firing.common, name, self._shown(asked))
            permission = self.firing.fire(payload, emit, cancel).permission
            if permission is None:
                self._notify(f"A permission is needed to use {name}")
                return None
            return Answer(
                behavior=permission.behavior,
                message=permission.message or "",
                updated_input=permission.updated_input,
                interrupt=permission.interrupt,
            )

        question = Question(tool=name, input=input, call_id=call.id, reason="")
        return self.gate.judge(question, self.cwd(), verdicts, request_hooks, cancel)

    def _notify(self, message: str) -> None:
        """Tell the Notification hooks that a person is asked; the question does not wait for them."""
        if not self.firing.runner.has("Notification"):
            return
        payload = notification(self.firing.common, message, "permission_prompt")
        later = self.firing.later.append
        threading.Thread(target=self.firing.fire, args=(payload, later, Cancel()), daemon=True).start()

    def _shown(self, input: dict[str, Any]) -> dict[str, Any]:
        """The input as hooks see it: paths of files are absolute."""
        paths = {
            key: os.path.join(self.cwd(), os.path.expanduser(input[key]))
            for key in ("file_path", "notebook_path")
            if isinstance(input.get(key), str)
        }
        return {**input, **paths} if paths else input

    def _refused(
        self,
        call: ToolUse,
        name: str,
        judgement: Judgement,
        after: tuple[ContextAdded, ...],
        emit: Callable[[Event], None],
    ) -> Done:
        text = refusal(judgement, self.place)
        decision = judgement.decision
        if judgement.by == "classifier":
            payload = payloads.permission_denied(
                self.firing.common, name, self._shown(judgement.input), call.id, judgement.reason
            )
            if self.firing.fire(payload, emit, Cancel()).retry:
                text += " A hook says that you may try it again."
        denial = Denial(name, call.id, judgement.input, judgement.reason, decision.rule, decision.origin)
        finished = ToolFinished(
            id=call.id,
            name=name,
            input=judgement.input,
            uuid=new_uuid(),
            content=text,
            is_error=True,
            verdict=decision.verdict,
            reason=judgement.reason,
            refused=True,
            rule=decision.rule,
            origin=decision.origin,
        )
        return Done(
            finished=finished,
            denial=PermissionDenied(denial, judgement.by),
            after=after,
            interrupt=judgement.interrupt,
        )

    def _execute(
        self,
        call: ToolUse,
        tool: Tool,
        judgement: Judgement,
        emit: Callable[[Event], None],
        cancel: Cancel,
        after: tuple[ContextAdded, ...],
    ) -> Done:
        name, input = tool.name, judgement.input
        self.recorder.tool_started(call.id, name)
        emit(ToolStarted(call.id, name, input))
        began = time.monotonic()
        failure: str | None = None
        try:
            context = self.make_context(call.id, cancel, emit, judgement.paths, judgement.hosts)
            output = tool.run(input, context)
        except ToolFailure as error:
            output = ToolOutput(content=error.message, structured=error.structured, is_error=True)
        if output.is_error:
            failure = str(output.content)
        if cancel.cancelled and output.is_error:
            output = ToolOutput(content=f"{output.content}\n{INTERRUPTED}".strip(), is_error=True)
        took = int((time.monotonic() - began) * 1000)
        later = self._after(call, name, input, output, failure, took, emit, cancel)
        content, structured = _rewritten(output, later)
        limit: int = getattr(tool, "result_chars", RESULT_CHARS)
        content = spill_blocks(content, lambda text: self.recorder.spilled(call.id, text), limit)
        finished = ToolFinished(
            id=call.id,
            name=name,
            input=input,
            uuid=new_uuid(),
            content=content,
            is_error=output.is_error,
            structured=structured,
            duration_ms=took,
            verdict="allow",
            reason=judgement.reason,
            rule=judgement.decision.rule,
            origin=judgement.decision.origin,
        )
        stop = None if later.continue_ else later.stop_reason or later.reason or "a hook ended the turn"
        return Done(finished=finished, after=(*after, *self._contexts(later)), stop=stop)

    def _after(
        self,
        call: ToolUse,
        name: str,
        input: dict[str, Any],
        output: ToolOutput,
        failure: str | None,
        took: int,
        emit: Callable[[Event], None],
        cancel: Cancel,
    ) -> HookOutcome:
        common = self.firing.common
        input = self._shown(input)
        if failure is None:
            payload = payloads.post_tool_use(common, name, input, call.id, output.structured, took)
        else:
            interrupted = cancel.cancelled
            payload = payloads.post_tool_use_failure(
                common, name, input, call.id, failure, is_interrupt=interrupted, duration_ms=took
            )
        outcome = self.firing.fire(payload, emit, Cancel() if cancel.cancelled else cancel)
        _tell(outcome, emit)
        return outcome

    def _contexts(self, outcome: HookOutcome) -> tuple[ContextAdded, ...]:
        texts = [(one.text, one.origin) for one in outcome.additional_context]
        if outcome.event.startswith("PostToolUse") and outcome.blocked and outcome.reason:
            texts.insert(0, (outcome.reason, outcome.origin or Origin("<hook>", "cli")))
        return tuple(
            ContextAdded(new_uuid(), f"{outcome.event} hook: {text}", f"hook:{outcome.event}", origin)
            for text, origin in texts
        )


def _tell(outcome: HookOutcome, emit: Callable[[Event], None]) -> None:
    """What hooks have to say to the person."""
    for text in outcome.errors:
        emit(Notice("warning", text))
    for text in outcome.system_messages:
        emit(Notice("info", text))


def _rewritten(output: ToolOutput, outcome: HookOutcome) -> tuple[Any, Any]:
    """A hook may replace the output by one of the same shape; anything else is passed over."""
    new = outcome.updated_output
    if new is UNSET or not same_shape(output.structured, new):
        return output.content, output.structured
    return (new if isinstance(new, str) else msgspec.json.encode(new, enc_hook=str).decode()), new


def _error(call: ToolUse, input: dict[str, Any], text: str) -> ToolFinished:
    return ToolFinished(
        id=call.id,
        name=call.name,
        input=input,
        uuid=new_uuid(),
        content=text,
        is_error=True,
        verdict="error",
        reason=text,
    )
