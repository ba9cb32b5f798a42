"""`checkrein plugin list`: installed plugins, who installed them, and whether they are on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.runtime.plugins.installation import Installer


class Row(Struct, frozen=True, omit_defaults=True):
    """`by` says who installed it; `claude` can be adopted. `problem` says why it is not in use."""

    identity: str
    version: str
    enabled: bool
    by: Literal["checkrein", "claude", "project"]
    scope: str | None = None
    hash: str | None = None
    problem: str | None = None


class Available(Struct, frozen=True, omit_defaults=True):
    identity: str
    description: str | None = None
    version: str | None = None


class Payload(Struct, frozen=True, omit_defaults=True):
    plugins: tuple[Row, ...] = ()
    available: tuple[Available, ...] = ()


COMMAND = Command(
    name="plugin list",
    summary="List the plugins, and whether they are on.",
    args=(
        PROJECT_ARG,
        Arg(
            name="available",
            flags=("--available",),
            type="bool",
            help="List what the known marketplaces offer instead.",
        ),
    ),
    payload=Payload,
    errors=ERRORS,
    examples=(("checkrein plugin list --available", "what can be installed"),),
)


def run(project: str, available: bool) -> Outcome:
    from checkrein.cli.plugin_target import installer

    with installer(project) as made:
        payload = Payload(available=_available(made)) if available else Payload(_rows(made))

    def text() -> str:
        from checkrein.cli import plugin_text

        return plugin_text.listing(payload)

    return Outcome(data=payload, text=text)


def _rows(made: Installer) -> tuple[Row, ...]:
    from checkrein.dialects.claude.plugin_places import records
    from checkrein.runtime.plugins.adoption import foreign_plugins
    from checkrein.runtime.plugins.plugin_lock import read_lock

    rows = []
    seen = set()
    locked = read_lock(made.project.place).installed
    held = records(made.env).plugins
    for identity, resolved in made.project.plugins.items():
        plugin = resolved.item
        seen.add(identity)
        scope = plugin.switch.scope if plugin.switch is not None else None
        by: Literal["checkrein", "claude", "project"] = (
            "checkrein" if plugin.hash else "claude" if plugin.switch is not None else "project"
        )
        rows.append(Row(identity, plugin.version or "", plugin.enabled, by, scope, plugin.hash))
    for identity, kept in held.items():
        if identity not in seen:
            seen.add(identity)
            one = kept[0]
            rows.append(Row(identity, one.pinned.version, False, "checkrein", one.scope, one.pinned.hash))
    for identity, pinned in locked.items():
        if identity not in seen:
            seen.add(identity)
            problem = "locked and not installed here; `checkrein plugin install --frozen`"
            rows.append(Row(identity, pinned.version, False, "checkrein", "project", pinned.hash, problem))
    for identity, record in foreign_plugins(made).items():
        if identity not in seen:
            rows.append(Row(identity, str(record.get("version", "")), False, "claude"))
    return tuple(rows)


def _available(made: Installer) -> tuple[Available, ...]:
    from checkrein.base.errors import CheckreinError

    found = []
    for name in made.roll.names():
        try:
            catalog = made.roll.catalog(name)
        except CheckreinError:
            continue
        found += [
            Available(f"{one.name}@{name}", one.description, one.version) for one in catalog.listed.entries
        ]
    return tuple(found)
