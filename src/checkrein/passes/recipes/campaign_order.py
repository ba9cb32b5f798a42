"""Which dispatches of a campaign come before another."""

from __future__ import annotations

from checkrein.model.recipe import Dispatch, Recipe


def ancestors(campaign: Recipe, dispatch: Dispatch) -> frozenset[str]:
    """The dispatches that must be over first; itself only in a circle."""
    waits = {one.name: one.depends_on for one in campaign.dispatches}
    found: set[str] = set()
    pending = list(dispatch.depends_on)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += waits.get(name, ())
    return frozenset(found)


def captured_before(campaign: Recipe, dispatch: Dispatch) -> frozenset[str]:
    """The variables of the dispatches before: its ancestors, or without `depends_on` those above it."""
    before = ancestors(campaign, dispatch)
    if not dispatch.depends_on:
        names = [one.name for one in campaign.dispatches]
        before = frozenset(names[: names.index(dispatch.name)])
    return frozenset(name for one in campaign.dispatches if one.name in before for name in one.capture)
