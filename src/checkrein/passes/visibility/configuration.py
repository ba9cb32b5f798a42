"""Checkrein's own configuration of visibility -> Governance, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from checkrein.base.config import Config, load_config
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.home import checkrein_home
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.facts.codes import CODES
from checkrein.facts.config import KEYS
from checkrein.facts.kitchen import categories
from checkrein.model.project import TIERS, Governance, Placement
from checkrein.passes.visibility.bundled_skills import bundled_names
from checkrein.passes.visibility.closures import members_of
from checkrein.passes.visibility.session_view import default_governance, invocables

if TYPE_CHECKING:
    from checkrein.model.items import Invocable
    from checkrein.model.project import Place, Project

_SECTIONS = ("skills.tier", "subsets.", "packs.")
_NOWHERE = Origin("<environment>", "cli")


def read_governance(place: Place, env: Mapping[str, str]) -> Governance | None:
    """None where no layer sets one of the keys."""
    keys = [key for key in KEYS if key.name.startswith(_SECTIONS)]
    config = load_config(keys, Path(place.root), checkrein_home(env), env)
    if not config.layers:
        return None
    placements = _placements(config)
    default = default_governance()
    return Governance(
        tiers={name: found[0] for name, found in placements.items()},
        contested={name: tuple(found) for name, found in placements.items() if len(found) > 1},
        disabled=tuple(config.get("subsets.disabled")),
        custom_tags={tag: tuple(names) for tag, names in config.get("subsets.custom_tags").items()},
        packs=default.packs,
        enabled=tuple(config.get("packs.enabled")),
        origins={name: held.origin for name, held in config.values.items() if held.origin is not None},
    )


def _placements(config: Config) -> dict[str, list[Placement]]:
    found: dict[str, list[Placement]] = {}
    for tier in TIERS:
        held = config.values[f"skills.tier{tier}"]
        for name in dict.fromkeys(held.value):
            found.setdefault(name, []).append(Placement(tier, held.origin or _NOWHERE))
    return found


def problems(project: Project, governance: Governance | None) -> Iterator[Diagnostic]:
    """Skills in several tiers, and names that nothing has. A session starts in spite of the latter."""
    items = invocables(project)
    yield from missing_dependencies(items)
    if governance is None:
        return
    for name, placements in governance.contested.items():
        tiers = " and ".join(f"skills.tier{one.tier}" for one in placements)
        yield _finding("VIS001", f"The skill `{name}` is in {tiers}", placements[0].origin)
    for name, placed in governance.tiers.items():
        if name not in items:
            yield _unknown_skill(name, f"skills.tier{placed.tier}", placed.origin, items)
    for tag, names in governance.custom_tags.items():
        for name in names:
            if name not in items:
                key = "subsets.custom_tags"
                yield _unknown_skill(name, f"{key}.{tag}", governance.origins.get(key, _NOWHERE), items)
    known = {
        *categories(),
        *governance.custom_tags,
        *(one for item in items.values() for one in item.categories),
    }
    for key, listed in (("subsets.disabled", governance.disabled), ("packs.enabled", governance.enabled)):
        for name in listed:
            if name not in known:
                message = f"`{key}` names `{name}`, which is no category and no custom tag."
                place = governance.origins.get(key, _NOWHERE)
                yield _finding("VIS003", message + did_you_mean(name, known), place)


def _unknown_skill(name: str, key: str, origin: Origin, known: Iterable[str]) -> Diagnostic:
    message = f"`{key}` names `{name}`, which is no skill here.{did_you_mean(name, known)}"
    return _finding("VIS002", message, origin)


def missing_dependencies(items: Mapping[str, Invocable]) -> Iterator[Diagnostic]:
    known = {*items, *categories(), *bundled_names()}
    for item in items.values():
        for name in item.activate_deps:
            if name not in known and not list(members_of(name, items)):
                message = f"`{item.name}` needs `{name}`, which is no skill and no category here."
                yield _finding("VIS004", message + did_you_mean(name, known), item.where("activate_deps"))


def _finding(code: str, message: str, origin: Origin) -> Diagnostic:
    entry = CODES[code]
    return Diagnostic(code, entry.severity, message, origin, reason=entry.why, hint=entry.hint)
