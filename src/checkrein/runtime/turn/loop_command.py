"""`/loop [interval] <prompt>`: the prompt runs now, and again."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from checkrein.base import clock
from checkrein.base.errors import UsageError
from checkrein.facts.timers import EXPIRY_DAYS, WAKEUP_SECONDS
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.timers.intervals import pace_of, read_loop
from checkrein.runtime.timers.jobs import Jobs
from checkrein.runtime.timers.late_jobs import ABSENT
from checkrein.runtime.turn.prompt_outcome import Prompted

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

_USAGE = "Usage: /loop [interval] <prompt>, such as `/loop 5m check the build`. Units: s, m, h, d."
_ITSELF = """\
The user runs the prompt below in a loop, and you choose the pace. Do what it asks for now. When it makes
sense to look again later, call ScheduleWakeup before you end: `prompt` is exactly `{again}`,
`delaySeconds` is between {least} and {most}. When the work is done or can not succeed, schedule nothing and
say why: that ends the loop."""


def begin_loop(conversation: Conversation, text: str) -> Generator[Event, None, Prompted]:
    """Without an interval the model wakes itself."""
    loop = read_loop(text)
    open_jobs = conversation.desk.jobs
    if not loop.prompt:
        return Prompted(answer=_USAGE)
    if loop.prompt.split()[0] == "/loop":
        return Prompted(refused="/loop: a loop can not start another one.")
    if open_jobs is None:
        return Prompted(refused=f"/loop: {ABSENT}")
    try:
        if loop.seconds is None:
            return _itself(open_jobs(), text.strip())
        return (yield from _at_intervals(open_jobs(), loop.prompt, loop.seconds))
    except UsageError as error:
        return Prompted(refused=f"/loop: {error.message}")


def _itself(jobs: Jobs, text: str) -> Prompted:
    again = f"/loop {text}"
    jobs.know_loop(again)
    least, most = WAKEUP_SECONDS
    return Prompted(instead=text, before=(_ITSELF.format(again=again, least=least, most=most),))


def _at_intervals(jobs: Jobs, prompt: str, seconds: int) -> Generator[Event, None, Prompted]:
    pace = pace_of(seconds, clock.now())
    if pace is None:
        return Prompted(refused="/loop: the longest interval is one day.")
    job = jobs.create(pace.cron, prompt, typed=True)
    rounded = "" if pace.exact else " (the nearest interval that a cron expression can say)"
    said = f"The job {job.id} runs this prompt every {pace.words}{rounded}, for {EXPIRY_DAYS} days."
    yield Notice("info", f"{said} Next: {job.when}.")
    return Prompted(instead=prompt, before=(f"{said} CronDelete ends it.",))
