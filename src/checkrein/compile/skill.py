"""Compiles and writes a spec in one step, for programs and the command."""

from __future__ import annotations

import os

from msgspec import Struct

from checkrein.base.errors import CheckreinError
from checkrein.compile.package import Compiled, Options, compile_spec
from checkrein.compile.write import Change, compare, write


class CompiledSkill(Struct, frozen=True, kw_only=True):
    """`directory` is where the package goes, `changes` what that means for each file. `compiled` has the
    result of every step."""

    package: str
    directory: str
    changes: tuple[Change, ...]
    written: bool
    compiled: Compiled

    @property
    def stale(self) -> bool:
        """True when the directory differs from what the spec gives."""
        return not self.written and any(one.action not in ("unchanged", "left") for one in self.changes)


def compile_skill(
    spec: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    options: Options | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> CompiledSkill:
    """Compile a skill, command or agent to a Python package in `out` (default: beside the spec), as
    `checkrein compile` does. Raises CheckreinError when it can't. `dry_run` writes nothing."""
    compiled = compile_spec(spec, options)
    return place(compiled, out, force=force, dry_run=dry_run)


def place(
    compiled: Compiled, out: str | os.PathLike[str] | None, *, force: bool = False, dry_run: bool = False
) -> CompiledSkill:
    """Write a package that passes its lints, or compare it with the directory."""
    _refuse_failed(compiled)
    root = str(out or compiled.inventory.spec.directory)
    if dry_run:
        changes = compare(root, compiled.package, compiled.files)
    else:
        changes = write(root, compiled.package, compiled.files, force=force)
    return CompiledSkill(
        package=compiled.package, directory=root, changes=changes, written=not dry_run, compiled=compiled
    )


def _refuse_failed(compiled: Compiled) -> None:
    failed = [one for one in compiled.lints if one.verdict == "fail"]
    if failed:
        first = failed[0].failures[0]
        raise CheckreinError(
            f"The package does not pass {failed[0].lint_id}: {first.file}:{first.line} {first.message}.",
            kind="lint_failed",
            hint="This is a bug in the compiler; nothing was written.",
        )
