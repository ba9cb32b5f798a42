"""Installed plugins: what each can do, and where it came from."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

PluginScope = Literal["user", "project", "local"]
SCOPES: tuple[PluginScope, ...] = ("user", "project", "local")


class Capabilities(Struct, frozen=True, omit_defaults=True):
    """What a plugin or a skill can do, each kind as sorted lines that a person can compare.

    `commands` are shell lines that run without a question: of hooks, skills, monitors. `programs` are those
    that its scripts start, `modules` those that they load. `opaque` are places that no reader can judge.
    """

    hooks: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    executables: tuple[str, ...] = ()
    lsp: tuple[str, ...] = ()
    monitors: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()

    def beyond(self, other: Capabilities) -> Capabilities:
        """What this has and the other has not."""
        names = self.__struct_fields__
        return Capabilities(
            **{name: tuple(x for x in getattr(self, name) if x not in getattr(other, name)) for name in names}
        )

    def joined(self, other: Capabilities) -> Capabilities:
        names = self.__struct_fields__
        both = {name: {*getattr(self, name), *getattr(other, name)} for name in names}
        return Capabilities(**{name: tuple(sorted(values)) for name, values in both.items()})

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """(kind, line) of everything."""
        return tuple((name, line) for name in self.__struct_fields__ for line in getattr(self, name))


class Pinned(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One version of a plugin. `hash` is that of its content, `source` where it came from as a marketplace
    writes it, `commit` the commit there (of an npm package, its version)."""

    hash: str
    version: str
    source: dict[str, Any] = {}
    commit: str | None = None
    marketplace: dict[str, Any] = {}
    capabilities: Capabilities = Capabilities()
    entry: dict[str, Any] = {}


class Installed(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A plugin in one scope; `project` is the root for the scopes project and local. `auto`: another plugin
    needs it, and nobody asked for it."""

    scope: PluginScope
    pinned: Pinned
    project: str | None = None
    auto: bool = False


class Known(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A marketplace that the user added, at a `commit` (of an npm package: a version). `hash` is the content
    of its copy in the cache; None for a directory, which is read where it is. `left_out` are links and
    submodules that the copy has not."""

    source: dict[str, Any]
    hash: str | None = None
    commit: str | None = None
    left_out: tuple[str, ...] = ()


class Records(Struct, frozen=True, kw_only=True):
    """The plugins of this user by identity `name@marketplace`, the marketplaces, and the command sources
    that the user accepted."""

    plugins: dict[str, tuple[Installed, ...]] = {}
    marketplaces: dict[str, Known] = {}
    accepted_commands: tuple[str, ...] = ()
