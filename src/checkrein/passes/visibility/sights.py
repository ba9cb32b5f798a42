"""Which skills and commands a session sees. One pure function; the View, `show`, `why`, workers and session
directories take their answer from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.items import Invocable
from checkrein.model.project import Governance, Tier
from checkrein.model.view import Visibility
from checkrein.passes.visibility.closures import closure

Rule = Literal["managed", "tier", "cook", "target", "dependency", "subset", "pack", "other-skill"]


class Sight(Struct, frozen=True, kw_only=True):
    """What a session has of one skill. `is_quiet`: only a user may invoke it, not the model. `rule` decided;
    `reason` is a sentence about it, and `origin` the place in the configuration, if it is one."""

    name: str
    tier: Tier
    categories: tuple[str, ...]
    is_visible: bool
    is_quiet: bool = False
    rule: Rule
    reason: str
    origin: Origin | None = None


def sights(
    items: Mapping[str, Invocable], rules: Visibility, default_tiers: Mapping[str, Tier]
) -> dict[str, Sight]:
    """Total: every item has a sight. `default_tiers` are the tiers of skills that are not in tier 1 by
    themselves; the configuration wins over them."""
    reached: frozenset[str] = frozenset()
    if rules.mode == "headless" and rules.target is not None:
        reached = closure(rules.target, items)
    return {
        name: _sight(item, rules, default_tiers.get(name, 1), name in reached) for name, item in items.items()
    }


def _sight(item: Invocable, rules: Visibility, default: Tier, reached: bool) -> Sight:
    governance = rules.governance
    placed = governance.tiers.get(item.name)
    tier = default if placed is None else placed.tier
    categories = categories_of(item, governance)

    def shown(rule: Rule, reason: str, *, quiet: bool = False, origin: Origin | None = None) -> Sight:
        return Sight(
            name=item.name,
            tier=tier,
            categories=categories,
            is_visible=True,
            is_quiet=quiet,
            rule=rule,
            reason=reason,
            origin=origin,
        )

    def hidden(rule: Rule, reason: str, origin: Origin | None) -> Sight:
        return Sight(
            name=item.name,
            tier=tier,
            categories=categories,
            is_visible=False,
            rule=rule,
            reason=reason,
            origin=origin,
        )

    if item.origin.scope == "managed":
        return shown("managed", "every session sees the administrator's skills")
    if rules.mode == "cook":
        return shown("cook", "a cook session sees every skill, of all tiers and subsets")
    off = next((one for one in categories if one in governance.disabled), None)
    if off is not None:
        reason = f"the subset `{off}` is disabled (subsets.disabled)"
        return hidden("subset", reason, governance.origins.get("subsets.disabled"))
    pack = next((one for one in categories if one in closed_packs(rules)), None)
    if pack is not None:
        reason = f"the pack `{pack}` is off by default; name it in packs.enabled"
        return hidden("pack", reason, governance.origins.get("packs.enabled"))
    place = None if placed is None else placed.origin
    said = f"it is in tier {tier}"
    if tier == 1:
        return shown("tier", f"{said}, which every session sees", origin=place)
    if rules.mode == "plain":
        return hidden("tier", f"{said}; a plain session sees tier 1", place)
    if item.name == rules.target:
        return shown("target", "it is the skill that the worker runs")
    if reached:
        return shown("dependency", f"`{rules.target}` needs it (activate_deps)")
    if tier == 2:
        reason = f"{said}: a worker may be told to use it, but its model can't choose it"
        return shown("other-skill", reason, quiet=True, origin=place)
    return hidden("other-skill", f"{said}, and the worker's skill does not name it (activate_deps)", place)


def categories_of(item: Invocable, governance: Governance) -> tuple[str, ...]:
    """The categories in its file, then the custom tags that name it."""
    tagged = (tag for tag, names in governance.custom_tags.items() if item.name in names)
    return tuple(dict.fromkeys((*item.categories, *tagged)))


def closed_packs(rules: Visibility) -> frozenset[str]:
    """The packs that are off by default and that nothing switches on."""
    return rules.governance.packs - set(rules.governance.enabled) - rules.requires_packs


def hidden_names(found: Iterable[Sight]) -> frozenset[str]:
    return frozenset(one.name for one in found if not one.is_visible)


def quiet_names(found: Iterable[Sight]) -> frozenset[str]:
    return frozenset(one.name for one in found if one.is_quiet)


def disabled_subsets(rules: Visibility) -> frozenset[str]:
    """What is off for tools: an explicit disable wins over a pack that is switched on."""
    return frozenset(rules.governance.disabled) | closed_packs(rules)
