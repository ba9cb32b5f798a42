"""`checkrein deploy`: write the project for other agents, and list the losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.cli.writer_args import DEGRADE_ARG, PROFILE_ARG, STRICT_ARG

if TYPE_CHECKING:
    from checkrein.base.origin import Scope
    from checkrein.deploy.deploy import Deployment
    from checkrein.deploy.plan import Plan


class Step(Struct, frozen=True, omit_defaults=True):
    """`held` are the keys of a shared file that deploy leaves as they are."""

    path: str
    action: str
    targets: tuple[str, ...]
    held: tuple[str, ...] = ()


class Agent(Struct, frozen=True):
    """One row of --list."""

    name: str
    label: str
    commands: str | None
    takes: tuple[str, ...]


class Payload(Struct, frozen=True, omit_defaults=True):
    """`applied` is false for --check, --dry-run, --diff and when deploy refused.

    `variables` are those that replace secrets, each with the item and field that it is for. `note` says
    what the project has, if there is nothing to write, and that an error stopped it.
    """

    root: str
    targets: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    applied: bool = False
    stale: bool = False
    losses: tuple[Diagnostic, ...] = ()
    counts: dict[str, int] = {}
    variables: dict[str, str] = {}
    note: str = ""
    diff: str = ""
    report: dict[str, Any] | None = None
    agents: tuple[Agent, ...] = ()


class Given(Struct, frozen=True, kw_only=True):
    to: tuple[str, ...]
    project: str
    check: bool
    dry_run: bool
    diff: bool
    undo: bool
    report: bool
    html: str | None
    list_: bool
    scope: tuple[str, ...]
    degrade: bool
    profile: str | None
    layout: str
    command_dir: str | None
    prefer: str | None
    force: bool
    strict: bool
    plugin: tuple[str, ...]


COMMAND = Command(
    name="deploy",
    summary="Write the project for other agents, and list what each can't take.",
    args=(
        Arg(
            name="to",
            flags=("--to",),
            complete="agents",
            multiple=True,
            metavar="AGENTS",
            help="The agents, separated by commas; `all` for every one. With --undo: only these.",
        ),
        PROJECT_ARG,
        Arg(
            name="check",
            flags=("--check",),
            type="bool",
            help="Write nothing; exit 1 when the tree is stale.",
        ),
        Arg(
            name="dry_run",
            flags=("--dry-run",),
            type="bool",
            help="Write nothing; print what deploy would do.",
        ),
        Arg(name="diff", flags=("--diff",), type="bool", help="Write nothing; print the difference."),
        Arg(
            name="undo",
            flags=("--undo",),
            type="bool",
            help="Take back the deployed files that nobody edited.",
        ),
        Arg(
            name="report",
            flags=("--report",),
            type="bool",
            help="Write nothing; print a matrix of what each agent keeps.",
        ),
        Arg(name="html", flags=("--html",), metavar="FILE", help="With --report: write it as a page."),
        Arg(name="list_", flags=("--list",), type="bool", help="List the agents."),
        Arg(
            name="scope",
            flags=("--scope",),
            multiple=True,
            metavar="SCOPES",
            help="Scopes to deploy: project (the default), local, user.",
        ),
        Arg(
            name="plugin",
            flags=("--plugin",),
            multiple=True,
            metavar="PLUGIN",
            help="Deploy this plugin, by directory or name, in place of the project's scope.",
        ),
        DEGRADE_ARG,
        PROFILE_ARG,
        Arg(
            name="layout",
            flags=("--layout",),
            type="choice",
            choices=("agents", "skills"),
            default="agents",
            help="Where Copilot gets commands: agent files, or skills.",
        ),
        Arg(
            name="command_dir",
            flags=("--command-dir",),
            metavar="DIR",
            help="Where the agent `generic` reads commands.",
        ),
        Arg(
            name="prefer",
            flags=("--prefer",),
            metavar="AGENT",
            help="The agent that gets a path that several agents share.",
        ),
        Arg(
            name="force",
            flags=("--force",),
            type="bool",
            help="Overwrite files that were edited or that Checkrein did not write.",
        ),
        STRICT_ARG,
    ),
    payload=Payload,
    errors=(
        "project_not_found",
        "plugin_not_found",
        "agent_unknown",
        "manifest_unreadable",
        "deploy_refused",
        "deploy_failed",
        "tree_changed",
        "path_refused",
    ),
    exits=((0, "done, or up to date"), (1, "stale, refused, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein deploy --to copilot,codex", "write the files of both"),
        ("checkrein deploy --to all --report", "what each agent would lose"),
        ("checkrein deploy --to codex --check", "fail in CI when the files are stale"),
        ("checkrein deploy --to codex --strict", "refuse when a deny or ask rule would not hold"),
        ("checkrein deploy --to codex --plugin ./plugins/review", "deploy a plugin"),
        ("checkrein deploy --undo", "take everything back"),
    ),
)


def run(given: Given) -> Outcome:
    if given.list_:
        return _list()
    import os

    from checkrein.base.errors import UsageError

    to, project, check = given.to, given.project, given.check
    require(project)
    if given.undo:
        return _undo(project, to, dry_run=given.dry_run or check, diff=given.diff)
    if not to:
        raise UsageError("Name the agents with --to.", hint="`checkrein deploy --list` prints them")
    from checkrein.deploy.deploy import prepare
    from checkrein.deploy.diff import unified_diff
    from checkrein.deploy.targets import chosen_targets
    from checkrein.passes.load import load

    targets = chosen_targets(to)
    from checkrein.deploy.configured import configured
    from checkrein.deploy.plugin_parts import find_plugin

    named = [name for name in given.plugin if os.path.isdir(name)]
    loaded = load(project, plugin_dirs=[os.path.abspath(name) for name in named])
    plugins = tuple(find_plugin(loaded, name) for name in given.plugin)
    options = configured(
        loaded.place.root,
        profile=given.profile,
        degrade=given.degrade,
        skills_layout=given.layout == "skills",
        command_dir=given.command_dir,
    )
    preferred = chosen_targets((given.prefer,))[0].key if given.prefer else None
    scopes = () if plugins and not given.scope else _scopes(given.scope)
    prepared = prepare(
        loaded,
        targets,
        options,
        scopes=scopes,
        prefer=preferred,
        force=given.force,
        strict=given.strict,
        plugins=plugins,
    )
    if given.report:
        return _report(prepared, given.html)
    names = tuple(target.key for target in targets)
    difference = unified_diff(prepared.paths, prepared.plan) if given.diff else ""
    look_only = check or given.dry_run or given.diff
    status = 1 if (prepared.plan.stale if check else prepared.plan.errors) else 0
    applied = False
    if not look_only and not prepared.plan.errors:
        from checkrein.deploy.apply import apply_plan

        apply_plan(prepared.paths, prepared.plan)
        applied = True
        status = 1 if prepared.plan.blocked else 0
    from checkrein.deploy.found import what_was_found
    from checkrein.deploy.report import variables

    note = "" if prepared.plan.changes else what_was_found(loaded, prepared.gathered, prepared.written)
    if prepared.plan.changes and prepared.plan.errors and not look_only:
        note = "Nothing was written: correct the errors first."
    asked = variables(prepared.written)
    return _answer(prepared.gathered.root, names, prepared.plan, applied, difference, status, asked, note)


def _scopes(names: tuple[str, ...]) -> tuple[Scope, ...]:
    from checkrein.base.errors import UsageError
    from checkrein.deploy.gather import PROJECT_SCOPE

    allowed: dict[str, Scope] = {"project": "project", "local": "local", "user": "user"}
    chosen: list[Scope] = []
    for name in (part.strip() for text in names for part in text.split(",")):
        if name not in allowed:
            raise UsageError(f"{name!r} is not a scope that deploy knows.", hint="use project, local or user")
        chosen.append(allowed[name])
    return tuple(chosen) or PROJECT_SCOPE


def _undo(project: str, to: tuple[str, ...], *, dry_run: bool, diff: bool) -> Outcome:
    import os
    from pathlib import Path

    from checkrein.deploy.apply import apply_plan
    from checkrein.deploy.diff import unified_diff
    from checkrein.deploy.manifest import load_manifest
    from checkrein.deploy.paths import Paths
    from checkrein.deploy.plan import plan_undo
    from checkrein.deploy.targets import chosen_targets
    from checkrein.dialects.claude.place import locate

    root = Path(locate(project, env=os.environ).place.root)
    paths = Paths(root)
    names = tuple(target.key for target in chosen_targets(to)) if to else None
    plan = plan_undo(paths, load_manifest(root), names)
    difference = unified_diff(paths, plan) if diff else ""
    applied = not (dry_run or diff)
    if applied:
        apply_plan(paths, plan)
    return _answer(str(root), names or (), plan, applied, difference, 0)


def _answer(
    root: str,
    names: tuple[str, ...],
    plan: Plan,
    applied: bool,
    difference: str,
    status: int,
    asked: dict[str, str] | None = None,
    note: str = "",
) -> Outcome:
    from collections import Counter

    steps = tuple(Step(change.path, change.action, change.targets, change.held) for change in plan.changes)
    counts: dict[str, int] = dict(sorted(Counter(str(change.action) for change in plan.changes).items()))
    payload = Payload(
        root,
        names,
        steps,
        applied,
        plan.stale and not applied,
        plan.diagnostics,
        counts,
        asked or {},
        note,
        difference,
    )

    def text() -> str:
        from checkrein.cli import deploy_text

        return deploy_text.answer(payload)

    return Outcome(data=payload, text=text, status=status)


def _report(prepared: Deployment, html: str | None) -> Outcome:
    import msgspec

    from checkrein.deploy.report import make_matrix, matrix_html, matrix_text, variables
    from checkrein.dialects.generic.written import is_guard

    root = prepared.gathered.root
    matrix = make_matrix(prepared.written, root)
    if html is not None:
        from pathlib import Path

        from checkrein.base.files import write_atomic

        write_atomic(Path(html), matrix_html(matrix))
    payload = Payload(
        root, matrix.targets, variables=variables(prepared.written), report=msgspec.to_builtins(matrix)
    )
    refused = any(loss.severity == "error" for loss in prepared.losses if is_guard(loss))
    return Outcome(data=payload, text=lambda: matrix_text(matrix), status=1 if refused else 0)


def _list() -> Outcome:
    from checkrein.facts.agents import targets

    surfaces = ("skills", "agents", "instructions", "hooks", "servers", "rules")
    rows = tuple(
        Agent(
            key,
            row.label,
            None if row.command is None else row.command.dir,
            tuple(name for name in surfaces if getattr(row, name) is not None),
        )
        for key, row in targets().items()
    )

    def text() -> str:
        from checkrein.cli import deploy_text

        return deploy_text.agents(rows)

    return Outcome(data=Payload("", agents=rows), text=text)
