"""The queues that runs wait in. A run without a git workspace stays on the machine of its directory."""

from __future__ import annotations

from collections.abc import Mapping

from checkrein.recipes.database import RunRow
from checkrein.recipes.engine import Engine, QueueTerms

DEFAULT = "default"
_BRANCHES = "branches"
_POLLING = 0.1


def run_queue(name: str, machine: str | None) -> str:
    """`machine` is that of a run that can't leave it."""
    return name if machine is None else f"{name}@{machine}"


def queue_for(run: RunRow, body: str) -> str:
    """Where a body of a run waits for a worker. The queue of branches has no limit: their parents wait for
    them."""
    if body == run.id:
        return run.queue
    _, at, machine = run.queue.partition("@")
    return f"{_BRANCHES}{at}{machine}"


def own_queue(worker: str) -> str:
    """The queue of a worker that serves one command."""
    return f"own-{worker}"


def open_queues(engine: Engine, terms: Mapping[str, QueueTerms], machine: str | None) -> list[str]:
    """Declare the configured queues, those of this machine too if there are several."""
    every = {DEFAULT: QueueTerms(), **terms, _BRANCHES: QueueTerms(per_worker=None)}
    names = dict(every)
    if machine is not None:
        names |= {run_queue(name, machine): one for name, one in every.items()}
    for name, one in names.items():
        engine.queue(name, one, _POLLING)
    return list(names)


def open_own_queue(engine: Engine, worker: str) -> list[str]:
    engine.queue(own_queue(worker), QueueTerms(per_worker=None), _POLLING / 2)
    return [own_queue(worker)]
