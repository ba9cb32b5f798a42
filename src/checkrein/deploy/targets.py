"""Turns the names that a user types into writers."""

from __future__ import annotations

from collections.abc import Iterable

from checkrein.base.errors import UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.dialects.dialect import Writer
from checkrein.dialects.table import find
from checkrein.facts.agents import Target, find_target, target_names, targets

ALL = "all"


def chosen_targets(names: Iterable[str]) -> tuple[Target, ...]:
    """The agents of `a,b` lists, each once, in order; `all` is every agent. Raises UsageError for others."""
    found: dict[str, Target] = {}
    for text in names:
        for name in filter(None, (part.strip() for part in text.split(","))):
            if name == ALL:
                found.update((key, row) for key, row in targets().items() if row.command is not None)
                continue
            row = find_target(name)
            if row is None:
                raise UsageError(
                    f"There is no agent {name!r}.{did_you_mean(name, target_names())}",
                    kind="agent_unknown",
                    hint="`checkrein deploy --list` prints the agents",
                )
            found[row.key] = row
    return tuple(found.values())


def writer(target: Target) -> Writer:
    dialect = find(target.key)
    assert dialect is not None
    assert dialect.write is not None, f"every agent that has a row has a writer: {target.key}"
    return dialect.write
