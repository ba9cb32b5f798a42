"""`checkrein compile`: an agent spec as a standalone, tested Python package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli.compile_explain import Explained, explain
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.facts.compile import EXITS, KINDS

if TYPE_CHECKING:
    from checkrein.compile.package import Options
    from checkrein.compile.skill import CompiledSkill


class FileChange(Struct, frozen=True):
    path: str
    action: str


class DialectRow(Struct, frozen=True):
    """One row of --list-dialects."""

    name: str
    level: str
    about: str


class Payload(Struct, frozen=True, omit_defaults=True):
    """`written` is false for --check, --dry-run, --explain and --list-dialects."""

    spec: str = ""
    out: str = ""
    package: str = ""
    runtime: str = ""
    modality: str = ""
    elements: int = 0
    steps: int = 0
    procedures: int = 0
    coverage: float = 0.0
    written: bool = False
    stale: bool = False
    files: tuple[FileChange, ...] = ()
    open_ends: tuple[str, ...] = ()
    lints: dict[str, str] = {}
    smoke: str = ""
    warnings: tuple[str, ...] = ()
    explained: Explained | None = None
    dialects: tuple[DialectRow, ...] = ()


class Given(Struct, frozen=True, kw_only=True):
    """The arguments of the command."""

    spec: str | None
    plugin: str | None
    out: str | None
    check: bool
    dry_run: bool
    explain: str | None
    list_dialects: bool
    dependencies: str
    source_runtime: str | None
    contributing_runtimes: str | None
    scope: tuple[str, ...]
    workspace_scope: str | None
    host: str | None
    model: str | None
    smoke: str | None
    force: bool


COMMAND = Command(
    name="compile",
    summary="Turn an agent spec into a standalone Python package on the mellea library.",
    args=(
        Arg(name="spec", default=None, help="A SKILL.md, a command or agent file, or a directory."),
        Arg(
            name="plugin",
            flags=("--plugin",),
            metavar="PLUGIN",
            help="The spec is a skill, command or agent of this plugin, by its name.",
        ),
        Arg(
            name="out",
            flags=("--out", "-o"),
            metavar="DIR",
            help="Where to write; beside the spec if left out.",
        ),
        Arg(
            name="check",
            flags=("--check",),
            type="bool",
            help="Write nothing; exit 1 when the package is stale or edited.",
        ),
        Arg(
            name="dry_run",
            flags=("--dry-run",),
            type="bool",
            help="Write nothing; print what compile would do.",
        ),
        Arg(
            name="explain",
            flags=("--explain",),
            metavar="ELEMENT",
            help="Print one element, by its id or `file:line`, and what becomes of it.",
        ),
        Arg(
            name="list_dialects",
            flags=("--list-dialects",),
            type="bool",
            help="List the dialects that compile reads.",
        ),
        Arg(
            name="dependencies",
            flags=("--dependencies",),
            default="auto",
            metavar="MODE",
            help="auto, ask, strict, or config:PATH with saved decisions.",
        ),
        Arg(
            name="source_runtime",
            flags=("--source-runtime",),
            metavar="RUNTIME",
            help="The runtime of the spec; without it, compile detects one.",
        ),
        Arg(
            name="contributing_runtimes",
            flags=("--contributing-runtimes",),
            metavar="LIST",
            help="With --source-runtime hybrid: the runtimes, separated by commas.",
        ),
        Arg(
            name="scope",
            flags=("--scope",),
            multiple=True,
            metavar="SCOPES",
            help="Scopes to read besides the project: local, user.",
        ),
        Arg(
            name="workspace_scope",
            flags=("--workspace-scope",),
            type="choice",
            choices=("skill", "project", "repo"),
            default=None,
            help="How far to look around the spec; a skill of a plugin or a collection stands alone.",
        ),
        Arg(
            name="host",
            flags=("--host",),
            type="choice",
            choices=("local",),
            default=None,
            help="`local` supplies shell and files on this machine, through Checkrein's policy.",
        ),
        Arg(
            name="model",
            flags=("--model",),
            complete="models",
            metavar="PROVIDER:NAME",
            help="Let a model judge tags in doubt and draft checks, labels, fields and sample requests; "
            "its answers are kept in the package.",
        ),
        Arg(
            name="smoke",
            flags=("--smoke",),
            metavar="PYTHON",
            help="Run the package's tests with this interpreter after writing.",
        ),
        Arg(
            name="force",
            flags=("--force",),
            type="bool",
            help="Overwrite files that were edited or that Checkrein did not write.",
        ),
    ),
    payload=Payload,
    errors=tuple(KINDS),
    exits=EXITS,
    examples=(
        ("checkrein compile .claude/skills/review/SKILL.md -o out/", "write the package into out/"),
        ("checkrein compile SKILL.md -o out/ --check", "fail in CI when the package is stale"),
        ("checkrein compile SKILL.md --explain SKILL.md:12", "what becomes of line 12"),
        ("checkrein compile SKILL.md -o out/ --dependencies=strict", "refuse anything that needs a host"),
        (
            "checkrein compile SKILL.md -o out/ --model haiku",
            "let a model judge what is unclear or open",
        ),
    ),
)


def run(given: Given) -> Outcome:
    """Compile. Every error carries the code of its kind."""
    from checkrein.base.errors import CheckreinError

    try:
        return _run(given)
    except CheckreinError as error:
        if error.kind in KINDS:
            error.during("compile", given.spec, code=KINDS[error.kind][0])
        raise


def _run(given: Given) -> Outcome:
    if given.list_dialects:
        return _dialects()
    from checkrein.base.errors import UsageError
    from checkrein.compile.package import compile_spec
    from checkrein.compile.skill import place

    if given.spec is None:
        raise UsageError("Name the spec to compile.", hint="`checkrein compile SKILL.md -o out/`")
    spec = given.spec if given.plugin is None else _of_plugin(given.plugin, given.spec)
    options = _options(given)
    ask = None
    if options.mode == "ask":
        from checkrein.cli.compile_ask import asker

        ask = asker()
    advisor = None
    if given.model is not None:
        from checkrein.cli.compile_model import advisor_for

        advisor = advisor_for(given.model, spec, given.out)
    compiled = compile_spec(spec, options, ask=ask, advisor=advisor)
    if given.explain is not None:
        explained, told = explain(compiled, given.explain)
        return Outcome(data=Payload(package=compiled.package, explained=explained), text=lambda: told)
    done = place(compiled, given.out, force=given.force, dry_run=given.check or given.dry_run)
    said = ""
    if done.written and given.smoke is not None:
        from checkrein.cli.compile_smoke import smoke as run_tests

        said = run_tests(done.directory, given.smoke, compiled.blueprint.needs)
    return _answer(done, smoke=said, status=1 if given.check and done.stale else 0)


def _of_plugin(plugin: str, name: str) -> str:
    from checkrein.deploy.plugin_parts import find_plugin, plugin_item
    from checkrein.passes.load import load

    return plugin_item(find_plugin(load(".", detect=False), plugin), name)


def _options(given: Given) -> Options:
    from checkrein.base.errors import UsageError
    from checkrein.base.nearest import did_you_mean
    from checkrein.compile.package import Options
    from checkrein.compile.plan import read_overrides
    from checkrein.facts.compile import DIALECTS

    mode, _, path = given.dependencies.partition(":")
    if mode not in ("auto", "ask", "strict", "config") or (mode == "config") != bool(path):
        raise UsageError(
            f"--dependencies={given.dependencies} is not understood.",
            hint="Write auto, ask, strict or config:PATH.",
        )
    named = tuple(part.strip() for part in (given.contributing_runtimes or "").split(",") if part.strip())
    runtime = given.source_runtime
    for name in (*((runtime,) if runtime else ()), *named):
        if name not in DIALECTS:
            raise UsageError(
                f"There is no runtime {name!r}.{did_you_mean(name, DIALECTS)}",
                kind="runtime_unknown",
                hint="`checkrein compile --list-dialects` lists them.",
            )
    if runtime == "hybrid" and len(named) < 2:
        raise UsageError("--source-runtime hybrid needs --contributing-runtimes with two or more.")
    scopes = {part.strip() for one in given.scope for part in one.split(",") if part.strip()}
    unknown = scopes - {"project", "local", "user"}
    if unknown:
        raise UsageError(f"There is no scope {sorted(unknown)[0]!r}; write project, local or user.")
    return Options(
        scopes=("project", *sorted(scopes - {"project"})),
        workspace_scope=given.workspace_scope,  # type: ignore[arg-type]  # one of the choices above
        mode="auto" if mode == "config" else mode,  # type: ignore[arg-type]  # one of the four, checked above
        overrides=read_overrides(path) if mode == "config" else (),
        runtime=runtime,
        contributors=named,
        host=given.host,
    )


def _answer(done: CompiledSkill, *, smoke: str, status: int) -> Outcome:
    compiled = done.compiled
    inventory, classification = compiled.inventory, compiled.classification
    payload = Payload(
        spec=inventory.spec.file,
        out=done.directory,
        package=compiled.package,
        runtime=classification.source_runtime,
        modality=classification.modality,
        elements=len(inventory.elements),
        steps=len(compiled.blueprint.steps),
        procedures=len(compiled.blueprint.procedures) or 1,
        coverage=inventory.coverage.coverage_ratio,
        written=done.written,
        stale=done.stale,
        files=tuple(FileChange(change.path, change.action) for change in done.changes),
        open_ends=tuple(
            entry.target for entry in compiled.plan if entry.disposition in ("stub", "delegate_to_runtime")
        ),
        lints={one.lint_id: one.verdict for one in compiled.lints},
        smoke=smoke,
        warnings=compiled.warnings,
    )
    return Outcome(data=payload, text=lambda: _text(payload), status=status, warnings=compiled.diagnostics)


def _text(payload: Payload) -> str:
    count = sum(change.action in ("create", "update") for change in payload.files)
    steps = _counted(payload.steps, "step")
    steps += f" in {payload.procedures} procedures" if payload.procedures > 1 else ""
    lines = [
        f"{payload.package}: {steps}, {_counted(payload.elements, 'element')}, "
        f"{payload.coverage:.0%} of the lines ({payload.runtime}, {payload.modality})"
    ]
    if payload.written:
        lines.append(f"{_counted(count, 'file')} written to {payload.out}")
    elif payload.stale:
        lines.append(f"stale: {_counted(count, 'file')} in {payload.out} would change")
        lines += [
            f"  {one.action:8} {one.path}" for one in payload.files if one.action not in ("unchanged", "left")
        ]
    else:
        lines.append(f"up to date in {payload.out}")
    if payload.open_ends:
        lines.append(f"left to a host (SETUP.md): {', '.join(payload.open_ends)}")
    if payload.smoke:
        lines.append(f"smoke test: {payload.smoke}")
    lines += [f"warning: {text}" for text in payload.warnings]
    return "\n".join(lines)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _dialects() -> Outcome:
    from checkrein.facts.compile import DIALECTS

    rows = tuple(DialectRow(name, level, about) for name, (level, about) in DIALECTS.items())

    def text() -> str:
        return "\n".join(f"{row.name:18} {row.level:10} {row.about}" for row in rows)

    return Outcome(data=Payload(dialects=rows), text=text)
