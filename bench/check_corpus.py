"""Run every check over repositories and print how often each code fires, with samples.

    python bench/check_corpus.py PATH [--show CODE] [--sample N]
    python bench/check_corpus.py --external DIR... [--show CODE] [--sample N]

PATH is a directory of repositories. `--external` takes any trees: a directory that is a repository or a
project counts as one, any other as a directory of them. Nothing of the user's home counts.
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

from checkrein.base.diagnostic import Diagnostic
from checkrein.dialects.codes import CODES
from checkrein.passes.checks.table import checks
from checkrein.passes.survey.report import Choice, make_report
from checkrein.passes.survey.survey import targets

_MARKS = (".git", ".claude", ".claude-plugin", "package.json", "pyproject.toml", "README.md", "SKILL.md")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--external", type=Path, nargs="+", metavar="DIR", default=[])
    parser.add_argument("--show", help="print the findings of this code")
    parser.add_argument("--sample", type=int, default=20, help="how many findings to show")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    if not options.external and options.path is None:
        parser.error("name a directory of repositories")
    bases = options.external or [options.path]
    found: list[Diagnostic] = []
    counts: Counter[str] = Counter()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update({"HOME": home, "CHECKREIN_HOME": os.path.join(home, "checkrein")})
        os.environ.pop("CLAUDE_CONFIG_DIR", None)
        for repository in (one for base in bases for one in repositories(base, bool(options.external))):
            for target in targets([str(repository)]):
                report, _ = make_report(target, Choice(ignore=("ROOT001",)))
                found.extend(report.found)
                counts.update(report.examined.counts)
    elapsed = time.perf_counter() - started
    if options.show:
        show([one for one in found if one.code == options.show], options.sample, options.seed)
        return 0
    table(found)
    print(f"\n{', '.join(f'{number:,} {kind}' for kind, number in counts.items())}")
    print(f"{len(found):,} findings, {elapsed:.1f} s")
    if options.external:
        for code in sorted({finding.code for finding in found}):
            print(f"\n## {code}\n")
            show([one for one in found if one.code == code], min(options.sample, 3), options.seed)
    return 0


def repositories(base: Path, external: bool) -> Iterator[Path]:
    if external and any((base / mark).exists() for mark in _MARKS):
        yield base
    else:
        yield from sorted(path for path in base.iterdir() if path.is_dir())


def table(found: list[Diagnostic]) -> None:
    totals = Counter(finding.code for finding in found)
    print("| code | what | severity | findings |")
    print("|---|---|---|---|")
    for code, one in (*checks().items(), *CODES.items()):
        number = totals.pop(code, 0)
        if number:
            print(f"| {code} | {one.summary.rstrip('.')} | {one.severity} | {number} |")
    assert not totals, f"codes without a page: {totals}"


def show(found: list[Diagnostic], count: int, seed: int) -> None:
    chosen = random.Random(seed).sample(found, min(count, len(found)))
    for finding in sorted(chosen, key=lambda finding: finding.origin.file):
        origin = finding.origin
        line = ""
        if origin.line and os.path.isfile(origin.file):
            lines = Path(origin.file).read_text("utf-8", "replace").split("\n")
            line = lines[origin.line - 1].strip()[:160] if origin.line <= len(lines) else ""
        print(f"{os.path.relpath(origin.file)}:{origin.line or 0}: {finding.message}\n    {line}")
    print(f"{len(chosen)} of {len(found)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
