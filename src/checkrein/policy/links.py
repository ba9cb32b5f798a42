"""Symbolic links, as the context knows them: through paths, behind globs, below directories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

from checkrein.policy.abstract import ANY, ONE, STAR, is_static, may_match

_MAX_LINKS = 40
_MAX_FOUND = 200


@runtime_checkable
class Listing(Protocol):
    """Links that are looked up: those in a directory and its directories, None when there are too many."""

    def listed(self, directory: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None: ...


def follow(path: str, links: Mapping[str, str]) -> str:
    """Resolve `path` one segment at a time; `..` after a link leaves the link's target."""
    pending = [part for part in path.split("/") if part not in ("", ".")][::-1]
    done: list[str] = []
    hops = 0
    while pending:
        part = pending.pop()
        if part == "..":
            del done[-1:]
            continue
        here = "/" + "/".join([*done, part])
        target = links.get(here)
        if target is None or hops >= _MAX_LINKS:
            done.append(part)
            continue
        hops += 1
        if target.startswith("/"):
            done = []
        pending.extend(part for part in target.split("/")[::-1] if part not in ("", "."))
    return "/" + "/".join(done)


def through_globs(path: str, links: Mapping[str, str]) -> Iterator[str]:
    """Where the links that a glob may match lead. ANY when there are too many to look at."""
    found = 0
    pending = [("", [part for part in path.split("/") if part not in ("", ".")])]
    while pending:
        head, parts = pending.pop()
        at = next((at for at, part in enumerate(parts) if not is_static(part)), None)
        if at is None or ANY in parts[at]:
            continue
        above = follow("/".join((head, *parts[:at])) or "/", links)
        inside = _entries(above, links)
        if inside is None or found > _MAX_FOUND:
            yield ANY
            return
        names, directories = inside
        rest = parts[at + 1 :]
        for name in (*names, *directories):
            if not _matches(parts[at], name):
                continue
            found += 1
            one = f"{above.rstrip('/')}/{name}"
            if name in names:
                yield follow("/".join((one, *rest)), links)
            if rest:
                pending.append((one, rest))


def links_below(directory: str, links: Mapping[str, str]) -> Iterator[str]:
    """Where the links below a directory lead. ANY when there are too many to look at."""
    pending = [follow(directory, links)]
    seen: set[str] = set()
    while pending:
        here = pending.pop()
        if here in seen:
            continue
        seen.add(here)
        inside = _entries(here, links)
        if inside is None or len(seen) > 5_000:
            yield ANY
            return
        names, directories = inside
        for name in names:
            yield follow(f"{here.rstrip('/')}/{name}", links)
        pending.extend(f"{here.rstrip('/')}/{name}" for name in directories)


def _entries(directory: str, links: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    if isinstance(links, Listing):
        return links.listed(directory)
    prefix = directory.rstrip("/") + "/"
    inside = [one[len(prefix) :] for one in links if one.startswith(prefix)]
    names = tuple(dict.fromkeys(one for one in inside if "/" not in one))
    return names, tuple(dict.fromkeys(one.split("/", 1)[0] for one in inside if "/" in one))


def _matches(glob: str, name: str) -> bool:
    if name.startswith(".") and glob[:1] in (STAR, ONE):
        return False
    return may_match(tuple(name), glob)
