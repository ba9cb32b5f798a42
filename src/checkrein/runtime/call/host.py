"""The one way to execute: a tool call, from its input to its result.

Validate; PreToolUse hooks, which may rewrite the input; validate again; the gate on the final input; then the
tool; then the hooks after it. Every path ends in one `ToolFinished`. The model's calls, the lines of
skills, hooks that call tools, machine commands and servers all come here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from checkrein.base.ids import new_uuid
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.llm.port import Cancel, ToolUse
from checkrein.policy.updates import Update
from checkrein.policy.values import HookVerdict
from checkrein.runtime.call.bench import Bench
from checkrein.runtime.call.failure import failed
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.outputs import kept, unexpected
from checkrein.runtime.call.permissions import Permissions
from checkrein.runtime.call.reactions import contexts, notices, rewritten, shown
from checkrein.runtime.call.refusal import Judgement, refusal
from checkrein.runtime.call.toolset import Toolbox, ToolSet, ToolView
from checkrein.runtime.context.compaction import RESULT_CHARS, spill_blocks
from checkrein.runtime.context.toolsearch import unwrapped
from checkrein.runtime.hooks import payloads_calls as payloads
from checkrein.runtime.hooks.outcome import HookOutcome
from checkrein.runtime.hooks.payloads import notification
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.secrets.cover import Cover
from checkrein.runtime.secrets.report import EDITORS, explained, findings
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.control import Answer, Question
from checkrein.runtime.session.events import (
    Caller,
    ContextAdded,
    Denial,
    Event,
    Notice,
    PermissionDenied,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.store.recorder import Recorder
from checkrein.runtime.tools.port import AnyTool, Aside, ToolFailure, ToolOutput

INTERRUPTED = "Interrupted by the user before it finished. What it did until then stays."
OUT_OF_TIME = "Stopped before it finished: the time of the session is over. What it did until then stays."
NOT_RUN = "Not run: the user interrupted the turn."
NOT_IN_TIME = "Not run: the time of the session is over."
Emit = Callable[[Event], object]
_ANSWERERS = frozenset({"hook", "asker"})
"""Callers that others wait for: no hook of theirs calls tools."""


class Done(Struct, frozen=True, kw_only=True):
    """The end of a call. `after` are texts for the model, which come after the results; `stop` ends the
    turn."""

    finished: ToolFinished
    denial: PermissionDenied | None = None
    after: tuple[ContextAdded, ...] = ()
    stop: str | None = None
    interrupt: bool = False
    deferred: ToolUse | None = None


class ToolHost:
    """The tools of one conversation behind its gate and hooks. Needs no model. Safe to use from several
    threads."""

    def __init__(
        self, gate: Gate, hooks: HookRunner, recorder: Recorder, bench: Bench, permissions: Permissions
    ) -> None:
        self.view = ToolView(ToolSet(), Toolbox)
        self.gate = gate
        self.permissions = permissions
        self.hooks = hooks
        self.recorder = recorder
        self.bench = bench
        self.knows_masks = False

    def offer(self, view: ToolView) -> None:
        """Set the tools."""
        self.view = view
        self.gate.know(view.now.registry)

    @property
    def tools(self) -> Toolbox:
        return self.view.now

    @property
    def cwd(self) -> str:
        return self.bench.cwd

    def call(self, use: ToolUse, cancel: Cancel, emit: Emit = ignored, *, caller: Caller = "model") -> Done:
        """Run one call to its end. Never raises: an error is the call's result too. The gate asks a person
        only about the model's own calls and those of a program."""
        use = unwrapped(use)
        try:
            return _Call(self, use, cancel, emit, caller).run()
        except (Exception, SystemExit) as error:  # code of a program may try to end the process
            text = self.bench.vault.masked(unexpected(error))
            return Done(finished=failed(use, use.input, text, caller))

    def call_aside(self, use: ToolUse, aside: Aside, caller: Caller) -> Done:
        """Run a call that is not part of the conversation. Its events name the caller, and the transcript
        keeps a mark of it."""

        def emit(event: Event) -> None:
            aside.emit(replace(event, parent_call=event.parent_call or aside.call_id))

        done = self.call(use, aside.cancel, emit, caller=caller)
        if done.denial is not None:
            emit(done.denial)
        emit(done.finished)
        return done

    def judged(self, use: ToolUse, aside: Aside) -> Done:
        """A call up to where it would run: hooks, rules, people. For a tool that does the work of another."""
        done = _Call(self, use, aside.cancel, aside.emit, "model", runs=False).run()
        if done.denial is not None:
            aside.emit(done.denial)
        return done

    def is_parallel(self, use: ToolUse) -> bool:
        """Whether a call may run in parallel with its neighbours: it only reads, or starts an agent."""
        use = unwrapped(use)
        tool = self.tools.get(use.name)
        if tool is None or use.broken is not None:
            return False
        return (
            tool.read_only
            or tool.name == AGENT_TOOL
            or (tool.name == "Bash" and self.gate.only_reads(tool.name, use.input, self.cwd))
        )

    def close(self) -> None:
        """End the background hooks and release the transcript. Processes of tools end with the session's
        services."""
        try:
            self.hooks.close()
        finally:
            self.recorder.writer.close()


class _Call:
    """One call on its way."""

    def __init__(
        self, host: ToolHost, use: ToolUse, cancel: Cancel, emit: Emit, caller: Caller, *, runs: bool = True
    ) -> None:
        self.host = host
        self.runs = runs
        self.hooks = host.hooks
        self.use = use
        self.cancel = cancel
        self.emit = emit
        self.caller = caller

    def run(self) -> Done:
        from checkrein.runtime.tools.validate import coerce, misfit

        use = self.use
        tool = self.host.tools.get(use.name)
        if tool is None or use.broken is not None:
            return Done(finished=self._failed(use.input, self._problem(tool)))
        input, problem = coerce(tool.declaration, use.input)
        if problem is not None:
            return Done(finished=self._failed(use.input, problem))
        before = self._fire(payloads.pre_tool_use(self.hooks.common, tool.name, self._shown(input), use.id))
        if before.updated_input is not None:
            input, problem = coerce(tool.declaration, before.updated_input)
            if problem is not None:
                return Done(finished=self._failed(input, f"A hook rewrote the input, and {problem}"))
        after = contexts(before)
        if before.verdict == "defer" and self.hooks.may_defer and self.caller == "model":
            return Done(finished=self._failed(input, "Deferred."), deferred=use)
        judgement = self._judge(tool, input, before)
        if judgement.by == "classifier" and self.cancel.cancelled:
            return Done(finished=self._failed(input, self._not_run()), after=after)
        if not judgement.allowed:
            return self._refused(tool.name, judgement, after)
        problem = None if judgement.input is input else misfit(tool.declaration, judgement.input)
        if problem is not None:
            text = f"The answer to a question rewrote the input, and {problem}"
            return Done(finished=self._failed(judgement.input, text), after=after)
        if not before.continue_:
            reason = before.stop_reason or before.reason or "a hook ended the turn"
            return Done(finished=self._failed(input, f"Not run: {reason}"), after=after, stop=reason)
        if self.cancel.cancelled:
            return Done(finished=self._failed(input, self._not_run()))
        if not self.runs:
            done = ToolFinished(id=use.id, name=tool.name, input=judgement.input, uuid=new_uuid(), content="")
            return Done(finished=done, after=after)
        return self._execute(tool, judgement, after)

    def _fire(self, payload: dict[str, Any], *, past: bool = False) -> HookOutcome:
        fire = self.hooks.fire_past if past else self.hooks.fire
        outcome = drained(fire(payload, self.cancel, asking=self.caller not in _ANSWERERS), self.emit)
        for notice in notices(outcome):
            self.emit(notice)
        return outcome

    def _problem(self, tool: AnyTool | None) -> str:
        if tool is None:
            from checkrein.base.nearest import did_you_mean

            return (
                f"There is no tool {self.use.name!r}.{did_you_mean(self.use.name, self.host.tools.names())}"
            )
        return f"The input of {self.use.name} was not a JSON object: {(self.use.broken or '')[:200]}"

    def _judge(self, tool: AnyTool, input: dict[str, Any], before: HookOutcome) -> Judgement:
        verdicts: tuple[HookVerdict, ...] = ()
        if before.verdict is not None:
            verdicts = (HookVerdict(before.verdict, before.reason, before.origin),)
        if self.caller == "asker":
            from checkrein.runtime.call.prompt_tool import CONSENT

            verdicts = (*verdicts, CONSENT)
        question = Question(tool=tool.name, input=input, call_id=self.use.id, reason="")
        told = replace(question, claims=tool.declaration.claims, agent_id=self.hooks.common.agent_id)
        consent = self if self.caller in ("model", "program") else None
        return self.host.gate.judge(told, self.host.cwd, verdicts, consent, self.cancel)

    def permit(self, updates: Sequence[Update], by: Literal["asker", "hook"]) -> None:
        for event in self.host.permissions.take(updates, by):
            self.emit(event)

    def by_hooks(self, question: Question) -> Answer | None:
        name = question.tool
        payload = payloads.permission_request(
            self.hooks.common,
            name,
            self._shown(question.input),
            list(msgspec.to_builtins(question.suggestions)) or None,
        )
        permission = drained(self.hooks.fire(payload, self.cancel), self.emit).permission
        if permission is None:
            text = f"A permission is needed to use {name}"
            self.hooks.fire_aside(notification(self.hooks.common, text, "permission_prompt"))
            return None
        return Answer(
            verdict=permission.behavior,
            message=permission.message or "",
            updated_input=permission.updated_input,
            updated_permissions=tuple(self._updates(permission.updated_permissions)),
            interrupt=permission.interrupt,
        )

    def _updates(self, given: Sequence[dict[str, Any]]) -> Iterator[Update]:
        """The permission updates of a hook. Skips unknown ones."""
        for one in given:
            try:
                yield msgspec.convert(one, Update)
            except msgspec.ValidationError as error:
                self.emit(Notice("warning", f"A hook sent an unknown permission update: {error}"))

    def _shown(self, input: dict[str, Any]) -> dict[str, Any]:
        return shown(input, self.host.cwd)

    def _refused(self, name: str, judgement: Judgement, after: tuple[ContextAdded, ...]) -> Done:
        notes = self.host.gate.untrusted_notes(judgement, name, self.host.cwd)
        masked = self.host.bench.vault.masked
        text = masked(" ".join((refusal(judgement, self.host.bench.place.cwd), *notes)))
        judgement = replace(judgement, reason=masked(judgement.reason))
        decision = judgement.decision
        if judgement.by == "classifier":
            payload = payloads.permission_denied(
                self.hooks.common, name, self._shown(judgement.input), self.use.id, judgement.reason
            )
            if drained(self.hooks.fire_past(payload, self.cancel), self.emit).retry:
                text += " A hook says that you may try it again."
        denial = Denial(name, self.use.id, judgement.input, judgement.reason, decision.rule, decision.origin)
        finished = ToolFinished(
            id=self.use.id,
            name=name,
            input=judgement.input,
            uuid=new_uuid(),
            content=text,
            caller=self.caller,
            is_error=True,
            verdict=decision.verdict,
            reason=judgement.reason,
            refused=True,
            by=judgement.by,
            rule=decision.rule,
            origin=decision.origin,
        )
        return Done(
            finished=finished,
            denial=PermissionDenied(denial, judgement.by),
            after=after,
            interrupt=judgement.interrupt,
        )

    def _execute(self, tool: AnyTool, judgement: Judgement, after: tuple[ContextAdded, ...]) -> Done:
        use, input, spilled = self.use, judgement.input, self.host.recorder.spilled
        cover = self.host.bench.cover(tool.name)
        self.host.recorder.tool_started(use.id, tool.name)
        self.emit(ToolStarted(use.id, tool.name, input, self.caller))
        began = time.monotonic()
        output = self._covered(tool, judgement, cover)
        if not output.is_error and not tool.read_only:
            self.host.bench.commands.accept(judgement)
        took = int((time.monotonic() - began) * 1000)
        failure = str(output.content) if output.is_error else None
        if self.cancel.cancelled and output.is_error:
            why = OUT_OF_TIME if self.cancel.why == "deadline" else INTERRUPTED
            output = ToolOutput(content=f"{output.content}\n{why}".strip(), is_error=True)
        later = self._after(tool.name, input, output, failure, took)
        content, structured = rewritten(output, later)
        if later.updated_output is not UNSET:
            content, structured = cover.text(content), cover.value(structured)
        content = spill_blocks(content, lambda text: spilled(use.id, text), output.limit or RESULT_CHARS)
        finished = ToolFinished(
            id=use.id,
            name=tool.name,
            input=input,
            uuid=new_uuid(),
            content=content,
            caller=self.caller,
            is_error=output.is_error,
            structured=structured,
            duration_ms=took,
            verdict="allow",
            by=judgement.by,
            reason=judgement.reason,
            rule=judgement.decision.rule,
            origin=judgement.decision.origin,
        )
        stop = None if later.continue_ else later.stop_reason or later.reason or "a hook ended the turn"
        said = tuple(replace(one, text=cover.text(one.text)) for one in (*after, *contexts(later)))
        return Done(finished=finished, after=said, stop=stop)

    def _covered(self, tool: AnyTool, judgement: Judgement, cover: Cover) -> ToolOutput:
        """The output with masks in place of secrets. The call itself gets the real ones, if it edits the file
        that has them."""
        input, problem = judgement.input, None
        if tool.name in EDITORS:
            input, problem = cover.revealed(input, judgement.paths)
        if problem is None:
            output = self._work(tool, judgement, input, cover)
        else:
            output = ToolOutput(content=problem, is_error=True)
        path = judgement.paths[0] if tool.name in EDITORS and judgement.paths else None
        output = cover.output(output, path)
        for found in findings(cover, tool.name, self.host.cwd):
            self.emit(found)
        first = cover.hidden > 0 and self.caller == "model" and not self.host.knows_masks
        self.host.knows_masks = self.host.knows_masks or first
        unfilled = tool.name not in EDITORS and cover.has_masks(input)
        return explained(output, masks=first, unfilled=unfilled)

    def _work(self, tool: AnyTool, judgement: Judgement, input: dict[str, Any], cover: Cover) -> ToolOutput:
        host = self.host
        try:
            context = host.bench.context(
                self.use.id, judgement, host.gate, self.hooks, self.cancel, self.emit, cover
            )
            return kept(host.bench.around(tool, context, lambda: tool.run(input, context)))
        except ToolFailure as error:
            return ToolOutput(content=error.message, structured=error.structured, is_error=True)
        except (Exception, SystemExit) as error:  # a bug of the tool: hooks see it like any failure
            return ToolOutput(content=unexpected(error), is_error=True)

    def _after(
        self, name: str, input: dict[str, Any], output: ToolOutput, failure: str | None, took: int
    ) -> HookOutcome:
        common, use, cancelled = self.hooks.common, self.use, self.cancel.cancelled
        input = self._shown(input)
        if failure is None:
            payload = payloads.post_tool_use(common, name, input, use.id, output.structured, took)
        else:
            payload = payloads.post_tool_use_failure(
                common, name, input, use.id, failure, is_interrupt=cancelled, duration_ms=took
            )
        return self._fire(payload, past=cancelled)

    def _not_run(self) -> str:
        return NOT_IN_TIME if self.cancel.why == "deadline" else NOT_RUN

    def _failed(self, input: dict[str, Any], text: str) -> ToolFinished:
        return failed(self.use, input, text, self.caller)
