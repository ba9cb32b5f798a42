"""The visible set of every combination of mode, tier, subsets, packs and overrides, against a table."""

from __future__ import annotations

from itertools import product

import pytest

from checkrein.base.origin import Origin
from checkrein.model.items import Invocable, Skill
from checkrein.model.project import MODES, TIERS, Governance, Placement, SessionMode, Tier
from checkrein.model.view import Visibility
from checkrein.passes.visibility.closures import closure
from checkrein.passes.visibility.configuration import missing_dependencies
from checkrein.passes.visibility.sights import Sight, disabled_subsets, sights

# Who sees a skill that nothing switched off: v visible, q visible but not for the model to choose, - hidden.
BY_TIER = {
    # mode, relation to the worker's skill:  tier 1  2  3
    ("plain", "other"): "v--",
    ("plain", "needed"): "v--",
    ("cook", "other"): "vvv",
    ("cook", "needed"): "vvv",
    ("headless", "other"): "vq-",
    ("headless", "needed"): "vvv",
}
# What hides a skill by its category: each state of the switches, for the four kinds of category.
SWITCHES = {
    # disabled subsets,        packs.enabled, requires_packs:   none  github  tagged  pack
    ((), (), ()): "vvv-",
    ((), ("research",), ()): "vvvv",
    ((), (), ("research",)): "vvvv",
    (("github",), (), ()): "v-v-",
    (("github",), ("research",), ()): "v-vv",
    (("custom",), (), ()): "vv--",
    (("custom",), (), ("research",)): "vv-v",
    (("github", "custom"), (), ()): "v---",
    (("research",), ("research",), ()): "vvv-",
    (("research",), (), ("research",)): "vvv-",
    (("github", "custom", "research"), ("research",), ("research",)): "v---",
}
# Which modes the switches bind, and which skills: an administrator's skill is never hidden.
BOUND_BY_SWITCHES: dict[SessionMode, bool] = {"plain": True, "cook": False, "headless": True}
KINDS = ("none", "github", "tagged", "pack")
CATEGORIES = {"none": (), "github": ("github",), "tagged": (), "pack": ("research",)}
RELATIONS = ("other", "needed")
ROOT = "root"


def skill(name: str, kind: str = "none", *, scope: str = "bundled", deps: tuple[str, ...] = ()) -> Skill:
    origin = Origin(f"/skills/{name}/SKILL.md", scope)  # type: ignore[arg-type]
    directory = f"/skills/{name}"
    return Skill(
        name=name, origin=origin, directory=directory, categories=CATEGORIES[kind], activate_deps=deps
    )


def named(tier: Tier, kind: str, relation: str) -> str:
    return f"{relation}-{kind}-{tier}"


CELLS = tuple(product(TIERS, KINDS, RELATIONS))


def world(scope: str) -> dict[str, Invocable]:
    needed = tuple(named(tier, kind, "needed") for tier, kind in product(TIERS, KINDS))
    items: dict[str, Invocable] = {ROOT: skill(ROOT, scope=scope, deps=needed)}
    for tier, kind, relation in CELLS:
        name = named(tier, kind, relation)
        items[name] = skill(name, kind, scope=scope)
    return items


def rules(mode: SessionMode, switches: tuple[tuple[str, ...], ...], *, configured: bool) -> Visibility:
    disabled, enabled, required = switches
    place = Origin("/checkrein.toml", "project")
    tiers = {named(t, k, r): Placement(t, place) for t, k, r in CELLS} if configured else {}
    tagged = tuple(named(tier, "tagged", relation) for tier, relation in product(TIERS, RELATIONS))
    return Visibility(
        governance=Governance(
            tiers=tiers,
            disabled=disabled,
            enabled=enabled,
            packs=frozenset({"research"}),
            custom_tags={"custom": tagged},
        ),
        mode=mode,
        target=ROOT if mode == "headless" else None,
        requires_packs=frozenset(required),
    )


def mark(sight: Sight) -> str:
    return "-" if not sight.is_visible else "q" if sight.is_quiet else "v"


def expected(
    mode: SessionMode, tier: Tier, kind: str, relation: str, switches: tuple[tuple[str, ...], ...]
) -> str:
    if BOUND_BY_SWITCHES[mode] and SWITCHES[switches][KINDS.index(kind)] == "-":
        return "-"
    return BY_TIER[mode, relation][tier - 1]


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("mode", MODES)
def test_the_visible_set_is_the_tables(mode: SessionMode, switches: tuple[tuple[str, ...], ...]) -> None:
    """Bundled skills in their own tiers, the same moved by the configuration, and overrides of a project."""
    of = rules(mode, switches, configured=False)
    moved = rules(mode, switches, configured=True)
    own: dict[str, Tier] = {named(t, k, r): t for t, k, r in CELLS}
    bundled = sights(world("bundled"), of, own)
    placed = sights(world("bundled"), moved, dict.fromkeys(own, 2))
    override = sights(world("project"), of, {})
    placed_override = sights(world("project"), moved, {})
    managed = sights(world("managed"), moved, {})
    for tier, kind, relation in CELLS:
        name = named(tier, kind, relation)
        row = expected(mode, tier, kind, relation, switches)
        assert mark(bundled[name]) == row, name
        assert mark(placed[name]) == row, f"{name}, moved by the configuration"
        assert mark(placed_override[name]) == row, f"{name}, an override that the configuration moved"
        assert mark(override[name]) == expected(mode, 1, kind, relation, switches), f"{name}, an override"
        assert mark(managed[name]) == "v", f"{name}, managed"


def test_every_hidden_skill_has_a_rule_and_a_reason() -> None:
    for mode, switches in product(MODES, SWITCHES):
        found = sights(world("project"), rules(mode, switches, configured=True), {})
        for sight in found.values():
            assert sight.reason
            if not sight.is_visible:
                assert sight.rule in ("tier", "subset", "pack", "other-skill")


def test_req_pack_004_an_explicit_disable_wins_over_packs_and_recipes() -> None:
    both = rules("plain", (("research",), ("research",), ("research",)), configured=False)
    found = sights({"one": skill("one", "pack", scope="project")}, both, {})
    assert (found["one"].is_visible, found["one"].rule) == (False, "subset")
    assert disabled_subsets(both) == {"research"}


def test_a_closure_is_safe_against_cycles_and_reports_unknown_names() -> None:
    items: dict[str, Invocable] = {
        "a": skill("a", deps=("b", "github", "gone")),
        "b": skill("b", deps=("a", "b")),
        "c": skill("c", "github", deps=("lost",)),
        "d": skill("d"),
    }
    assert closure("a", items) == {"a", "b", "c"}
    assert closure("nothing", items) == frozenset()
    told = [(one.origin.file, one.message) for one in missing_dependencies(items)]
    assert [file for file, _ in told] == ["/skills/a/SKILL.md", "/skills/c/SKILL.md"]
    assert ["`gone`" in told[0][1], "`lost`" in told[1][1]] == [True, True]


def test_a_dependency_that_is_a_skill_and_a_category_means_the_skill() -> None:
    items: dict[str, Invocable] = {
        "a": skill("a", deps=("github",)),
        "github": skill("github"),
        "c": skill("c", "github"),
    }
    assert closure("a", items) == {"a", "github"}


def test_a_disabled_target_stays_hidden_from_its_own_worker() -> None:
    items: dict[str, Invocable] = {"a": skill("a", "github", scope="project")}
    of = Visibility(governance=Governance(disabled=("github",)), mode="headless", target="a")
    assert not sights(items, of, {"a": 2})["a"].is_visible
