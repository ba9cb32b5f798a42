"""Settings as written: which file says what, and where each key is."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.model.items import Setting
from checkrein.passes.checks.check import Subject

_TO_THE_END = 10**6


def named(subject: Subject, *names: str) -> Iterator[Setting]:
    """The settings of these dotted names, and everything below them, in every file."""
    prefixes = tuple(f"{name}." for name in names)
    for setting in subject.project.sources.settings:
        if setting.name in names or setting.name.startswith(prefixes):
            yield setting


def key_place(subject: Subject, setting: Setting, key: str) -> Origin:
    """Where a key above a setting is written; the setting's own place if there is none."""
    whole = setting.origin.at(Span(1, end_line=_TO_THE_END))
    found = subject.find(whole, f'"{key}"')
    return setting.origin if found is whole else found
