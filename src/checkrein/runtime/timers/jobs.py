"""The jobs of one session: prompts that become due, once or again and again.

They live in the session's transcript, so a session that is resumed has them again. Nothing runs while nobody
looks: an idle session asks what is due. A job that was due several times meanwhile is due once.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base import clock
from checkrein.base.errors import UsageError
from checkrein.base.harmless import one_line
from checkrein.base.ids import new_uuid
from checkrein.base.wellformed import scrubbed
from checkrein.facts.timers import EXPIRY_DAYS, LONGEST_PROMPT, MOST_JOBS, WAKEUP_SECONDS
from checkrein.runtime.session.events import Notice
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.timers.cron_text import parse_cron
from checkrein.runtime.timers.cron_times import next_run

_EXPIRY = EXPIRY_DAYS * 86_400.0
_JUMP = 60.0
"""Seconds that the clock may go back without a change of the jobs."""
_WORDS = 80


class Job(Struct, frozen=True, kw_only=True):
    """`due` and `made` are seconds since the epoch. Without `cron` it is a wake-up. `typed`: the user wrote
    the prompt, so it may name a command; else the model did."""

    id: str
    prompt: str
    due: float
    made: float
    cron: str | None = None
    recurring: bool = False
    typed: bool = False

    @property
    def words(self) -> str:
        """The prompt for a list: its beginning, on one line."""
        text = one_line(self.prompt)
        return text if len(text) <= _WORDS else f"{text[: _WORDS - 1]}…"

    @property
    def expires(self) -> float | None:
        return self.made + _EXPIRY if self.recurring else None

    @property
    def when(self) -> str:
        return local(self.due)


def local(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


class Jobs:
    """A source of wakes for an idle session. `save` keeps the jobs for a later resume. Any thread may use
    it."""

    awaited = False

    def __init__(
        self, save: Callable[[list[dict[str, Any]]], None], now: Callable[[], float] = clock.now
    ) -> None:
        self._save = save
        self._now = now
        self._seen = now()
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}
        self._loops: dict[str, None] = {}

    def restore(self, kept: Iterable[Any]) -> list[Job]:
        """Bring back the jobs of a resumed session. Returns those that were due once while nobody ran it:
        they do not run any more, and neither do expired ones."""
        late = []
        with self._lock:
            for value in kept:
                if len(self._jobs) >= MOST_JOBS:
                    break
                try:
                    job = self._again(msgspec.convert(value, Job))
                except (msgspec.ValidationError, UsageError):
                    continue
                if not job.recurring and job.due <= self._seen:
                    late.append(job)
                elif job.expires is None or job.due <= job.expires:
                    self._jobs[job.id] = job
            self._keep()
        return late

    def _again(self, job: Job) -> Job:
        if job.cron is None or not job.recurring:
            return job
        return replace(job, due=next_run(parse_cron(job.cron), self._seen))

    def create(self, cron: str, prompt: str, *, recurring: bool = True, typed: bool = False) -> Job:
        """Raises UsageError with the reason when there can't be such a job."""
        prompt = _checked(prompt)
        parsed, now = parse_cron(cron), self._now()
        made = Job(
            id=new_uuid()[:8],
            prompt=prompt,
            cron=parsed.text,
            recurring=recurring,
            typed=typed,
            due=next_run(parsed, now),
            made=now,
        )
        if made.expires is not None and made.due > made.expires:
            raise UsageError(
                f"A recurring job ends after {EXPIRY_DAYS} days, and `{parsed.text}` is first due on "
                f"{made.when}. Set recurring to false."
            )
        return self._add(made)

    def wake(self, seconds: float, prompt: str) -> Job:
        """Wake up once, after so many seconds, within the limits. Replaces an earlier wake-up."""
        prompt = _checked(prompt)
        least, most = WAKEUP_SECONDS
        now = self._now()
        due = now + min(max(seconds, least), most)
        job = Job(id=new_uuid()[:8], prompt=prompt, due=due, made=now, typed=prompt.strip() in self._loops)
        with self._lock:
            self._jobs = {id: one for id, one in self._jobs.items() if one.cron is not None}
            return self._add(job)

    def know_loop(self, text: str) -> None:
        """The user typed this: a wake-up with the same prompt is theirs."""
        with self._lock:
            self._loops.pop(text, None)
            self._loops[text] = None
            while len(self._loops) > MOST_JOBS:
                del self._loops[next(iter(self._loops))]

    def delete(self, id: str) -> Job | None:
        with self._lock:
            job = self._jobs.pop(id, None)
            if job is not None:
                self._keep()
            return job

    def listed(self) -> list[Job]:
        """The jobs that are left, the next one first."""
        with self._lock:
            self._look()
            return sorted(self._jobs.values(), key=lambda job: (job.due, job.id))

    def due(self) -> Sequence[Wake]:
        """The job that has been due for the longest time, if any."""
        with self._lock:
            now = self._look()
            found = min(
                (job for job in self._jobs.values() if job.due <= now), key=lambda job: job.due, default=None
            )
            return (self._fired(found, now),) if found is not None else ()

    def _fired(self, job: Job, now: float) -> Wake:
        following = self._following(job, now)
        if following is None:
            del self._jobs[job.id]
            self._try_to_keep()
        else:
            self._jobs[job.id] = following
        last = " It was the last time: the job has expired." if job.recurring and following is None else ""
        name = f"job {job.id}" if job.cron is not None else "wake-up"
        return Wake(
            text=job.prompt,
            source="timer",
            prompt=True,
            author="" if job.typed else f"the {name} that you made",
            event=Notice("info", f"The {name} is due: {job.words}{last}"),
        )

    def _following(self, job: Job, now: float) -> Job | None:
        if job.cron is None or not job.recurring:
            return None
        following = replace(job, due=next_run(parse_cron(job.cron), now))
        assert following.expires is not None
        return following if following.due <= following.expires else None

    def _look(self) -> float:
        """The time. Expired jobs go; when the clock went back, the jobs go with it."""
        now = self._now()
        if now < self._seen - _JUMP:
            for job in self._jobs.values():
                self._jobs[job.id] = self._moved(job, now)
            self._try_to_keep()
        self._seen = now
        gone = [job.id for job in self._jobs.values() if job.expires is not None and now > job.expires]
        for id in gone:
            del self._jobs[id]
        if gone:
            self._try_to_keep()
        return now

    def _moved(self, job: Job, now: float) -> Job:
        by = now - self._seen
        due = job.due + by if job.cron is None else next_run(parse_cron(job.cron), now)
        return replace(job, made=job.made + by, due=due)

    def _add(self, job: Job) -> Job:
        with self._lock:
            self._look()
            if len(self._jobs) >= MOST_JOBS:
                raise UsageError(f"A session has at most {MOST_JOBS} jobs. Delete one first.")
            self._jobs[job.id] = job
            self._keep()
            return job

    def _try_to_keep(self) -> None:
        """An idle session does not end because its disk is full; a resumed one sorts old jobs out."""
        with contextlib.suppress(OSError):
            self._keep()

    def _keep(self) -> None:
        self._save([msgspec.to_builtins(job) for job in self._jobs.values()])


def _checked(prompt: str) -> str:
    if not prompt.strip():
        raise UsageError("The prompt of a job must not be empty.")
    if len(prompt) > LONGEST_PROMPT:
        raise UsageError(f"The prompt of a job has at most {LONGEST_PROMPT} characters.")
    text: str = scrubbed(prompt)
    return text
