"""Texts of this machine and this day in requests, and the words that stand for them in a recording."""

from __future__ import annotations

import time
from collections.abc import Mapping

from checkrein.base import clock
from checkrein.base.home import checkrein_home
from checkrein.model.project import Project
from checkrein.runtime.memory.place import memory_dir

Words = tuple[tuple[str, str], ...]


def machine_words(project: Project, env: Mapping[str, str]) -> Words:
    """So a recording is the same request on another machine, in another directory, on another day."""
    today = time.strftime("%Y-%m-%d", time.gmtime(clock.now()))
    memory = memory_dir(project, dict(env))
    return (
        (project.place.cwd, "‹project›"),
        *(((memory, "‹memory›"),) if memory else ()),
        (str(checkrein_home(env)), "‹checkrein›"),
        (project.place.home, "‹home›"),
        (f"Date: {today}", "Date: ‹date›"),
    )
