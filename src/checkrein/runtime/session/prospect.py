"""The situation that a session would have in a project, for judging calls without a session."""

from __future__ import annotations

import os

from msgspec.structs import replace

from checkrein.model.project import Project
from checkrein.passes.tools import added_tools
from checkrein.policy.confined import Confined
from checkrein.policy.situation import NO_TERMS, Situation, Terms, situation
from checkrein.policy.values import KernelLayer
from checkrein.runtime.memory.place import memory_dir, memory_rules
from checkrein.runtime.process.layers import layers_here
from checkrein.runtime.trust import standing


def situation_of(
    project: Project,
    terms: Terms = NO_TERMS,
    *,
    trusted: bool | None = None,
    layers: tuple[KernelLayer, ...] | None = None,
) -> Situation:
    """The situation with this user's trust, this machine's sandbox and layers, and the tools of installed
    packages. `trusted` replaces the user's trust, `layers` those of the machine."""
    trust = standing(project, trusted=trusted is True, distrusted=trusted is False)
    memory = memory_dir(trust.project, os.environ)
    rules = () if memory is None else memory_rules(memory)
    here = layers_here(os.environ)
    met = replace(
        terms,
        rules=(*terms.rules, *rules),
        confined=_confined(trust.project),
        layers=here.held if layers is None else layers,
        unguarded=here.unguarded,
        tools=terms.tools or added_tools(project.place.root).registry(),
    )
    return situation(project, trust, met)


def _confined(project: Project) -> Confined:
    if not any(key.startswith("sandbox.") for key in project.settings):
        return Confined()
    from checkrein.runtime.process.confinement import confinement

    return confinement(project, wanted=False)[0]
