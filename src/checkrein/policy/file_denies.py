"""What deny rules say about files, as plain values: the kernel's side enforces them without a policy."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.policy.globs import expression, matches
from checkrein.policy.paths import normal, relative
from checkrein.policy.policy import Policy
from checkrein.policy.values import Context
from checkrein.policy.view import View


class FileDeny(Struct, frozen=True, kw_only=True):
    """Denied is every path below `base` whose rest `expression` matches from its start; an empty one matches
    everything. `start` is where such paths are; there is nothing to search for if `literal`."""

    base: str
    expression: str
    start: str
    literal: bool
    rule: str
    origin: Origin | None = None
    fence: bool = False
    """Denied is all but a few places: there is too much to look for."""


class FileDenies(Struct, frozen=True, kw_only=True):
    """The `reads` and `writes` that deny rules forbid. What can't be read can't be written either."""

    reads: tuple[FileDeny, ...] = ()
    writes: tuple[FileDeny, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.reads or self.writes)


def file_denies(policy: Policy, context: Context) -> FileDenies:
    """A rule against a whole tool is about the tool. No program could run without reading and writing."""
    reads: dict[FileDeny, None] = {}
    writes: dict[FileDeny, None] = {}
    for compiled in policy.compiled:
        view = View(compiled, context)
        reads |= dict.fromkeys(_denies(view, "Read"))
        writes |= dict.fromkeys(_denies(view, "Edit"))
    return FileDenies(reads=tuple(reads), writes=tuple(writes))


def _denies(view: View, family: str) -> Iterator[FileDeny]:
    for one in view.deny.paths.get(family, ()):
        base, pattern = normal(view.base(one)), one.pattern
        literal = not pattern.floating and pattern.pattern.strip("/") == pattern.location
        yield FileDeny(
            base=base,
            expression=expression(pattern),
            start=normal(f"{base}/{pattern.location}") if not pattern.floating else base,
            literal=literal,
            rule=one.rule.text,
            origin=one.rule.origin,
            fence=pattern.fence is not None,
        )


def may_edit(policy: Policy, context: Context, path: str) -> bool:
    """Whether every layer has an allow rule for this very place. One for all files says nothing about
    protected ones."""
    return all(_allows(View(compiled, context), path) for compiled in policy.compiled)


def _allows(view: View, path: str) -> bool:
    for one in view.allow.paths.get("Edit", ()):
        below = relative(path, view.base(one))
        if one.pattern.pattern != "**" and below is not None and matches(one.pattern, below):
            return True
    return False
