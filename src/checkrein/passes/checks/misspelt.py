"""A key that is almost a known one: what every check of misspelt keys reports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from checkrein.base.nearest import nearest
from checkrein.base.origin import Origin
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Finding, Subject

_CLOSE = 0.8


def keys(
    subject: Subject,
    written: Iterable[tuple[str, Origin]],
    known: Collection[str],
    taken: Mapping[str, object],
    what: str,
    close: float = _CLOSE,
) -> Iterator[Finding]:
    """A finding for each key that is almost a known one.

    A key that is `taken` is not the one that was meant: `descriptionZh` stands beside `description`.
    """
    for name, origin in written:
        meant = None if name in known else nearest(name, known, close)
        if meant is None or meant in taken:
            continue
        fix = edits.rename(subject, origin, name, meant, safe=False)
        message = f"`{name}` is not a key of {what}; did you mean `{meant}`"
        yield Finding(origin=subject.find(origin, name), message=message, fix=fix)
