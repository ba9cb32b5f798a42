"""Ends a task in the background because its user says so: an agent, or a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.base.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def stop_task(conversation: Conversation, task: str) -> None:
    """Stop the task of this id. Any thread may call it; an event tells the end. Raises when there is no such
    task, or none that runs."""
    delegate = conversation.desk.delegate
    if delegate is not None and delegate.halt(task):
        return
    shell = conversation.desk.shells.get(task)
    if shell is None:
        raise NotFoundError(f"There is no task {task!r}.", kind="task_not_found")
    if shell.status != "running":
        raise UsageError(f"The task {task!r} is not running: {shell.status}.", kind="task_not_running")
    shell.running.kill()
