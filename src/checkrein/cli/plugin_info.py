"""`checkrein plugin info`: where a plugin comes from, what it brings and what it can do."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.plugin_target import COMMAND_ARG, ERRORS, NAME_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.model.plugins import Capabilities


class Payload(Struct, frozen=True, omit_defaults=True):
    """`parts` counts what it brings; `needs` are plugins, `options` are values for the user to set."""

    identity: str
    version: str
    installed: bool
    source: str
    hash: str | None = None
    commit: str | None = None
    description: str | None = None
    parts: dict[str, int] = {}
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    capabilities: Capabilities = Capabilities()


COMMAND = Command(
    name="plugin info",
    summary="Show a plugin: its source, its parts, what it can do.",
    details="A plugin that is not installed is fetched into the cache and looked at; nothing of it runs.",
    args=(NAME_ARG, PROJECT_ARG, COMMAND_ARG),
    payload=Payload,
    errors=ERRORS,
    examples=(("checkrein plugin info formatter@team-tools", "before you install it"),),
)


def run(name: str, project: str, accept_command: bool) -> Outcome:
    from checkrein.base.errors import NotFoundError
    from checkrein.cli.plugin_target import installer
    from checkrein.dialects.claude import plugins
    from checkrein.dialects.claude.plugin_places import records
    from checkrein.runtime.plugins.admin_lists import shown
    from checkrein.runtime.plugins.capability_surface import of_plugin

    with installer(project, accept_command=accept_command) as made:
        try:
            identity = made.installed(name)
            held = records(made.env).plugins.get(identity)
            pinned = held[0].pinned if held else None
            item = made.project.plugins[identity].item if identity in made.project.plugins else None
        except NotFoundError:
            (package,) = made.plan((name,), "user").packages[-1:]
            identity, pinned, item, held = package.identity, package.pinned, package.plugin, None
        root = made.cache.place(pinned.hash) if pinned is not None else item.root if item is not None else ""
        parts = plugins.read(root, entry=pinned.entry or None if pinned is not None else None)
    plugin = parts.plugins[0] if parts.plugins else item
    kinds = ("skills", "commands", "agents", "hooks", "servers")
    payload = Payload(
        identity,
        pinned.version if pinned is not None else (plugin.version or "") if plugin is not None else "",
        bool(held) or (item is not None and pinned is None),
        shown(pinned.source) if pinned is not None else root,
        pinned.hash if pinned is not None else None,
        pinned.commit if pinned is not None else None,
        plugin.description if plugin is not None else None,
        {kind: len(getattr(parts, kind)) for kind in kinds if getattr(parts, kind)},
        tuple(str(one.get("name") if isinstance(one, dict) else one) for one in plugin.dependencies)
        if plugin is not None
        else (),
        tuple(plugin.user_config) if plugin is not None else (),
        of_plugin(plugin, parts) if plugin is not None else Capabilities(),
    )

    def text() -> str:
        from checkrein.cli import plugin_text

        return plugin_text.info(payload)

    return Outcome(data=payload, text=text)
