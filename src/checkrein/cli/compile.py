"""`checkrein compile`: an agent spec as a standalone, tested Python package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.facts.compile import EXITS, KINDS

if TYPE_CHECKING:
    from checkrein.compile.package import Compiled, Options
    from checkrein.compile.values import Element


class FileChange(Struct, frozen=True):
    path: str
    action: str


class DialectRow(Struct, frozen=True):
    """One row of --list-dialects."""

    name: str
    level: str
    about: str


class Explained(Struct, frozen=True):
    """One element with everything that was made of it."""

    element: dict[str, Any]
    mappings: tuple[dict[str, Any], ...]
    plan: tuple[dict[str, Any], ...]


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
    spec: str | None
    out: str | None
    check: bool
    dry_run: bool
    explain: str | None
    list_dialects: bool
    dependencies: str
    source_runtime: str | None
    contributing_runtimes: str | None
    scope: tuple[str, ...]
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
        Arg(name="dry_run", flags=("--dry-run",), type="bool", help="Write nothing; say what would be done."),
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
            help="List the dialects that are read.",
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
            help="The runtime of the spec, instead of detecting it.",
        ),
        Arg(
            name="contributing_runtimes",
            flags=("--contributing-runtimes",),
            metavar="LIST",
            help="With --source-runtime hybrid: the runtimes, with commas between them.",
        ),
        Arg(
            name="scope",
            flags=("--scope",),
            multiple=True,
            metavar="SCOPES",
            help="Whose files besides the project's: local, user.",
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
            help="Write over files that are edited or not ours.",
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
            "let a model look at what is in doubt or left open",
        ),
    ),
)


def run(given: Given) -> Outcome:
    """Compile, or say why not: every error carries the code of its kind."""
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
    from checkrein.base.errors import CheckreinError, UsageError
    from checkrein.compile.package import compile_spec
    from checkrein.compile.write import compare, write

    spec, out = given.spec, given.out
    if spec is None:
        raise UsageError("Name the spec to compile.", hint="`checkrein compile SKILL.md -o out/`")
    options = _options(given)
    ask = None
    if options.mode == "ask":
        from checkrein.cli.compile_ask import asker

        ask = asker()
    advisor = None
    if given.model is not None:
        from checkrein.cli.compile_model import advisor_for

        advisor = advisor_for(given.model, spec, out)
    compiled = compile_spec(spec, options, ask=ask, advisor=advisor)
    if given.explain is not None:
        return _explain(compiled, given.explain)
    failed = [one for one in compiled.lints if one.verdict == "fail"]
    if failed:
        first = failed[0].failures[0]
        raise CheckreinError(
            f"The package does not pass {failed[0].lint_id}: {first.file}:{first.line} {first.message}.",
            kind="lint_failed",
            hint="This is a bug of the compiler; nothing was written.",
        )
    root = out or compiled.inventory.spec.directory
    if given.check or given.dry_run:
        changes = compare(root, compiled.package, compiled.files)
        stale = any(change.action not in ("unchanged", "left") for change in changes)
        return _answer(compiled, root, changes, stale=stale, status=1 if given.check and stale else 0)
    changes = write(root, compiled.package, compiled.files, force=given.force)
    said = ""
    if given.smoke is not None:
        from checkrein.cli.compile_smoke import smoke as run_tests

        said = run_tests(root, given.smoke, compiled.blueprint.needs)
    return _answer(compiled, root, changes, written=True, smoke=said)


def _options(given: Given) -> Options:
    from checkrein.base.errors import UsageError
    from checkrein.base.nearest import did_you_mean
    from checkrein.compile.package import Options
    from checkrein.compile.plan import read_overrides
    from checkrein.facts.compile import DIALECTS

    dependencies, runtime = given.dependencies, given.source_runtime
    mode, _, path = dependencies.partition(":")
    if mode not in ("auto", "ask", "strict", "config") or (mode == "config") != bool(path):
        raise UsageError(
            f"--dependencies={dependencies} is not understood.",
            hint="Write auto, ask, strict or config:PATH.",
        )
    named = tuple(part.strip() for part in (given.contributing_runtimes or "").split(",") if part.strip())
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
        mode="auto" if mode == "config" else mode,  # type: ignore[arg-type]  # one of the four, checked above
        overrides=read_overrides(path) if mode == "config" else (),
        runtime=runtime,
        contributors=named,
        host=given.host,
    )


def _answer(
    compiled: Compiled,
    root: str,
    changes: Any,
    *,
    written: bool = False,
    stale: bool = False,
    smoke: str = "",
    status: int = 0,
) -> Outcome:
    inventory, classification = compiled.inventory, compiled.classification
    payload = Payload(
        spec=inventory.spec.file,
        out=str(root),
        package=compiled.package,
        runtime=classification.source_runtime,
        modality=classification.modality,
        elements=len(inventory.elements),
        steps=len(compiled.blueprint.steps),
        procedures=len(compiled.blueprint.procedures) or 1,
        coverage=inventory.coverage.coverage_ratio,
        written=written,
        stale=stale,
        files=tuple(FileChange(change.path, change.action) for change in changes),
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
        lines.append(f"stale: {_counted(count, 'file')} not as compiled in {payload.out}")
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


def _element(compiled: Compiled, wanted: str) -> Element | None:
    """By id, or the narrowest on a line. A file may be named by its end; the spec's own comes first."""
    from checkrein.compile.coverage import lines_of

    file, _, line = wanted.rpartition(":")
    spec = compiled.inventory.spec.file
    named = [
        element
        for element in compiled.inventory.elements
        if element.element_id == wanted
        or (
            f"/{element.source_file}".endswith(f"/{file}")
            and (
                element.source_lines == line
                or (line.isdigit() and int(line) in lines_of(element.source_lines))
            )
        )
    ]
    return min(
        named, key=lambda one: (one.source_file != spec, len(lines_of(one.source_lines))), default=None
    )


def _explain(compiled: Compiled, wanted: str) -> Outcome:
    from msgspec import to_builtins

    from checkrein.base.errors import NotFoundError

    found = _element(compiled, wanted)
    if found is None:
        raise NotFoundError(
            f"There is no element {wanted!r}.",
            kind="element_not_found",
            hint="Name an id such as elem_001, or a place such as SKILL.md:12. Blank lines have none.",
        )
    mappings = [one for one in compiled.mappings if one.element_id.split("-")[0] == found.element_id]
    plan = [one for one in compiled.plan if found.element_id in one.source_elements]
    explained = Explained(
        to_builtins(found), tuple(map(to_builtins, mappings)), tuple(map(to_builtins, plan))
    )

    def text() -> str:
        lines = [f"{found.element_id}  {found.source_file}:{found.source_lines}  {found.content_summary}"]
        lines.append(f"  {found.tag} {found.category}  ({found.details.get('why') or found.dialect_rule_id})")
        if found.step is not None:
            procedure = found.details.get("procedure")
            lines.append(f"  step {found.step}" + (f", of the procedure {procedure!r}" if procedure else ""))
        lines += [f"  -> {one.final_target_file} {one.target_symbol} as {one.primitive}" for one in mappings]
        lines += [f"  {one.disposition}, decided by {one.source_of_decision}" for one in plan]
        return "\n".join(lines)

    return Outcome(data=Payload(package=compiled.package, explained=explained), text=text)


def _dialects() -> Outcome:
    from checkrein.facts.compile import DIALECTS

    rows = tuple(DialectRow(name, level, about) for name, (level, about) in DIALECTS.items())

    def text() -> str:
        return "\n".join(f"{row.name:18} {row.level:10} {row.about}" for row in rows)

    return Outcome(data=Payload(dialects=rows), text=text)
