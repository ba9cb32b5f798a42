"""The queues that runs wait in. A run without a git workspace stays on the machine of its directory."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from checkrein.recipes.database import RunRow
from checkrein.recipes.engine import Engine, QueueTerms

DEFAULT = "default"
PRIORITY = 100
"""Of a run that nobody gave another one. A smaller number is urgent."""
_BRANCHES = "branches"
_URGENT = "!"
_POLLING, _RARELY = 0.1, 0.5


def run_queue(name: str, machine: str | None, priority: int = PRIORITY) -> str:
    """`machine` is that of a run that can't leave it. Urgent runs have a line of their own: in one line they
    would be first, but still wait for a place that a long run has."""
    line = f"{name}{_URGENT}" if priority < PRIORITY else name
    return line if machine is None else f"{line}@{machine}"


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
    names: list[str] = []
    for place in (None,) if machine is None else (None, machine):
        for name, one in {DEFAULT: QueueTerms(), **terms}.items():
            for priority, limits in ((PRIORITY, one), (1, _urgent(one))):
                names.append(run_queue(name, place, priority))
                engine.queue(names[-1], limits, _POLLING)
        names.append(run_queue(_BRANCHES, place))
        engine.queue(names[-1], QueueTerms(per_worker=None), _RARELY)
    return names


def _urgent(terms: QueueTerms) -> QueueTerms:
    """A quarter of the places, besides the others."""
    return replace(
        terms,
        concurrency=None if terms.concurrency is None else max(1, terms.concurrency // 4),
        per_worker=None if terms.per_worker is None else max(1, terms.per_worker // 4),
    )


def open_own_queue(engine: Engine, worker: str) -> list[str]:
    engine.queue(own_queue(worker), QueueTerms(per_worker=None), _POLLING / 2)
    return [own_queue(worker)]
