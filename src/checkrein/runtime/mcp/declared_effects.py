"""What the user and the project declare about the tools of servers: `[mcp.effects.SERVER]`.

    [mcp.effects.shell]
    run_cmd = "exec:command"
    move = ["read:source", "write:destination"]

An effect names a kind and the field of the input that holds the command, the path or the address. Rules for
Bash, Read, Edit and WebFetch then judge the tool too. Effects add denies and asks, never an allow, so the
declarations of all layers count. What is relative counts in every directory that the server may mean: the
session's, its own, and the one that the input names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from checkrein.base.config import Config, ConfigValue
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.harmless import one_line
from checkrein.base.origin import Origin
from checkrein.policy.effects import Effect, Exec, Net, Read, Unclear, Use, Write
from checkrein.policy.remote import Remote, normal
from checkrein.policy.tools import Meaning

KEY = "mcp.effects"
Kind = Literal["exec", "read", "search", "write", "net"]
_READERS = ("read", "search")
_PATHS = ("read", "search", "write")
_OWN = ("user",)
"""Layers whose word that a tool only reads is believed."""
_MOST_VALUES = 200
_MOST_PLACES = 20
_PLACES = frozenset(
    (
        "cwd",
        "dir",
        "directory",
        "rootdir",
        "workdir",
        "workingdir",
        "workingdirectory",
        "currentdirectory",
        "currentworkingdirectory",
    )
)
"""Fields that name the directory of a call, in small letters without marks between words."""


class Declared(Struct, frozen=True):
    """One effect: what the tool does with `field` of its input. `kind` None: nobody can tell."""

    kind: Kind | None
    field: str
    own: bool


class DeclaredEffects:
    """The effects of all layers. `problems` are entries that are not effects; a call of their tool needs
    approval."""

    def __init__(self, layers: Iterable[ConfigValue] = ()) -> None:
        self._tools: dict[tuple[str, str], tuple[Declared, ...]] = {}
        self.problems: list[Diagnostic] = []
        for held in layers:
            for server, tools in held.value.items():
                for tool, texts in tools.items():
                    key = normal(server), normal(tool)
                    found = self._read(held, f"{KEY}.{server}.{tool}", texts)
                    self._tools[key] = tuple(dict.fromkeys((*self._tools.get(key, ()), *found)))

    @classmethod
    def of(cls, config: Config) -> DeclaredEffects:
        return cls(config.layers.get(KEY, ()))

    def _read(self, held: ConfigValue, name: str, texts: str | list[str]) -> Iterator[Declared]:
        own = held.layer in _OWN
        for text in [texts] if isinstance(texts, str) else texts:
            written, _, field = text.partition(":")
            kind = next((one for one in get_args(Kind) if one == written.strip()), None)
            if kind is not None and field.strip():
                yield Declared(kind, field.strip(), own)
                continue
            origin = held.origin or Origin("<environment>", "cli")
            message = f"`{one_line(name)}` has no effect that Checkrein knows: {one_line(text)!r}"
            hint = 'Write "exec:command"; the kinds are exec, read, search, write and net.'
            self.problems.append(Diagnostic("CFG007", "error", message, origin, hint=hint))
            yield Declared(None, text, own)

    def of_tool(self, remote: Remote) -> tuple[Declared, ...]:
        return self._tools.get((normal(remote.server), normal(remote.tool)), ())

    def only_reads(self, remote: Remote) -> bool:
        """Whether the user says that the tool only reads, and nobody says more."""
        declared = self.of_tool(remote)
        return any(one.own for one in declared) and all(one.kind in _READERS for one in declared)

    def meaning(
        self, name: str, remote: Remote, *, interactive: bool = False, cwd: str | None = None
    ) -> Meaning:
        """What rules judge: the tool by its names, and its declared effects. `cwd` is the directory of the
        server."""
        declared = self.of_tool(remote)

        def effects(values: Mapping[str, Any]) -> tuple[Effect, ...]:
            places = _places(declared, values, cwd)
            if isinstance(places, Unclear):
                return (Use(name), places)
            return (Use(name), *(found for one in declared for found in _effects(one, values, places)))

        return Meaning(name=name, effects=effects, interactive=interactive, remote=remote)


def _places(
    declared: tuple[Declared, ...], values: Mapping[str, Any], cwd: str | None
) -> tuple[str, ...] | Unclear:
    """The directories where a relative path may count besides the session's."""
    own = () if cwd is None else (cwd,)
    found = dict.fromkeys(own)
    known = {one.field for one in declared}
    named = [field for field, value in values.items() if _plain(field) in _PLACES and value not in (None, "")]
    for field in named if declared else ():
        value = values[field]
        if isinstance(value, str) and "\0" not in value:
            found |= dict.fromkeys(_paths(value, own))
        elif field not in known:
            return Unclear(f"`{one_line(field)}` does not name a directory")
    return tuple(found) if len(found) <= _MOST_PLACES else Unclear("its input names too many directories")


def _plain(field: str) -> str:
    return field.lower().replace("_", "").replace("-", "")


def _effects(declared: Declared, values: Mapping[str, Any], places: tuple[str, ...]) -> list[Effect]:
    if declared.kind is None:
        return [Unclear("its declared effect can't be understood")]
    texts = _texts(values.get(declared.field))
    if not texts:
        return [Unclear(f"the input has no `{declared.field}`")]
    if len(texts) > _MOST_VALUES:
        return [Unclear(f"`{declared.field}` has too many values")]
    if declared.kind == "exec" and isinstance(values[declared.field], list):
        # Either a list of commands or the words of one.
        import shlex

        texts = [shlex.join(texts), *texts]
    if any("\0" in text for text in texts):
        return [Unclear(f"`{declared.field}` holds a zero byte")]
    if declared.kind in _PATHS:
        texts = [path for text in texts for path in _paths(text, places)]
    return [_effect(declared.kind, text, places) for text in texts]


def _paths(text: str, places: Iterable[str]) -> Iterator[str]:
    """Every path that a server may mean: as it is written, without space around it, out of a `file:` address,
    and in each of the places."""
    stripped = text.strip()
    written = [text, stripped]
    if stripped[:5].lower() == "file:":
        written += _addressed(stripped)
    for path in dict.fromkeys(written):
        yield path
        if not path.startswith(("/", "~")):
            yield from (os.path.join(place, path) for place in places)


def _addressed(url: str) -> tuple[str, ...]:
    """The path of a `file:` address, as it is and decoded."""
    from urllib.parse import unquote

    rest = url[5:]
    path = "/" + rest[2:].partition("/")[2] if rest.startswith("//") else rest
    plain = path.partition("?")[0].partition("#")[0]
    return tuple(one for one in (path, unquote(path), plain, unquote(plain)) if one and "\0" not in one)


def _texts(value: Any) -> list[str]:
    """The texts of a field; none when a part of it is something else."""
    parts = value if isinstance(value, list | tuple) else [value]
    return list(parts) if all(isinstance(part, str) and part.strip() for part in parts) else []


def _effect(kind: Kind, text: str, places: tuple[str, ...]) -> Effect:
    match kind:
        case "exec":
            return Exec(text, places=places)
        case "read":
            return Read(text)
        case "search":
            return Read(text, tree=True)
        case "write":
            return Write(text)
        case "net":
            return Net(text)
