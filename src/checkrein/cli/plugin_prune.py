"""`checkrein plugin prune`: remove plugins that only others needed, and contents that nobody uses."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True):
    """`contents` counts the versions that left the cache."""

    removed: tuple[str, ...]
    contents: int


COMMAND = Command(
    name="plugin prune",
    summary="Remove plugins that nothing needs any more, and old versions in the cache.",
    details="Versions that the lock of another project names may have to be fetched again.",
    args=(
        PROJECT_ARG,
        Arg(name="dry_run", flags=("--dry-run",), type="bool", help="Only say what would go."),
    ),
    payload=Payload,
    errors=ERRORS,
    examples=(("checkrein plugin prune --dry-run", "what nobody needs"),),
)


def run(project: str, dry_run: bool) -> Outcome:
    from checkrein.cli.plugin_target import installer
    from checkrein.dialects.claude.plugin_places import records
    from checkrein.runtime.plugins.plugin_lock import read_lock

    with installer(project) as made:
        gone = made.orphans()
        if dry_run:
            payload = Payload(gone, 0)
        else:
            for identity in gone:
                for one in records(made.env).plugins[identity]:
                    if one.project in (None, made.project.place.root):
                        made.remove(identity, one.scope)
            known = records(made.env)
            kept = {one.pinned.hash for held in known.plugins.values() for one in held}
            kept |= {one.hash for one in known.marketplaces.values() if one.hash is not None}
            kept |= {one.hash for one in read_lock(made.project.place).installed.values()}
            payload = Payload(gone, made.cache.sweep(kept))

    def text() -> str:
        names = ", ".join(gone) or "none"
        return f"Plugins that nothing needs: {names}. Old versions removed: {payload.contents}."

    return Outcome(data=payload, text=text)
