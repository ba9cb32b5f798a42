"""The gate before a run: a recipe that needs something switched off is refused before any step starts.

`enabled_once` opens exactly what the recipe needs and nothing else; an explicit `subsets.disabled` is not
undone by `requires_packs` of a recipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.facts.kitchen import kitchen_tools
from checkrein.facts.recipe_codes import recipe_finding
from checkrein.model.items import Invocable
from checkrein.model.project import Governance
from checkrein.model.recipe import Recipe, Step
from checkrein.model.view import Visibility
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.routes import every_step
from checkrein.passes.visibility.session_view import governance_of, invocables
from checkrein.passes.visibility.sights import categories_of, disabled_subsets


class Need(Struct, frozen=True, kw_only=True):
    """A skill, a tool or a pack that a recipe needs, and the `subset` that is off. `switch` is the place in
    the configuration that says so, if one does."""

    kind: Literal["skill", "tool", "pack"]
    name: str
    subset: str
    origin: Origin
    switch: Origin | None = None


def needs(recipe: Recipe, library: Library, governance: Governance | None = None) -> tuple[Need, ...]:
    """What a recipe needs and the configuration hides from its run, in the order of the file."""
    rules = governance or governance_of(library.project)
    closed = disabled_subsets(Visibility(governance=rules, mode="headless"))
    found = [*_packs(recipe, closed, rules)]
    closed -= {one.subset for one in found if one.subset not in rules.disabled}
    for step in every_step(recipe):
        found += _of_step(step, library, closed, rules)
    return tuple(dict.fromkeys(found))


def enabled_once(governance: Governance, wanted: Iterable[str]) -> Governance:
    """The configuration for one run: only these subsets and packs are switched on."""
    names = set(wanted)
    return replace(
        governance,
        disabled=tuple(one for one in governance.disabled if one not in names),
        enabled=(*governance.enabled, *sorted(names & governance.packs - set(governance.enabled))),
    )


def refusals(found: Iterable[Need]) -> Iterator[Diagnostic]:
    for one in found:
        what = f"the pack `{one.name}`" if one.kind == "pack" else f"the {one.kind} `{one.name}`"
        key = "packs.enabled" if one.switch is None else "subsets.disabled"
        message = f"The recipe needs {what}, and the subset `{one.subset}` is off"
        hint = f"Run it with --enable-once, or change {key} in the configuration."
        diagnostic = recipe_finding("RECIPE016", message, one.origin, hint)
        yield diagnostic if one.switch is None else replace(diagnostic, related=(one.switch,))


def _packs(recipe: Recipe, closed: frozenset[str], rules: Governance) -> Iterator[Need]:
    """A recipe may ask for packs; a person switches them on."""
    for pack in recipe.requires_packs:
        if pack in closed:
            place = recipe.where("requires_packs")
            yield Need(kind="pack", name=pack, subset=pack, origin=place, switch=_switch(pack, rules))


def _of_step(step: Step, library: Library, closed: frozenset[str], rules: Governance) -> Iterator[Need]:
    tool = kitchen_tools().get(step.tool or "")
    for subset in tool.categories if tool is not None else ():
        if tool is not None and subset in closed:
            yield Need(
                kind="tool",
                name=tool.name,
                subset=subset,
                origin=step.where("tool"),
                switch=_switch(subset, rules),
            )
    item = None if step.skill is None else _skill(step.skill, library)
    if item is None or item.origin.scope == "managed":
        return
    for subset in categories_of(item, rules):
        if subset in closed:
            place = step.where("with.skill_command")
            yield Need(
                kind="skill", name=item.name, subset=subset, origin=place, switch=_switch(subset, rules)
            )


def _switch(subset: str, rules: Governance) -> Origin | None:
    return rules.origins.get("subsets.disabled") if subset in rules.disabled else None


def _skill(name: str, library: Library) -> Invocable | None:
    return invocables(library.project).get(name) or _bundled().get(name)


@cache
def _bundled() -> dict[str, Invocable]:
    from checkrein.passes.visibility.bundled_skills import bundled_skills

    return {skill.name: skill for skill in bundled_skills()}
