"""The skills of a conversation, and what they need from it."""

from __future__ import annotations

from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.call.read_denials import ReadDenials
from checkrein.runtime.context.lazy import LazyContext
from checkrein.runtime.session.configured import configured
from checkrein.runtime.session.conversation import Seat
from checkrein.runtime.session.hookset import skill_hooks
from checkrein.runtime.session.opened import Opened
from checkrein.runtime.session.services import Services
from checkrein.runtime.session.state import State
from checkrein.runtime.skills import usage
from checkrein.runtime.skills.active import ActiveSkills
from checkrein.runtime.skills.effects import Effects
from checkrein.runtime.skills.invoker import Invoker
from checkrein.runtime.skills.kit import SkillKit
from checkrein.runtime.skills.shelf import Shelf


def skill_kit(services: Services, seat: Seat, opened: Opened, host: ToolHost) -> SkillKit:
    state, writer, env = seat.state, opened.writer, services.env
    active, shelf = ActiveSkills(), Shelf(seat.view, services.trust.trusts, ReadDenials(host.gate))
    effects = Effects(
        host.gate,
        state,
        active,
        skill_hooks(seat, host.hooks),
        lambda: host.tools.names(),
        lambda: bool(configured(seat.view.project.place, env, "skills.strict_tools")),
        lambda name: usage.note(name, env),
        lambda names: writer.state(skill_hooks=list(names)),
    )
    invoker = Invoker(
        shelf,
        host,
        lambda: state.turn_effort or state.effort or seat.options.effort,
        effects.apply,
        services.trust.trusts,
    )
    return SkillKit(shelf, active, effects, invoker)


def bring_back(opened: Opened, state: State, skills: SkillKit, lazy: LazyContext) -> None:
    """Bring back what the conversation of a continued session had brought in."""
    skills.active.restore(state.messages)
    lazy.restore(state.messages)
    loaded = dict.fromkeys((*opened.skill_hooks, *skills.active.names))
    skills.effects.restore(item for item in map(skills.shelf.find, loaded) if item is not None)
