"""Steps as calls of the kitchen's tools in a session of the project: hooks, rules and the gate judge each."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import Counter as Uses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.base.ids import short_id
from checkrein.base.nearest import did_you_mean
from checkrein.facts.kitchen import kitchen_tools
from checkrein.llm.cancel import Cancel
from checkrein.llm.port import ToolUse
from checkrein.passes.visibility.tool_visibility import Kitchen as State
from checkrein.passes.visibility.tool_visibility import refusal
from checkrein.recipes.outcome import Outcome, failed, judged
from checkrein.recipes.port import Task
from checkrein.runtime.session.configured import configured
from checkrein.runtime.tools.port import AnyTool, ToolContext
from checkrein.serve.mcp.hands import Hands, PlainBash, StepTerms
from checkrein.serve.mcp.kitchen_tool import KitchenTool
from checkrein.serve.mcp.menu import BUILTIN, MENU
from checkrein.serve.mcp.shift import Shift

if TYPE_CHECKING:
    from checkrein.runtime.session.options import Options
    from checkrein.runtime.session.session import Session

KEY = "CHECKREIN_IDEMPOTENCY_KEY"
_SHOWN = 2_000
_IDLE = 8


class Counter:
    """The kitchen's tools for the steps that work in one directory. Any thread may use it."""

    def __init__(self, cwd: str, options: Options, env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self._bash = PlainBash()
        self._shift = Shift()
        self._terms: dict[str, StepTerms] = {}
        self.session = self._opened(options, dict(env))
        disabled = configured(
            self.session.conversation.view.project.place,
            self.session.conversation.services.env,
            "subsets.disabled",
        )
        self._state = State(disabled=frozenset(disabled)).opened()

    def _opened(self, options: Options, env: dict[str, str]) -> Session:
        from checkrein.model.view import View
        from checkrein.passes.load import load
        from checkrein.protocol.machine.setup import NoModel
        from checkrein.runtime.session.session import Session

        view = View(load(self.cwd, env=env, bundled=True))
        return Session(view, model=NoModel(), options=options, tools=self._tools(), env=env)

    def _tools(self) -> tuple[AnyTool, ...]:
        own = (
            KitchenTool(name, one.work, self._hands, reads=one.reads, asks=one.asks)
            for name, one in MENU.items()
        )
        return (self._bash, *own)

    def _hands(self, context: ToolContext) -> Hands:
        terms = self._terms.get(context.call_id)
        return Hands(self.session, self._bash, self._shift, context, terms)

    def do(self, task: Task, cancel: Cancel) -> Outcome:
        refused = self._why_not(task)
        if refused is not None:
            return failed("tool_refused", refused)
        id = short_id("call_")
        env = {} if task.effect == "pure" else {KEY: task.key}
        self._terms[id] = StepTerms(env=env, failures=task.failures, enabled=task.enabled, is_step=True)
        try:
            done = self.session.call(ToolUse(id, task.tool, self._arguments(task)), cancel)
        finally:
            del self._terms[id]
        finished = done.finished
        if finished.refused:
            return failed("refused", str(finished.content))
        answer = _answer(finished.structured, finished.content)
        found = judged(answer, is_error=finished.is_error)
        if found.state == "failure" and not found.problem:
            return replace(found, problem=_last_words(answer))
        return found

    def _why_not(self, task: Task) -> str | None:
        name = task.tool
        if name not in MENU and name not in BUILTIN:
            return f"There is no tool {name!r}.{did_you_mean(name, (*MENU, *BUILTIN))}"
        row = kitchen_tools().get(name)
        state = replace(self._state, disabled=self._state.disabled - frozenset(task.enabled))
        hidden = refusal(row, state) if row is not None else None
        return f"{name} does not run: {hidden.reason}." if hidden is not None else None

    def _arguments(self, task: Task) -> dict[str, Any]:
        """What the recipe gives, and what the tool takes besides: the directory, the step and its limits."""
        tool = self.session.conversation.host.tools.get(task.tool)
        known = tool.declaration.schema.get("properties", {}) if tool is not None else {}
        besides = {
            "cwd": task.cwd,
            "worktree_path": task.cwd,
            "step_name": task.step,
            "order_id": task.run_id,
            "model": task.model,
            "stale_threshold": task.stale_threshold,
            "idle_output_timeout": task.idle_output_timeout,
            "timeout": task.timeout,
        }
        more = {name: value for name, value in besides.items() if value is not None and name in known}
        return {**more, **task.arguments}

    def close(self) -> None:
        self.session.close()


class KitchenSteps:
    """A session for each directory that steps work in, opened by the first of them. Few stay open that no
    step uses: runs have many directories."""

    def __init__(self, options: Options, env: Mapping[str, str] | None = None) -> None:
        self._options = options
        self._env = dict(os.environ if env is None else env)
        self._counters: dict[str, Counter] = {}
        self._used: Uses[str] = Uses()
        self._lock = threading.Lock()

    def do(self, task: Task, cancel: Cancel) -> Outcome:
        with self.counter(task.cwd) as counter:
            return counter.do(task, cancel)

    @contextlib.contextmanager
    def counter(self, cwd: str) -> Iterator[Counter]:
        where = os.path.realpath(cwd)
        with self._lock:
            found = self._counters.pop(where, None) or Counter(where, self._options, self._env)
            self._counters[where] = found
            self._used[where] += 1
        try:
            yield found
        finally:
            with self._lock:
                self._used[where] -= 1
                idle = [one for one in self._counters if not self._used[one]]
                ended = [self._counters.pop(one) for one in idle[: max(0, len(idle) - _IDLE)]]
            for one in ended:
                one.close()

    def close(self) -> None:
        with self._lock:
            counters, self._counters = list(self._counters.values()), {}
        for one in counters:
            one.close()


def _answer(structured: Any, content: Any) -> dict[str, Any]:
    if isinstance(structured, dict):
        return structured
    text = content if isinstance(content, str) else json.dumps(content, default=str)
    return {"content": text}


def _last_words(answer: Mapping[str, Any]) -> str:
    for name in ("error", "stderr", "stdout", "content", "result"):
        said = answer.get(name)
        if isinstance(said, str) and said.strip():
            return said.strip()[-_SHOWN:]
    return f"exit status {answer['exit_code']}" if "exit_code" in answer else "it did not succeed"
