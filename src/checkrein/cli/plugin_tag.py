"""`checkrein plugin tag`: the tag that names a version of a plugin for those that depend on it."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import require


class Payload(Struct, frozen=True, omit_defaults=True):
    """`commit` is what the tag names; it is missing after --dry-run."""

    tag: str
    commit: str | None = None


COMMAND = Command(
    name="plugin tag",
    summary="Tag the current version of a plugin in its git repository.",
    details="Plugins that need a range of versions find them by tags NAME--vVERSION. The tag is not signed, "
    "and nothing is pushed.",
    args=(
        Arg(name="path", default=".", metavar="DIR", help="The directory of the plugin."),
        Arg(name="dry_run", flags=("--dry-run",), type="bool", help="Only say which tag it would be."),
    ),
    payload=Payload,
    errors=("project_not_found", "plugin_invalid", "tag_refused"),
    examples=(("checkrein plugin tag ./plugins/formatter", "after the commit of a release"),),
)


def run(path: str, dry_run: bool) -> Outcome:
    import os

    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.plugins.release_tag import create_tag, tag_of
    from checkrein.runtime.process.spawner import Spawner

    require(path)
    tag = tag_of(path)
    if dry_run:
        return Outcome(data=Payload(tag), text=lambda: tag)
    with Spawner(lambda origin: origin.scope == "bundled") as spawner:
        commit = create_tag(tag, os.path.realpath(path), os.environ, spawner, Cancel())
    text = f"{tag} names {commit[:12]}. Publish it: git push origin {tag}"
    return Outcome(data=Payload(tag, commit), text=lambda: text)
