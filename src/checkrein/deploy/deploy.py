"""From a project and the names of agents to a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Scope
from checkrein.deploy.apply import Applied, apply_plan
from checkrein.deploy.gather import PROJECT_SCOPE, Gathered, gather, relative
from checkrein.deploy.manifest import load_manifest
from checkrein.deploy.paths import Paths
from checkrein.deploy.plan import Plan, make_plan
from checkrein.deploy.plugin_parts import own_plugins
from checkrein.deploy.secrets import secrets_in_texts
from checkrein.deploy.targets import chosen_targets, writer
from checkrein.dialects.generic.written import Options, Written, guards_first
from checkrein.facts.agents import Target
from checkrein.model.items import Agent, Invocable
from checkrein.model.project import Project


class Deployment(Struct, frozen=True):
    """Everything a screen, a report or apply needs. `applied` is None until deploy has written the files."""

    paths: Paths
    gathered: Gathered
    written: Mapping[str, Written]
    plan: Plan
    applied: Applied | None = None

    @property
    def losses(self) -> tuple[Diagnostic, ...]:
        """What the agents do not get, and which conflicts stop the deploy."""
        return self.plan.diagnostics


def deploy_project(
    project: Project | str | PathLike[str],
    to: str | Sequence[str],
    *,
    options: Options | None = None,
    scopes: Collection[Scope] = PROJECT_SCOPE,
    prefer: str | None = None,
    force: bool = False,
    strict: bool = False,
    dry_run: bool = False,
) -> Deployment:
    """Write a project out for other agents (`codex`, `copilot,gemini`, `all`), as `checkrein deploy` does.

    Files that somebody else wrote or edited stay, unless `force`. `strict` refuses when a deny or ask rule
    would not hold in an agent. `dry_run` writes nothing. Raises UsageError for an unknown agent, PolicyError
    when a conflict or `strict` stops it.
    """
    if not isinstance(project, Project):
        from checkrein.passes.load import load

        project = load(project)
    targets = chosen_targets((to,) if isinstance(to, str) else to)
    prepared = prepare(project, targets, options, scopes=scopes, prefer=prefer, force=force, strict=strict)
    if dry_run:
        return prepared
    return replace(prepared, applied=apply_plan(prepared.paths, prepared.plan))


def prepare(
    project: Project,
    targets: Sequence[Target],
    options: Options | None = None,
    *,
    scopes: Collection[Scope] = PROJECT_SCOPE,
    prefer: str | None = None,
    force: bool = False,
    strict: bool = False,
    plugins: Collection[str] = (),
) -> Deployment:
    """Write everything in memory and plan what it means for the tree. This touches nothing on disk.

    `plugins` are directories of plugins to deploy; without any, the project itself if it is one.
    """
    manifest = load_manifest(Path(project.place.root))
    gathered = gather(project, scopes, manifest.files, plugins or own_plugins(project))
    chosen = replace(options or Options(), root=gathered.root, attachments=gathered.attachments)
    written = {target.key: writer(target)(gathered.sources, chosen) for target in targets}
    paths = Paths(Path(gathered.root))
    plan = make_plan(paths, written, manifest, sources=gathered.files, prefer=prefer, force=force)
    secrets = secrets_in_texts(gathered.sources, gathered.attachments)
    found = (*gathered.diagnostics, *secrets, *plan.diagnostics, *_untranslated(gathered, plan))
    ranked = guards_first(found, strict=strict)
    return Deployment(paths, gathered, written, replace(plan, diagnostics=ranked))


def _untranslated(gathered: Gathered, plan: Plan) -> list[Diagnostic]:
    """Warn of sources where the agent reads them: deploy can't translate their `behavior` in place."""
    held = {change.path for change in plan.changes if change.action == "source"}
    sources = gathered.sources
    neutral: tuple[Invocable | Agent, ...] = (*sources.skills, *sources.commands, *sources.agents)
    return [
        Diagnostic(
            "DEP006",
            "warning",
            f"The agent reads {relative(item.origin.file, gathered.root)} as it is"
            " and ignores its `behavior` and `agents`",
            item.origin,
            hint="keep the neutral file elsewhere, for example in a spec-kit extension",
        )
        for item in neutral
        if (item.behavior or item.agents) and relative(item.origin.file, gathered.root) in held
    ]
