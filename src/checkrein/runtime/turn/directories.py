"""Working directories that a person or a program adds to a running session."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Literal

from checkrein.llm.port import Cancel
from checkrein.policy.updates import AddDirectories
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import Event, Notice

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

Source = Literal["slash_command", "register_repo_root"]


def add_directory(
    conversation: Conversation, path: str, source: Source, cancel: Cancel
) -> Generator[Event, None, str]:
    """Make a directory a working directory until the session ends, tell the model and the hooks. Returns the
    answer for the person. A sandbox keeps the borders of its start."""
    if not path.strip() or "\0" in path:
        return "A directory needs a path; nothing was added."
    home = conversation.view.project.place.home
    expanded = home + path[1:] if path == "~" or path.startswith("~/") else path
    full = os.path.realpath(os.path.join(conversation.host.cwd, expanded))
    if not os.path.isdir(full):
        return f"{path} is not a directory; nothing was added."
    if not conversation.desk.add_root(full):
        return f"{full} is already part of the working directories."
    update = AddDirectories(directories=(full,), destination="session")
    yield from conversation.host.permissions.take((update,), "asker")
    yield from conversation.note(f"The user added the working directory {full}.", "directory")
    if conversation.services.servers is not None:
        conversation.services.servers.servers.roots_changed()
    payload = payloads.directory_added(conversation.hooks.common, full, source)
    yield from conversation.hooks.fire(payload, cancel)
    return f"Added {full} as a working directory for this session."


def take_directories(conversation: Conversation, cancel: Cancel) -> Generator[Event, None, None]:
    """Add the directories that a program sent (`Control.add_directory`)."""
    while not cancel.cancelled and (path := conversation.control.take_directory()) is not None:
        answer = yield from add_directory(conversation, path, "register_repo_root", cancel)
        yield Notice("info", answer)
