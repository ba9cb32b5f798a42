"""`checkrein plugin init`: the files of a new plugin."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Arg, Command, Outcome


class Payload(Struct, frozen=True):
    directory: str
    files: tuple[str, ...]


COMMAND = Command(
    name="plugin init",
    summary="Write the files of a new plugin: a manifest and a first skill.",
    args=(
        Arg(name="name", required=True, help="The plugin's name: lowercase letters, digits and `-`."),
        Arg(name="directory", default=None, metavar="DIR", help="Where; a new folder of its name otherwise."),
        Arg(
            name="description",
            flags=("--description",),
            default="A new plugin.",
            metavar="TEXT",
            help="One line about it.",
        ),
        Arg(name="author", flags=("--author",), default="Unknown", metavar="NAME", help="Who writes it."),
        Arg(
            name="marketplace",
            flags=("--marketplace",),
            type="bool",
            help="Also a catalogue, so that the repository is a marketplace.",
        ),
    ),
    payload=Payload,
    errors=("plugin_exists",),
    examples=(("checkrein plugin init formatter --marketplace", "a plugin that others can add"),),
)


def run(name: str, directory: str | None, description: str, author: str, marketplace: bool) -> Outcome:
    import os

    from checkrein.runtime.plugins.plugin_draft import plugin_files, write_files

    files = plugin_files(name, description=description, author=author, marketplace=marketplace)
    place = os.path.abspath(directory or name)
    written = write_files(place, files)
    payload = Payload(place, tuple(written))

    def text() -> str:
        from checkrein.cli import paint

        lines = [paint.path(file) for file in written]
        return "\n".join((*lines, f"Try it: `checkrein --plugin-dir {paint.path(place)}`."))

    return Outcome(data=payload, text=text)
