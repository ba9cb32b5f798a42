"""The timed work of a session, opened when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checkrein.runtime.timers.jobs import Job, Jobs

OFF_ENV = "CLAUDE_CODE_DISABLE_CRON"
ABSENT = f"Timed work is only in the main conversation of a session, and {OFF_ENV} turns it off."


class LateJobs:
    """The first call opens the jobs: `save` keeps them, `join` lets the idle session look at them. With jobs
    `kept` from before, they open at once; `missed` are those that do not run any more."""

    def __init__(
        self,
        save: Callable[[list[dict[str, Any]]], None],
        join: Callable[[Jobs], None],
        kept: Sequence[Any] = (),
    ) -> None:
        self._save = save
        self._join = join
        self._jobs: Jobs | None = None
        self.missed: list[Job] = self().restore(kept) if kept else []

    def __call__(self) -> Jobs:
        if self._jobs is None:
            from checkrein.runtime.timers.jobs import Jobs

            self._jobs = Jobs(self._save)
            self._join(self._jobs)
        return self._jobs

    def shown(self) -> list[dict[str, Any]]:
        """The jobs for hooks."""
        return [
            {"id": job.id, "schedule": job.cron or job.when, "recurring": job.recurring, "prompt": job.prompt}
            for job in (self._jobs.listed() if self._jobs is not None else ())
        ]
