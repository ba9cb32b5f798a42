"""Run every check over a directory of repositories and print how often each code fires.

    python bench/check_corpus.py PATH [--show CODE] [--sample N]

It loads each top-level directory, and each plugin in it, as a project. Then it loads every other skill,
command and agent file alone, in its own project.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.dialects.codes import CODES
from checkrein.passes.checks.table import checks
from checkrein.passes.findings import check
from checkrein.passes.load import load

# Files of another agent in folders of the same name.
_FOREIGN = (".agent.md", ".prompt.md", ".instructions.md", ".chatmode.md")
_FOLDERS = {"agents": "agents", "commands": "commands"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--show", help="print the findings of this code")
    parser.add_argument("--sample", type=int, default=20, help="how many findings to show")
    options = parser.parse_args()
    found: list[Diagnostic] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        for repository in sorted(path for path in options.path.iterdir() if path.is_dir()):
            found.extend(repository_findings(repository, home))
    elapsed = time.perf_counter() - started
    if options.show:
        show([finding for finding in found if finding.code == options.show], options.sample, options.path)
        return 0
    table(found)
    print(f"\n{len(found):,} findings, {elapsed:.1f} s")
    return 0


def repository_findings(repository: Path, home: str) -> Iterator[Diagnostic]:
    seen: set[tuple[str, str, str]] = set()
    reached: set[str] = set()
    plugins = sorted({path.parent.parent for path in repository.rglob(".claude-plugin/plugin.json")})
    for directory in dict.fromkeys((repository, *plugins)):
        project = load(directory, env={"HOME": home}, home=home, managed_dir=os.path.join(home, "managed"))
        for finding in check(project):
            key = (finding.code, str(finding.origin), finding.message)
            if key not in seen and finding.code != "ROOT001":
                seen.add(key)
                yield finding
        items = (*project.sources.skills, *project.sources.commands, *project.sources.agents)
        reached.update(os.path.realpath(item.origin.file) for item in items)
    for file in sorted(repository.rglob("*.md")):
        if str(file.resolve()) not in reached and kind_of(file) and not file.name.endswith(_FOREIGN):
            yield from single_findings(file, home)


def kind_of(file: Path) -> str | None:
    if file.name == "SKILL.md":
        return "skills"
    if file.name == "README.md":
        return None
    kinds = (
        _FOLDERS.get(part) or ("commands" if part.endswith("__commands") else None) for part in file.parts
    )
    return next((kind for kind in kinds if kind), None)


def single_findings(file: Path, home: str) -> Iterator[Diagnostic]:
    """The file as the product would find it: a link in a project, at the place of its kind."""
    kind = kind_of(file)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory, ".claude", str(kind))
        place.mkdir(parents=True)
        if kind == "skills":
            (place / file.parent.name).symlink_to(file.parent.resolve())
        else:
            (place / file.name).symlink_to(file.resolve())
        project = load(directory, env={"HOME": home}, home=home, managed_dir=os.path.join(home, "managed"))
        for finding in check(project):
            real = os.path.realpath(finding.origin.file)
            yield replace(finding, origin=replace(finding.origin, file=real), related=())


def table(found: list[Diagnostic]) -> None:
    totals = Counter(finding.code for finding in found)
    print("| code | what | severity | findings |")
    print("|---|---|---|---|")
    for code, one in (*checks().items(), *CODES.items()):
        print(f"| {code} | {one.summary.rstrip('.')} | {one.severity} | {totals.pop(code, 0)} |")
    assert not totals, f"codes without a page: {totals}"


def show(found: list[Diagnostic], count: int, base: Path) -> None:
    chosen = random.Random(7).sample(found, min(count, len(found)))
    for finding in sorted(chosen, key=lambda finding: finding.origin.file):
        origin = finding.origin
        line = ""
        if origin.line and os.path.isfile(origin.file):
            lines = Path(origin.file).read_text("utf-8", "replace").split("\n")
            line = lines[origin.line - 1].strip()[:160] if origin.line <= len(lines) else ""
        place = os.path.relpath(os.path.realpath(origin.file), base.resolve())
        print(f"{place}:{origin.line or 0}: {finding.message}\n    {line}")
    print(f"{len(chosen)} of {len(found)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
