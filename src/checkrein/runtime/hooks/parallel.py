"""Run the handlers of one firing in parallel. All of them end before the merge."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Generator, Sequence
from typing import Any

from msgspec import Struct

from checkrein.facts.claude_hooks import OUTPUT_CHARS
from checkrein.llm.cancel import Cancel
from checkrein.runtime.hooks.handlers import Doer, Handler, Occasion
from checkrein.runtime.hooks.output import Answer, Raw
from checkrein.runtime.session.events import Event, HookFinished

# The Spawner first asks a command to stop, then kills it. Other handlers run on, and nobody waits for them.
# After a cancel, the grace of the cancel counts, and a moment more.
_COMMAND_GRACE = 3.0
_CANCEL_GRACE = 0.2


class Task(Struct, frozen=True):
    """One handler about to run."""

    hook_id: str
    name: str
    handler: Handler
    seconds: float


class Done(Struct, frozen=True):
    task: Task
    raw: Raw
    answer: Answer
    duration_ms: int
    order: int


def run_all(
    doer: Doer, event: str, payload: dict[str, Any], tasks: Sequence[Task], cancel: Cancel
) -> Generator[Done | Event, None, list[Done]]:
    """Run every task in its own thread. Yields each as it ends, and the events of those that start a
    conversation or call a tool; returns them in the order of `tasks`.

    A task that exceeds its time limit, or does not end soon after `cancel`, is cancelled without output.
    """
    ends: queue.SimpleQueue[tuple[int, Raw | Event] | None] = queue.SimpleQueue()
    began = time.monotonic()
    cancels = [Cancel(grace=cancel.grace) for _ in tasks]
    for index, task in enumerate(tasks):

        def work(index: int = index, task: Task = task) -> None:
            occasion = Occasion(
                event,
                payload,
                task.seconds,
                cancels[index],
                task.hook_id,
                lambda event: ends.put((index, event)),
            )
            ends.put((index, doer.run(task.handler, occasion)))

        threading.Thread(target=work, name=f"hook {task.name}", daemon=True).start()
    done: dict[int, Done] = {}
    limits = [began + task.seconds + _grace(task) for task in tasks]

    def finished(index: int, raw: Raw) -> Done:
        spent = int((time.monotonic() - began) * 1000)
        answer = doer.read(tasks[index].handler, event, raw)
        done[index] = Done(tasks[index], raw, answer, spent, len(done))
        return done[index]

    def force() -> None:
        for one in cancels:
            one.force()

    with cancel.on_cancel(lambda: ends.put(None), force):
        while len(done) < len(tasks):
            open_limits = [limit for index, limit in enumerate(limits) if index not in done]
            try:
                ended = ends.get(timeout=max(0.0, min(open_limits) - time.monotonic()))
            except queue.Empty:
                now = time.monotonic()
                for index, limit in enumerate(limits):
                    if index not in done and now >= limit:
                        cancels[index].cancel()
                        yield finished(index, _late(tasks[index], cancel))
                continue
            if ended is None:
                soon = time.monotonic() + cancel.grace + _CANCEL_GRACE
                limits = [min(limit, soon) for limit in limits]
                for one in cancels:
                    one.cancel()
            elif not isinstance(ended[1], Raw):
                yield ended[1]
            elif ended[0] not in done:
                yield finished(ended[0], ended[1])
    return [done[index] for index in range(len(tasks))]


def _grace(task: Task) -> float:
    return _COMMAND_GRACE if task.handler.hook.type == "command" else 0.0


def _late(task: Task, cancel: Cancel) -> Raw:
    if cancel.cancelled:
        return Raw(cancelled=True, exit_code=None)
    return Raw(
        failure=f"no answer within {task.seconds:g} s",
        timed_out=True,
        exit_code=None,
        callback=task.handler.call is not None,
    )


def finished(event: str, done: Done) -> HookFinished:
    raw = done.raw
    stdout, stderr = raw.stdout[:OUTPUT_CHARS], (raw.stderr or raw.failure or "")[:OUTPUT_CHARS]
    return HookFinished(
        done.task.hook_id,
        done.task.name,
        event,
        stdout,
        stderr,
        raw.exit_code,
        done.answer.outcome,
        stdout + stderr,
    )
