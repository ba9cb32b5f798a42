"""CronCreate, CronDelete, CronList and ScheduleWakeup: prompts for later."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import CheckreinError
from checkrein.base.harmless import one_line
from checkrein.facts.timers import WAKEUP_SECONDS
from checkrein.runtime.timers.jobs import Job, Jobs, local
from checkrein.runtime.timers.late_jobs import ABSENT
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput


def create(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    recurring = input.get("recurring") is not False
    try:
        job = _jobs(context).create(input["cron"], input["prompt"], recurring=recurring)
    except CheckreinError as error:
        raise ToolFailure(error.message) from error
    ends = f" It ends on {local(job.expires)}." if job.expires is not None else ""
    said = f"The job {job.id} is due on {job.when} (local time), when the session is idle.{ends}"
    structured = {"id": job.id, "humanSchedule": _schedule(job), "recurring": recurring, "durable": False}
    return ToolOutput(content=said, structured=structured)


def delete(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    name: str = input["id"]
    jobs = _jobs(context)
    job = jobs.delete(name)
    if job is None:
        known = ", ".join(one.id for one in jobs.listed()) or "none"
        raise ToolFailure(f"There is no job {one_line(name[:40])}. Known jobs: {known}.")
    return ToolOutput(content=f"The job {job.id} is deleted: {job.words}", structured={"id": job.id})


def listing(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    found = _jobs(context).listed()
    lines = [f"{job.id}: {_schedule(job)}: {job.words}" for job in found]
    shown = [
        {
            "id": job.id,
            "cron": job.cron or "",
            "humanSchedule": _schedule(job),
            "prompt": job.prompt,
            "recurring": job.recurring,
            "durable": False,
        }
        for job in found
    ]
    return ToolOutput(content="\n".join(lines) or "There are no jobs.", structured={"jobs": shown})


def wake(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    asked: int = input["delaySeconds"]
    try:
        job = _jobs(context).wake(asked, input["prompt"])
    except CheckreinError as error:
        raise ToolFailure(error.message) from error
    seconds = min(max(asked, WAKEUP_SECONDS[0]), WAKEUP_SECONDS[1])
    structured = {
        "scheduledFor": int(job.due * 1000),
        "clampedDelaySeconds": seconds,
        "wasClamped": seconds != asked,
    }
    said = f"You wake up in {seconds} seconds, at {job.when} (local time), when the session is idle."
    return ToolOutput(content=f"{said} CronDelete {job.id} cancels it.", structured=structured)


def _jobs(context: ToolContext) -> Jobs:
    if context.state.jobs is None:
        raise ToolFailure(ABSENT)
    return context.state.jobs()


def _schedule(job: Job) -> str:
    if job.cron is None:
        return f"wake-up at {job.when}"
    return f"`{job.cron}`, {'next' if job.recurring else 'once'} at {job.when}"
