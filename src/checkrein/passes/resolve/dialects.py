"""Another agent's files, resolved by names alone: none of our settings, locks or orders apply."""

from __future__ import annotations

from checkrein.model.project import Detection, Place, Project, Sources
from checkrein.passes.resolve import names


def resolve_other(place: Place, sources: Sources, dialect: str) -> Project:
    return Project(
        place=place,
        detection=Detection(dialect, {}, (), (dialect,), "its files are here"),
        skills=names.by_name(sources.skills, lambda _: 0, names.scope_reason),
        commands=names.by_name(sources.commands, lambda _: 0, names.scope_reason),
        agents=names.by_name(sources.agents, lambda _: 0, names.scope_reason),
        servers=names.by_name(sources.servers, lambda _: 0, names.scope_reason),
        hooks=sources.hooks,
        rules=sources.rules,
        instructions=sources.instructions,
        sources=sources,
        diagnostics=sources.diagnostics,
    )
