"""`checkrein plugin tag`: the tag that names a version of a plugin for those that depend on it."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import require


class Payload(Struct, frozen=True):
    """`command` is what to run: Checkrein writes nothing into your repository's history."""

    tag: str
    command: str


COMMAND = Command(
    name="plugin tag",
    summary="Print the git tag for the current version of a plugin.",
    details="Plugins that need a range of versions find them by tags NAME--vVERSION.",
    args=(Arg(name="path", default=".", metavar="DIR", help="The directory of the plugin."),),
    payload=Payload,
    errors=("project_not_found", "plugin_invalid"),
    examples=(("checkrein plugin tag ./plugins/formatter", "the tag of its version"),),
)


def run(path: str) -> Outcome:
    import os

    from checkrein.base.errors import FileError
    from checkrein.dialects.claude import plugins
    from checkrein.runtime.plugins.versions import parse_version

    require(path)
    found = plugins.read(os.path.realpath(path), parts=False).plugins
    version = found[0].version if found else None
    if not found or version is None or parse_version(version) is None:
        raise FileError(
            f"{path} is not a plugin with a version of three numbers.",
            kind="plugin_invalid",
            hint="Write `version` in .claude-plugin/plugin.json, such as 1.0.0.",
        )
    tag = f"{found[0].name}--v{version}"
    payload = Payload(tag, f"git tag -a {tag} -m {tag}")
    return Outcome(data=payload, text=lambda: payload.command)
