"""Compile every SKILL.md below a directory; check, type-check, test and run each package.

    python bench/compile_corpus.py PATH [--python PYTHON] [--limit N] [--out DIR]

PYTHON is an interpreter with mellea 0.8, pytest and mypy; without it, only steps that need none of them run.
The packages run end to end against a model on the loopback interface. Prints a line per failure and a table.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checkrein.compile.package import compile_spec
from checkrein.compile.write import write

RUNNER = """
import contextlib, io, json, os, sys
os.environ["MELLEA_LOGS_CONSOLE"] = "false"
import mellea, pytest

class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.names = []
    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            setattr(self, report.outcome, getattr(self, report.outcome) + 1)
            if report.outcome == "failed":
                self.names.append(report.nodeid)

kept = set(sys.modules)
for folder in sys.argv[1:]:
    count = Count()
    os.chdir(folder)
    sys.path.insert(0, folder)
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
        status = pytest.main(["-q", "-p", "no:cacheprovider", "-x", "tests"], plugins=[count])
    sys.path.remove(folder)
    for name in set(sys.modules) - kept:
        if "_mellea" in name or name.startswith("tests"):
            del sys.modules[name]
    row = {"folder": folder, "status": int(status), "passed": count.passed, "failed": count.names,
           "skipped": count.skipped, "said": "" if status == 0 else said.getvalue()[-1500:]}
    print("ROW" + json.dumps(row), flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--python")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out")
    parser.add_argument("--skip-tests", action="store_true")
    given = parser.parse_args()
    root = Path(given.out or tempfile.mkdtemp(prefix="checkrein-corpus-"))
    specs = sorted(str(path) for path in Path(given.path).rglob("SKILL.md"))[: given.limit]
    packages = compile_all(specs, root)
    rows: dict[str, object] = {"specs": len(specs), "compiled": len(packages)}
    rows |= formatting(root)
    if given.python:
        if not given.skip_tests:
            rows |= run_tests(list(packages), given.python)
        rows |= types(packages, given.python)
    for name, value in rows.items():
        print(f"{name:32} {value}")
    if not given.out:
        shutil.rmtree(root)
    return 0


def compile_all(specs: list[str], root: Path) -> dict[str, str]:
    """Output folder to package name."""
    packages: dict[str, str] = {}
    elements = lines = covered = 0
    times: list[float] = []
    for number, spec in enumerate(specs):
        folder = root / f"{number:04}"
        began = time.perf_counter()
        try:
            compiled = compile_spec(spec, env={"HOME": str(root / "home")})
        except Exception as error:
            print(f"FAILED {spec}: {error!r}")
            continue
        times.append(time.perf_counter() - began)
        write(folder, compiled.package, compiled.files)
        again = compile_spec(spec, env={"HOME": str(root / "home")})
        if again.files != compiled.files:
            print(f"NOT THE SAME TWICE {spec}")
        for one in compiled.lints:
            if one.verdict == "fail":
                print(f"LINT {spec} {one.lint_id} {one.failures[:3]}")
        packages[str(folder)] = compiled.package
        elements += len(compiled.inventory.elements)
        lines += compiled.inventory.coverage.significant_lines
        covered += compiled.inventory.coverage.covered_lines
    times.sort()
    print(f"elements {elements}, lines covered {covered} of {lines}")
    print(f"compile time: median {times[len(times) // 2] * 1000:.0f} ms, worst {times[-1] * 1000:.0f} ms")
    return packages


def formatting(root: Path) -> dict[str, object]:
    ruff = shutil.which("ruff") or os.path.join(os.path.dirname(sys.executable), "ruff")
    if not os.path.exists(ruff):
        return {}
    excluded = ["--exclude", "scripts,references,assets,reference"]
    made = subprocess.run(
        [ruff, "format", "--check", "-q", *excluded, str(root)], capture_output=True, text=True
    )
    lint = subprocess.run(
        [ruff, "check", "-q", "--select", "E9,F,I", *excluded, str(root)], capture_output=True, text=True
    )
    return {"formatted": made.returncode == 0, "linted": lint.returncode == 0}


def types(packages: dict[str, str], python: str) -> dict[str, object]:
    """mypy --strict over every package, in batches of different names."""
    batches: list[dict[str, str]] = []
    for folder, package in packages.items():
        batch = next((one for one in batches if package not in one and len(one) < 80), None)
        if batch is None:
            batch = {}
            batches.append(batch)
        batch[package] = folder
    errors = 0
    for batch in batches:
        with tempfile.TemporaryDirectory() as home:
            for package, folder in batch.items():
                ignored = shutil.ignore_patterns(
                    "scripts", "references", "assets", "reference", "intermediate"
                )
                shutil.copytree(os.path.join(folder, package), os.path.join(home, package), ignore=ignored)
            first = next(iter(batch.values()))
            config = Path(first, "pyproject.toml").read_text("utf-8")
            slots = ", ".join(f'"{package}.slots"' for package in batch)
            config = config.split("[[tool.mypy.overrides]]")
            text = config[0] + "[[tool.mypy.overrides]]" + config[1]
            text += f'\n[[tool.mypy.overrides]]\nmodule = [{slots}]\ndisable_error_code = ["empty-body"]\n'
            Path(home, "pyproject.toml").write_text(text)
            done = subprocess.run(
                [python, "-m", "mypy", "--cache-dir", os.path.join(home, ".cache"), *batch],
                cwd=home,
                capture_output=True,
                text=True,
            )
            wrong = [line for line in done.stdout.split("\n") if ": error:" in line]
            errors += len(wrong)
            for line in wrong[:10]:
                print(f"TYPES {line}")
            if done.returncode not in (0, 1):
                print(f"TYPES {done.stdout[-500:]} {done.stderr[-500:]}")
                errors += 1
    return {"type errors": errors}


def run_tests(folders: list[str], python: str, size: int = 40) -> dict[str, object]:
    """Batches in one interpreter each, two at a time."""
    from concurrent.futures import ThreadPoolExecutor

    passed = failed = skipped = tests = 0
    batches = [folders[start : start + size] for start in range(0, len(folders), size)]

    def work(batch: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, "-c", RUNNER, *batch], capture_output=True, text=True)

    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(work, batches))
    for batch, done in zip(batches, ended, strict=True):
        rows = [json.loads(line[3:]) for line in done.stdout.split("\n") if line.startswith("ROW")]
        for row in rows:
            tests += row["passed"]
            skipped += row["skipped"]
            if row["status"] == 0:
                passed += 1
            else:
                failed += 1
                print(f"TESTS {row['folder']} {row['failed']} {row['said']}")
        if len(rows) != len(batch):
            print(f"TESTS ended early: {done.stderr[-800:]}")
    return {
        "packages whose tests pass": passed,
        "packages that fail": failed,
        "tests": tests,
        "skipped": skipped,
    }


if __name__ == "__main__":
    sys.exit(main())
