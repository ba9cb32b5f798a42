"""From the names a user types to writers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from checkrein.base.errors import UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.facts.agents import Target, find_target, target_names, targets
from checkrein.model.project import Sources

Writer = Callable[[Sources, Options], Written]
ALL = "all"


def chosen_targets(names: Iterable[str]) -> tuple[Target, ...]:
    """The agents of `a,b` lists, each once, in order; `all` is every agent. UsageError for others."""
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
    """The writer of an agent: its dialect's, or the one that its row drives."""
    if target.dialect == "generic":
        return lambda sources, options: write_for(target.key, sources, options)
    module = import_module(f"checkrein.dialects.{target.dialect}.write")
    write: Writer = module.write
    return write
