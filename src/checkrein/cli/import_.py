"""`checkrein import`: turn another agent's project into a Claude Code project."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.cli.deploy import Step
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require


class Payload(Struct, frozen=True, omit_defaults=True):
    """`counts` is the number of items read, by kind."""

    root: str
    agent: str
    counts: dict[str, int]
    steps: tuple[Step, ...] = ()
    applied: bool = False
    losses: tuple[Diagnostic, ...] = ()


COMMAND = Command(
    name="import",
    summary="Read the project of another agent and write it as .claude files, CLAUDE.md and .mcp.json.",
    args=(
        Arg(
            name="from_",
            flags=("--from",),
            required=True,
            metavar="AGENT",
            help="copilot, codex, gemini, opencode or cursor.",
        ),
        PROJECT_ARG,
        Arg(
            name="dry_run",
            flags=("--dry-run",),
            type="bool",
            help="Write nothing; print what import would write.",
        ),
        Arg(name="force", flags=("--force",), type="bool", help="Overwrite existing files."),
    ),
    payload=Payload,
    errors=(
        "project_not_found",
        "agent_unknown",
        "deploy_refused",
        "deploy_failed",
        "path_refused",
        "tree_changed",
    ),
    exits=((0, "done"), (1, "nothing found, something in the way, or an error"), (2, "wrong usage")),
    examples=(("checkrein import --from cursor --dry-run", "what would be written"),),
)

_KINDS = ("instructions", "skills", "commands", "agents", "hooks", "rules", "servers")


def run(from_: str, project: str, dry_run: bool, force: bool) -> Outcome:
    import os
    from pathlib import Path

    from checkrein.deploy.apply import apply_plan
    from checkrein.deploy.gather import read_attachments
    from checkrein.deploy.manifest import Manifest, load_manifest
    from checkrein.deploy.paths import Paths
    from checkrein.deploy.plan import make_plan
    from checkrein.deploy.sources import source, without_ours
    from checkrein.deploy.targets import chosen_targets, writer
    from checkrein.dialects.codes import Log
    from checkrein.dialects.collection import collect
    from checkrein.dialects.generic.written import Options

    require(project)
    root = os.path.realpath(project)
    files, read = source(from_, root)
    log = Log((root,))
    ours = load_manifest(Path(root)).files
    sources = read(dict(without_ours(collect(root, files, log), ours)), root)
    attachments = {
        skill.directory: tuple(read_attachments(skill.directory, log, log.within)) for skill in sources.skills
    }
    target = chosen_targets(("claude",))[0]
    options = Options(root=root, neutral=True, attachments=attachments)
    written = writer(target)(sources, options)
    paths = Paths(Path(root))
    plan = make_plan(paths, {target.key: written}, Manifest(), force=force)
    applied = not dry_run and not plan.errors
    if applied:
        apply_plan(paths, plan, record=False)
    counts = {kind: len(getattr(sources, kind)) for kind in _KINDS if getattr(sources, kind)}
    losses = (*sources.diagnostics, *log, *plan.diagnostics)
    steps = tuple(Step(change.path, change.action, change.targets, change.held) for change in plan.changes)
    payload = Payload(root, from_, counts, steps, applied, losses)

    def text() -> str:
        from checkrein.cli import deploy_text

        return deploy_text.imported(payload)

    return Outcome(data=payload, text=text, status=1 if plan.errors or plan.blocked or not counts else 0)
