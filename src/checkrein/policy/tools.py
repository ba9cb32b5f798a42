"""The registry of tools that decisions know: built-in tools, and those that a server or the runtime adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from msgspec import Struct, structs

from checkrein.facts.tools import TOOLS, ToolFact
from checkrein.policy.effects import Effect, Exec, Net, Read, Unclear, Use, Write
from checkrein.policy.remote import Remote

Input = Mapping[str, Any]
Effects = Callable[[Input], tuple[Effect, ...]]


class Meaning(Struct, frozen=True, kw_only=True):
    """What the calls of a tool mean: the tool as decisions see it.

    `effects` is total: any input gives at least one effect. `remote` is the server's tool behind it.
    """

    name: str
    effects: Effects
    family: str = ""
    fields: tuple[str, ...] = ()
    primary: str | None = None
    free: bool = False
    interactive: bool = False
    declared: bool = True
    remote: Remote | None = None


class Tools:
    """An immutable registry. A name that it does not hold is a tool with the effect `Use`."""

    def __init__(self, tools: Iterable[Meaning], aliases: Mapping[str, str] | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._marks = frozenset((object(),))
        self._aliases = dict(aliases or {})

    def get(self, name: str) -> Meaning:
        found = self._tools.get(self._aliases.get(name, name))
        return found or Meaning(name=name, effects=lambda _: (Use(name),), declared=False)

    def __contains__(self, name: str) -> bool:
        return self._aliases.get(name, name) in self._tools

    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def with_tool(self, *tools: Meaning, aliases: Mapping[str, str] | None = None) -> Tools:
        """With these too. `aliases` are other names for them; no name that is known changes its meaning."""
        more = Tools([*self._tools.values(), *tools], self._aliases)
        more._aliases.update((alias, name) for alias, name in (aliases or {}).items() if alias not in more)
        return more

    def __eq__(self, other: object) -> bool:
        """Registries are equal when they are the same object, or joined from the same objects."""
        return isinstance(other, Tools) and self._marks == other._marks

    def __hash__(self) -> int:
        return hash(self._marks)

    def joined(self, other: Tools) -> Tools:
        """Both registries in one. A tool that both declare differently has the effects of both."""
        if other._marks <= self._marks:
            return self
        if self._marks <= other._marks:
            return other
        merged = dict(self._tools)
        for name, tool in other._tools.items():
            mine = merged.get(name)
            merged[name] = tool if mine is None or mine is tool else _either(mine, tool)
        both = Tools(merged.values(), {**other._aliases, **self._aliases})
        both._marks = self._marks | other._marks
        return both


def _either(one: Meaning, other: Meaning) -> Meaning:
    def effects(values: Input) -> tuple[Effect, ...]:
        return tuple(dict.fromkeys((*one.effects(values), *other.effects(values))))

    return structs.replace(
        one,
        effects=effects,
        free=one.free and other.free,
        interactive=one.interactive or other.interactive,
        remote=one.remote or other.remote,
    )


@cache
def builtin_tools() -> Tools:
    aliases = {alias: fact.name for fact in TOOLS for alias in fact.aliases}
    return Tools((_tool(fact) for fact in TOOLS), aliases)


def effects(
    name: str,
    *,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    commands: tuple[str, ...] = (),
    urls: tuple[str, ...] = (),
    code: tuple[tuple[str, str], ...] = (),
    interactive: bool = False,
) -> Meaning:
    """What the tool `name` does to the world, by the fields of its input.

    `reads` and `writes` are the fields that hold paths, `commands` those with a shell command, `urls` those
    with an address; `code` are pairs of a field and the language of the code in it. Rules for Read, Edit,
    Bash and WebFetch then judge the tool too. A call without one of the fields needs approval. An
    `interactive` tool asks the user something.
    """

    def found(values: Input) -> tuple[Effect, ...]:
        return (
            Use(name),
            *(_exec(values, field, "bash") for field in commands),
            *(_exec(values, field, language) for field, language in code),
            *(_path(values, field, Read) for field in reads),
            *(_path(values, field, Write) for field in writes),
            *(_net(values, field) for field in urls),
        )

    return Meaning(name=name, effects=found, interactive=interactive)


def _tool(fact: ToolFact) -> Meaning:
    return Meaning(
        name=fact.name,
        effects=_effects(fact),
        family=fact.family,
        fields=fact.fields,
        primary=fact.field,
        free=fact.free,
        interactive=fact.interactive,
    )


def _effects(fact: ToolFact) -> Effects:
    field = fact.field or ""
    if fact.effect == "exec":
        return lambda values: (_exec(values, field, fact.language),)
    if fact.effect == "read":
        return lambda values: (_path(values, field, Read),)
    if fact.effect == "search":
        return lambda values: _search(values, fact.glob)
    if fact.effect == "write":
        if fact.notebook:
            return lambda values: (_path(values, field, lambda path: Write(path, notebook=True)),)
        return lambda values: (_path(values, field, Write),)
    if fact.effect == "net":
        return lambda values: (_net(values, field),)
    return lambda _: (Use(fact.name),)


def _exec(values: Input, field: str, language: str) -> Effect:
    text = values.get(field)
    if not isinstance(text, str) or not text.strip():
        return Unclear(f"the input has no `{field}`")
    return Exec(text, language)


def _path(values: Input, field: str, make: Callable[[str], Effect]) -> Effect:
    path = values.get(field)
    if not isinstance(path, str) or not path:
        return Unclear(f"the input has no `{field}`")
    return make(path)


def _net(values: Input, field: str) -> Effect:
    url = values.get(field)
    return Net(url) if isinstance(url, str) and url else Unclear(f"the input has no `{field}`")


def _search(values: Input, glob: str | None) -> tuple[Effect, ...]:
    """A search below `path`. A glob that names another directory is judged as that directory too."""
    path = values.get("path") or "."
    if not isinstance(path, str):
        return (Unclear("`path` is not text"),)
    found: list[Effect] = [Read(path, tree=True)]
    pattern = values.get(glob) if glob else None
    if isinstance(pattern, str) and pattern:
        pattern = pattern.lstrip("!") if glob == "glob" else pattern
        if pattern and "/" in pattern:
            found.append(Read(pattern if pattern[0] in "/~" else f"{path}/{pattern}", tree=True, glob=True))
    return tuple(found)
