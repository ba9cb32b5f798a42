"""Versions of plugins and ranges of them, as `package.json` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

_VERSION = re.compile(
    r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?"
)
_PARTIAL = re.compile(
    r"v?(\d{1,9}|[xX*])(?:\.(\d{1,9}|[xX*]))?(?:\.(\d{1,9}|[xX*]))?(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]+)?"
)
_HYPHEN = re.compile(r"\s*(\S+)\s+-\s+(\S+)\s*")
_COMPARATOR = re.compile(r"(>=|<=|>|<|=|\^|~>?)?(\S+)")
_LONGEST = 200


Order = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]


class Version(Struct, frozen=True):
    """A semantic version; `pre` are the identifiers of a pre-release."""

    numbers: tuple[int, int, int]
    pre: tuple[str, ...] = ()

    @property
    def order(self) -> Order:
        """What to compare by: a pre-release comes before its release, numbers before words."""
        pre = tuple((0, int(one), "") if one.isdecimal() else (1, 0, one) for one in self.pre)
        return (*self.numbers, 0 if self.pre else 1, pre)


class Bound(Struct, frozen=True):
    sign: str
    version: Version

    def holds(self, version: Version) -> bool:
        this, that = version.order, self.version.order
        if self.sign == ">=":
            return this >= that
        if self.sign == ">":
            return this > that
        if self.sign == "<":
            return this < that
        return this <= that if self.sign == "<=" else this == that


class Range(Struct, frozen=True):
    """Alternatives, each a list of bounds that must all hold."""

    text: str
    alternatives: tuple[tuple[Bound, ...], ...]

    def holds(self, version: Version) -> bool:
        return any(_fits(bounds, version) for bounds in self.alternatives)


def parse_version(text: str) -> Version | None:
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        return None
    pre = tuple(found[4].split(".")) if found[4] else ()
    return Version((int(found[1]), int(found[2]), int(found[3])), pre)


def parse_range(text: str) -> Range | None:
    """None for what is not a range."""
    if len(text) > _LONGEST:
        return None
    alternatives = []
    for part in text.split("||"):
        bounds = _bounds(part.strip())
        if bounds is None:
            return None
        alternatives.append(bounds)
    return Range(text, tuple(alternatives))


def highest(versions: Iterable[Version], ranges: Iterable[Range]) -> Version | None:
    """The highest version that all ranges hold."""
    wanted = tuple(ranges)
    fitting = (one for one in versions if all(range.holds(one) for range in wanted))
    return max(fitting, key=lambda one: one.order, default=None)


def _fits(bounds: tuple[Bound, ...], version: Version) -> bool:
    """A pre-release fits only where a bound names a pre-release of the same numbers."""
    if not all(bound.holds(version) for bound in bounds):
        return False
    return not version.pre or any(
        bound.version.pre and bound.version.numbers == version.numbers for bound in bounds
    )


def _bounds(text: str) -> tuple[Bound, ...] | None:
    if text in ("", "*", "x", "X", "latest"):
        return ()
    hyphen = _HYPHEN.fullmatch(text)
    if hyphen is not None:
        low, high = _low(hyphen[1]), _beyond(hyphen[2])
        return None if low is None or high is None else (Bound(">=", low), *high)
    found: list[Bound] = []
    for word in re.sub(r"([<>=^~])\s+", r"\1", text).split():
        parts = _COMPARATOR.fullmatch(word)
        bounds = _comparator(parts[1] or "", parts[2]) if parts is not None else None
        if bounds is None:
            return None
        found += bounds
    return tuple(found)


def _comparator(sign: str, written: str) -> tuple[Bound, ...] | None:
    low = _low(written)
    whole = parse_version(written)
    if low is None:
        return None
    if sign in ("", "="):
        if whole is not None:
            return (Bound("=", whole),)
        upper = _beyond(written)
        return None if upper is None else (Bound(">=", low), *upper)
    if sign == "^":
        return (Bound(">=", low), Bound("<", _next_caret(low, written)))
    if sign in ("~", "~>"):
        major, minor, _ = low.numbers
        only_major = len(written.lstrip("v").split(".")) == 1
        upper_numbers = (major + 1, 0, 0) if only_major else (major, minor + 1, 0)
        return (Bound(">=", low), Bound("<", Version(upper_numbers, ("0",))))
    if sign == ">" and whole is None:
        upper = _beyond(written)
        return tuple(Bound(">=", one.version) for one in upper) if upper else None
    if sign == "<=" and whole is None:
        return _beyond(written)
    return (Bound(sign, low),)


def _low(text: str) -> Version | None:
    found = _PARTIAL.fullmatch(text)
    if found is None:
        return None
    numbers = [int(part) if part and part.isdecimal() else 0 for part in found.group(1, 2, 3)]
    return Version((numbers[0], numbers[1], numbers[2]), tuple(found[4].split(".")) if found[4] else ())


def _beyond(text: str) -> tuple[Bound, ...] | None:
    """The upper bound of a version that leaves numbers out."""
    found = _PARTIAL.fullmatch(text)
    if found is None:
        return None
    parts = [part for part in found.group(1, 2, 3) if part and part.isdecimal()]
    if not parts:
        return ()
    if len(parts) == 3:
        low = _low(text)
        return (Bound("<=", low),) if low is not None else None
    if len(parts) == 2:
        return (Bound("<", Version((int(parts[0]), int(parts[1]) + 1, 0), ("0",))),)
    return (Bound("<", Version((int(parts[0]) + 1, 0, 0), ("0",))),)


def _next_caret(low: Version, written: str) -> Version:
    major, minor, patch = low.numbers
    given = len([part for part in written.lstrip("v").split("-")[0].split(".") if part.isdecimal()])
    if major or given == 1:
        return Version((major + 1, 0, 0), ("0",))
    if minor or given == 2:
        return Version((0, minor + 1, 0), ("0",))
    return Version((0, 0, patch + 1), ("0",))
