"""`/reload-plugins`: what changed among the plugins since the session began.

Other plugins mean other tools, skills and hooks: the request would start over, and the prompt cache would be
lost. So a session keeps what it began with, and the next one has the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.model.project import Project

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


class Changes(Struct, frozen=True):
    """The plugins that are new, gone or different, and the servers that come and go with them."""

    plugins: tuple[str, ...] = ()
    servers_added: tuple[str, ...] = ()
    servers_removed: tuple[str, ...] = ()


def changed(conversation: Conversation) -> Changes:
    """Since the session began. Plugins of the command line stay what they are."""
    from checkrein.passes.load import load_again

    before = conversation.view.project
    now = load_again(before.place, conversation.env)
    old, new = _enabled(before), _enabled(now)
    inline = {name for name in old if name.endswith("@inline")}
    plugins = sorted(name for name in {*old, *new} - inline if old.get(name) != new.get(name))
    apart = {name.partition("@")[0] for name in inline}
    had, has = _servers(before, apart), _servers(now, apart)
    return Changes(tuple(plugins), tuple(sorted(has - had)), tuple(sorted(had - has)))


def told(conversation: Conversation, *, forced: bool) -> str:
    """What to say to the user."""
    names = ", ".join(changed(conversation).plugins)
    if not names:
        return "The plugins are as they were."
    if forced:
        return (
            f"Changed: {names}. Hooks and servers of a session stay as it began; start a new one for these."
        )
    return (
        f"Not reloaded, because that would break the prompt cache. Changed: {names}. "
        "Start a new session for them."
    )


def _enabled(project: Project) -> dict[str, str]:
    """Each plugin that is on, with what tells its versions apart."""
    on = (found.item for found in project.plugins.values() if found.item.enabled)
    return {one.identity: one.hash or f"{one.root} {one.version}" for one in on}


def _servers(project: Project, apart: set[str]) -> set[str]:
    """The servers that plugins bring, other than these plugins."""
    servers = ((name, found.item.plugin) for name, found in project.servers.items())
    return {name for name, plugin in servers if plugin is not None and plugin not in apart}
