"""The View of a session, by the rules of visibility."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from checkrein.base.errors import ConfigError
from checkrein.facts.kitchen import categories
from checkrein.model.items import Invocable
from checkrein.model.project import Governance, Project, SessionMode
from checkrein.model.view import View, Visibility
from checkrein.passes.visibility.bundled_skills import default_tiers
from checkrein.passes.visibility.sights import Sight, hidden_names, quiet_names, sights


def rules_for(
    project: Project,
    mode: SessionMode,
    *,
    target: str | None = None,
    requires_packs: Iterable[str] = (),
) -> Visibility:
    return Visibility(
        governance=governance_of(project),
        mode=mode,
        target=target,
        requires_packs=frozenset(requires_packs),
    )


def governed_view(project: Project, rules: Visibility) -> View:
    """Raises ConfigError when the configuration puts a skill into several tiers: nobody knows whether such a
    session may see it."""
    require_clear(rules.governance)
    return ruled(View(project, rules=rules))


def ruled(view: View) -> View:
    """The view with its rules applied to the skills that its project has now."""
    assert view.rules is not None
    found = sights_of(view.project, view.rules).values()
    return replace(view, hidden=hidden_names(found), quiet=quiet_names(found))


def sights_of(project: Project, rules: Visibility) -> dict[str, Sight]:
    items = invocables(project)
    return sights(items, rules, default_tiers(items.values()))


def sight_under(item: Invocable, project: Project, rules: Visibility) -> Sight:
    """What the rules say about one skill, as if the project had it."""
    items = {**invocables(project), item.name: item}
    return sights(items, rules, default_tiers(items.values()))[item.name]


def refusal_of(view: View, name: str) -> str | None:
    """Why a session may not run a skill of its project; None: it may. Ask before anything starts."""
    item = invocables(view.project).get(name)
    if item is None or view.rules is None:
        return None
    sight = sight_under(item, view.project, view.rules)
    return None if sight.is_visible else sight.reason


def invocables(project: Project) -> dict[str, Invocable]:
    """Skills and commands by name: they are one thing in two places."""
    group: Mapping[str, Invocable] = {name: one.item for name, one in project.commands.items()}
    return {**group, **{name: one.item for name, one in project.skills.items()}}


def governance_of(project: Project) -> Governance:
    """The configuration, or what holds without one."""
    return project.governance or default_governance()


def default_governance() -> Governance:
    return Governance(packs=frozenset(name for name, one in categories().items() if not one.on))


def require_clear(governance: Governance) -> None:
    for name, placements in governance.contested.items():
        tiers = " and ".join(f"skills.tier{one.tier}" for one in placements)
        raise ConfigError(
            f"The skill `{name}` is in {tiers}.",
            kind="skill_in_two_tiers",
            hint="Leave it in one of them.",
            origin=placements[0].origin,
        )
