"""The model's list of skills, within its budget. The same skills always give the same text."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.facts.claude import LISTING_BUDGET_CHARS, LISTING_BUDGET_FRACTION, LISTING_DESCRIPTION_CHARS
from checkrein.model.items import Invocable
from checkrein.model.view import View

_HEAD = "Skills you can load with the Skill tool when a task fits one (name: when to use it):"
_CHARS_PER_TOKEN = 4
_NAMED = 3
"""Skills without a description that get a warning of their own."""


class Entry(Struct, frozen=True):
    name: str
    text: str
    item: Invocable


class Listing(Struct, frozen=True):
    """`text` is empty when there is nothing to list; `cut` are skills in it without their descriptions."""

    text: str
    names: tuple[str, ...]
    cut: tuple[str, ...] = ()

    def diagnostics(self, view: View) -> tuple[Diagnostic, ...]:
        """A warning for each skill that was cut; after a few, one for all others."""
        every = _items(view)
        cut = [name for name in self.cut if name in every]
        said = {name: f"The description of `{name}` does not fit" for name in cut[:_NAMED]}
        if len(cut) > _NAMED:
            rest = cut[_NAMED]
            said[rest] = f"The descriptions of {len(cut) - _NAMED} more skills, from `{rest}` on, do not fit"
        return tuple(
            Diagnostic(
                "LIST001",
                "warning",
                f"{what} in the listing; the model sees only the name.",
                every[name].origin,
                hint="Shorten descriptions, hide skills from the model, or raise skillListingBudgetFraction.",
            )
            for name, what in said.items()
        )


def listable(view: View, active_paths: Collection[str] = ()) -> dict[str, Invocable]:
    """Skills and commands that the model may load, in order of name.

    A skill with `paths` appears only after a file matched (its name is in `active_paths`). `skillOverrides`
    can hide a skill, or leave only its name.
    """
    overrides = _overrides(view)
    return {
        name: item
        for name, item in sorted(_items(view).items())
        if item.model_invocable
        and overrides.get(name) not in ("off", "user-invocable-only")
        and (not item.paths or name in active_paths)
    }


def make_listing(
    view: View,
    *,
    window: int | None,
    env: Mapping[str, str] | None = None,
    used: Callable[[], Mapping[str, int]] = dict,
    active_paths: Collection[str] = (),
) -> Listing:
    """Fill the budget: every name, then descriptions, the most loaded skills first, then by name. `used`
    gives the number of loads; it is called only when not everything fits."""
    items = listable(view, active_paths)
    if not items:
        return Listing("", ())
    names_only = {name for name, value in _overrides(view).items() if value == "name-only"}
    longest = _number(view.project.setting("skillListingMaxDescChars"), LISTING_DESCRIPTION_CHARS)
    entries = {
        name: Entry(name, "" if name in names_only else description(item)[:longest], item)
        for name, item in items.items()
    }
    room = budget(view, window, env or os.environ) - sum(len(name) + 3 for name in entries)
    shown: set[str] = set()
    fits = sum(len(entry.text) + 2 for entry in entries.values() if entry.text) <= room
    loads = {} if fits else used()
    for entry in sorted(entries.values(), key=lambda one: (-loads.get(one.name, 0), one.name)):
        cost = len(entry.text) + 2
        if entry.text and cost <= room:
            room -= cost
            shown.add(entry.name)
    lines = [_line(entry, entry.name in shown) for entry in entries.values()]
    cut = tuple(name for name, entry in entries.items() if entry.text and name not in shown)
    return Listing("\n".join([_HEAD, *lines]), tuple(entries), cut)


def budget(view: View, window: int | None, env: Mapping[str, str]) -> int:
    """Characters for the listing: a fixed number from the environment, else a share of the window."""
    fixed = env.get("SLASH_COMMAND_TOOL_CHAR_BUDGET", "")
    if fixed.isdigit():
        return int(fixed)
    if window is None:
        return LISTING_BUDGET_CHARS
    share = view.project.setting("skillListingBudgetFraction")
    fraction = share if isinstance(share, int | float) and 0 < share <= 1 else LISTING_BUDGET_FRACTION
    return int(window * fraction * _CHARS_PER_TOKEN)


def description(item: Invocable) -> str:
    """The text that says when to use it: its description or its first paragraph, and `when_to_use`."""
    text = item.description or _first_paragraph(item.body)
    joined = f"{text} {item.when_to_use}" if item.when_to_use else text
    return " ".join(joined.split())


def _first_paragraph(body: str) -> str:
    for block in body.strip().split("\n\n"):
        text = block.strip()
        if text and not text.startswith(("#", "```", "---", "<!--")):
            return text
    return ""


def _items(view: View) -> dict[str, Invocable]:
    return {**view.commands, **view.skills}


def _overrides(view: View) -> dict[str, str]:
    """`skillOverrides`, which does not reach the skills of plugins."""
    found = view.project.setting("skillOverrides")
    if not isinstance(found, dict):
        return {}
    plugins = {name for name, item in _items(view).items() if item.plugin}
    return {str(name): str(value) for name, value in found.items() if name not in plugins}


def _line(entry: Entry, described: bool) -> str:
    return f"- {entry.name}: {entry.text}" if described else f"- {entry.name}"


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default
