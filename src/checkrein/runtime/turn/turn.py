"""The stages of one turn, which the loop drives."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from checkrein.base.ids import new_uuid
from checkrein.facts import subagents
from checkrein.facts.models import DEFAULT_EFFORT
from checkrein.llm.port import Cancel, Reply, Text, ToolResult, ToolUse, user
from checkrein.llm.tool_ids import DistinctCalls
from checkrein.runtime.call.failure import failed
from checkrein.runtime.call.host import Done
from checkrein.runtime.context.reminders import memory_type, reminder
from checkrein.runtime.hooks import payloads, payloads_calls
from checkrein.runtime.hooks.limits import stop_block_cap
from checkrein.runtime.session.channel import Abandoned
from checkrein.runtime.session.configured import configured
from checkrein.runtime.session.events import (
    ContextAdded,
    Event,
    Notice,
    PermissionDenied,
    ReplyCompleted,
    RequestSent,
    ToolFinished,
    Transition,
)
from checkrein.runtime.session.graces import TOOLS_UNTIL
from checkrein.runtime.session.state import STRUCTURED_TRIES
from checkrein.runtime.turn import transitions as table
from checkrein.runtime.turn.compactor import compact, is_due
from checkrein.runtime.turn.directories import take_directories
from checkrein.runtime.turn.display import displayed
from checkrein.runtime.turn.intake import take_sent
from checkrein.runtime.turn.news import notice, take_notes
from checkrein.runtime.turn.prefix import announced
from checkrein.runtime.turn.request import Asked, ask

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation
    from checkrein.runtime.turn.repeats import Repeats

CONTINUE = "Your reply was cut off. Continue exactly where it stopped; do not repeat what you said."
READING = frozenset({"Read", "Edit", "Write", "NotebookEdit"})
STRUCTURE = "Give your answer by calling the StructuredOutput tool once, with input that fits its schema."


class SessionTurn:
    """Implements `loop.Turn` on a Conversation. Lives for one prompt."""

    def __init__(self, conversation: Conversation, cancel: Cancel) -> None:
        self.conversation = conversation
        self.state = conversation.state
        self.cancel = cancel
        self.requests_before = conversation.meter.requests
        self.deferred: ToolUse | None = None
        self.stop_reason: str | None = None
        self.first_request_at: float | None = None
        self.first_token_at: float | None = None
        self.repeats: Repeats | None = None
        self._chance = random.Random()  # noqa: S311  spreads retries, hides nothing

    def limit(self) -> Transition | None:
        if self.cancel.cancelled:
            return table.stopped(self.cancel)
        spent = self.conversation.meter.spent()
        return Transition("limit", spent) if spent else None

    def prepare(self, step: Transition) -> Generator[Event, None, Transition | None]:
        """Prepare the next pass for its reason. Returns a terminal transition when that is impossible."""
        state = self.state
        match step.name:
            case "start" if is_due(self.conversation):
                return (yield from compact(self.conversation, self.cancel, "auto"))
            case "output_limit":
                state.output_recoveries += 1
                state.continues = True
                yield self._say(CONTINUE, "output_limit")
            case "structured_output":
                state.structured_tries += 1
                self.conversation.meter.requests += 1
                yield self._say(STRUCTURE, "structured_output")
            case "pause":
                self.conversation.meter.requests += 1
            case "window_exceeded":
                state.max_tokens = int(step.detail)
            case "fallback":
                self.conversation.fall_back()
            case "prompt_too_long":
                return (yield from compact(self.conversation, self.cancel, "reactive"))
            case "compaction":
                return (yield from compact(self.conversation, self.cancel, "auto"))
        return None

    def ask(self) -> Generator[Event, None, Asked]:
        conversation, state = self.conversation, self.state
        yield from conversation.settle()
        conversation.hooks.update(effort=conversation.effort or DEFAULT_EFFORT)
        yield from take_sent(conversation, self.cancel)
        yield from take_directories(conversation, self.cancel)
        yield from take_notes(conversation)
        request = conversation.request()
        yield from announced(conversation, request)
        state.requests += 1
        state.sent = len(request.messages)
        yield RequestSent(state.requests, request.model)
        self.first_request_at = self.first_request_at or time.monotonic()
        conversation.services.prepare(conversation.host.tools.names())
        events = ask(
            DistinctCalls(conversation.models.model, state.called),
            request,
            self.cancel,
            conversation.retry,
            partial=conversation.options.partial,
            chance=self._chance,
        )
        asked = yield from displayed(conversation, events, self.cancel)
        self.first_token_at = self.first_token_at or asked.first_at
        if asked.reply is not None:
            yield self._heard(asked, asked.reply)
        if asked.error is not None:
            state.errors.append(asked.error.advice)
            limits = asked.error.limits
            if limits is not None:
                state.window = limits.window or state.window
                state.tokens = limits.prompt or state.tokens
            state.status_code = asked.error.status
            state.failure = asked.error.kind
        return asked

    def _heard(self, asked: Asked, reply: Reply) -> ReplyCompleted:
        cost = self.conversation.cost(reply)
        self.conversation.meter.add(reply.model or self.state.model, reply.usage, cost, asked.seconds)
        self.state.hear(reply)
        self.state.tokens = reply.usage.prompt + reply.usage.output or self.state.tokens
        self.stop_reason = reply.raw_stop_reason or reply.stop_reason
        if reply.content:
            self.state.append(reply.message)
        return ReplyCompleted(reply, int(asked.seconds * 1000), cost)

    def judge(self, asked: Asked) -> Transition:
        if self.cancel.cancelled and not (asked.reply is not None and asked.reply.tool_calls):
            return table.stopped(self.cancel)
        return table.judge(
            self.state,
            asked,
            fallbacks=self.conversation.models.fallbacks_left,
            structured=self.conversation.options.schema is not None,
        )

    def run_tools(self, reply: Reply) -> Generator[Event, None, Transition]:
        """Run the calls, answer all of them in order, and name what follows."""
        conversation = self.conversation
        calls = reply.tool_calls
        conversation.services.expect(call.name for call in calls)
        conversation.hooks.may_defer = len(calls) == 1 and conversation.control.asker is None
        finished: list[Done] = []
        try:
            yield from self._run_groups(calls, finished)
        except BaseException:
            self._leave(calls, finished)
            raise
        deferred = next((done.deferred for done in finished if done.deferred), None)
        if deferred is not None:
            self.deferred = self.state.deferred = deferred
            self.stop_reason = "tool_deferred"
            conversation.recorder.writer.state(deferred=deferred.id)
            return Transition("deferred", deferred.name)
        self.state.append(user(*(_result(done.finished) for done in finished)))
        for done in finished:
            for context in done.after:
                yield self._add(context)
        for done in finished:
            yield from self._brought_in(done)
        conversation.meter.requests += 1
        yield from notice(conversation, self.cancel)
        return (yield from self._after_batch(finished))

    def _run_groups(self, calls: Sequence[ToolUse], finished: list[Done]) -> Iterator[Event]:
        from checkrein.runtime.call.batch import partition

        host, env = self.conversation.host, self.conversation.env
        most = subagents.limit(env, subagents.ENV_PARALLEL, subagents.PARALLEL)
        groups = partition(calls, host.is_parallel, most) if len(calls) > 1 else [list(calls)]
        with self.cancel.outlasted(TOOLS_UNTIL) as leave:
            try:
                yield from self._group_events(groups, finished, leave)
            except Abandoned:
                yield from self._abandoned(calls, finished)

    def _abandoned(self, calls: Sequence[ToolUse], finished: list[Done]) -> Iterator[Event]:
        """Answer the calls that do not end after a cancel; the turn goes on without them."""
        from checkrein.runtime.store.fold import UNKNOWN_EFFECT

        for call in calls[len(finished) :]:
            done = Done(finished=failed(call, call.input, UNKNOWN_EFFECT, "model"))
            finished.append(done)
            yield done.finished

    def _group_events(
        self, groups: Iterable[list[ToolUse]], finished: list[Done], leave: Cancel
    ) -> Iterator[Event]:
        from checkrein.runtime.call.batch import run_group

        for group in groups:
            for item in run_group(group, self._run_call, leave):
                if not isinstance(item, tuple):
                    if isinstance(item, PermissionDenied) and item.by in ("start", "effect"):
                        self.state.denials.append(item.denial)
                    yield item
                    continue
                done = item[1]
                if done.denial is not None:
                    self.state.denials.append(done.denial.denial)
                    yield done.denial
                finished.append(done)
                if done.deferred is None:
                    yield done.finished

    def _leave(self, calls: Sequence[ToolUse], finished: Sequence[Done]) -> None:
        """Answer the calls of a turn that ends in the middle of them, so that another turn can follow."""
        from checkrein.runtime.store.fold import UNKNOWN_EFFECT

        ended = {done.finished.id: done.finished for done in finished if done.deferred is None}
        for call in calls:
            if call.id not in ended:
                ended[call.id] = failed(call, call.input, UNKNOWN_EFFECT, "model")
                self.conversation.recorder.take(ended[call.id])
        self.state.append(user(*(_result(ended[call.id]) for call in calls)))

    def _brought_in(self, done: Done) -> Generator[Event, None, None]:
        """Add the instructions and skills that come with a file that was read or changed."""
        path = done.finished.input.get("file_path") or done.finished.input.get("notebook_path")
        if done.finished.is_error or done.finished.name not in READING or not isinstance(path, str):
            return
        conversation = self.conversation
        full = os.path.join(conversation.host.cwd, os.path.expanduser(path))
        for loaded in conversation.backdrop.lazy.after_read(full):
            yield self._say(loaded.text, "instruction")
            payload = payloads.instructions_loaded(
                conversation.hooks.common,
                loaded.item.name,
                memory_type(loaded.item.origin.scope),
                loaded.reason,
                globs=list(loaded.item.paths) or None,
                trigger_file_path=loaded.trigger,
            )
            yield from conversation.hooks.fire(payload, self.cancel)
        for finding in conversation.backdrop.lazy.take_left_out():
            yield Notice("warning", f"{finding.origin}: {finding.message}")
        note = conversation.backdrop.lazy.new_skills(full)
        if note is not None:
            yield self._say(note, "skills")

    def _run_call(self, call: ToolUse, emit: Callable[[Event], None]) -> Done:
        return self.conversation.host.call(call, self.cancel, emit)

    def _after_batch(self, finished: list[Done]) -> Generator[Event, None, Transition]:
        from checkrein.runtime.tools.structured import NAME as STRUCTURED

        stops = [done.stop for done in finished if done.stop is not None]
        if self.cancel.cancelled:
            return table.stopped(self.cancel)
        if any(done.interrupt for done in finished):
            return Transition("interrupted", "by the user")
        if stops:
            return Transition("hook_stopped", stops[0])
        calls = [
            payloads_calls.batch_call(f.name, f.input, f.id, str(f.content))
            for f in (done.finished for done in finished)
        ]
        outcome = yield from self.conversation.hooks.fire(
            payloads_calls.post_tool_batch(self.conversation.hooks.common, calls), self.cancel
        )
        for context in outcome.additional_context:
            yield self._say(context.text, "hook:PostToolBatch")
        if outcome.blocked or not outcome.continue_:
            return Transition("hook_stopped", outcome.reason or outcome.stop_reason or "PostToolBatch")
        if self.state.structured_output is not None:
            return Transition("done", "structured output")
        if any(done.finished.name == STRUCTURED for done in finished):
            self.state.structured_tries += 1
            if self.state.structured_tries > STRUCTURED_TRIES:
                return Transition("failed", "structured_output")
        ending = yield from self._circling(finished)
        if ending is not None:
            return ending
        if is_due(self.conversation):
            return Transition("compaction", "the context window is nearly full")
        return Transition("tool_use", f"{len(finished)} result(s)")

    def _circling(self, finished: list[Done]) -> Generator[Event, None, Transition | None]:
        """Remind a model that makes the same calls again for nothing, and end the turn when it goes on."""
        from checkrein.runtime.turn.repeats import Repeats

        self.repeats = self.repeats or Repeats()
        repeated = self.repeats.take([done.finished for done in finished])
        if repeated is None:
            return None
        place, env = self.conversation.view.project.place, self.conversation.env
        if repeated.times == configured(place, env, "loops.remind"):
            yield self._say(repeated.reminder, "repeated_calls")
        ends = configured(place, env, "loops.end")
        return Transition("repeated", repeated.ending) if ends and repeated.times >= ends else None

    def try_to_stop(self, step: Transition) -> Generator[Event, None, Transition]:
        """Ask the Stop hooks. A block goes back to the model, up to a limit in a row."""
        state = self.state
        cap = stop_block_cap(self.conversation.env)
        if cap is not None and state.stop_blocks >= cap:
            return step
        outcome = yield from self.conversation.hooks.fire(self._stopping(), self.cancel)
        if self.cancel.cancelled:
            return table.stopped(self.cancel)
        if not outcome.keeps_going:
            if not (yield from notice(self.conversation, self.cancel)):
                return step
            state.stop_blocks += 1
            return Transition("stop_hook", "an async hook wants the model to go on")
        state.stop_blocks += 1
        text = outcome.reason if outcome.blocked else outcome.context_text
        yield self._say(f"Stop hook feedback:\n{text}", "hook:Stop")
        return Transition("stop_hook", text)

    def _stopping(self) -> dict[str, Any]:
        conversation, state = self.conversation, self.state
        jobs = conversation.desk.jobs
        crons = jobs.shown() if jobs is not None else None
        common, active = conversation.hooks.common, state.stop_blocks > 0
        said = state.last.text if state.last else ""
        if conversation.link is None:
            return payloads.stop(
                common, stop_hook_active=active, last_assistant_message=said, session_crons=crons
            )
        path = str(conversation.recorder.writer.path)
        return payloads.subagent_stop(common, path, said, stop_hook_active=active, session_crons=crons)

    def _say(self, text: str, source: str) -> ContextAdded:
        return self._add(ContextAdded(new_uuid(), text, source))

    def _add(self, context: ContextAdded) -> ContextAdded:
        """Put a text of Checkrein's own into the conversation."""
        text = context.text
        if context.source.startswith("hook"):
            text = self.conversation.services.kept.vault.masked(text)
        text = reminder(text)
        self.state.append(user(Text(text)))
        return ContextAdded(context.uuid, text, context.source, context.origin)


def _result(finished: ToolFinished) -> ToolResult:
    content = finished.content
    shown = content if isinstance(content, str | tuple) else str(content)
    return ToolResult(finished.id, shown, finished.is_error)
