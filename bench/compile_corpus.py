"""Compile every SKILL.md below a directory; measure, check, type-check, test and run each package.

    python bench/compile_corpus.py PATH [--python PYTHON] [--every N] [--limit N] [--out DIR]

PYTHON is an interpreter with mellea 0.8, pytest and mypy; without it, only steps that need none of them run.
The packages run end to end against a model on the loopback interface. Prints a line per failure and a table.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from checkrein.compile.package import Compiled, compile_spec
from checkrein.compile.write import write

PLAIN = ("str", "None", "Iterator[str]")
GATE_WORDS = re.compile(
    r"\b(?:ask|prompt|check with|confirm with|consult) (?:the |your )?(?:user|human|developer|operator)\b"
    r"|\b(?:wait for|get|obtain|request|require[sd]?|need[s]?|seek)\b[^.\n]{0,30}"
    r"\b(?:approval|confirmation|permission|go-ahead|sign-?off)\b"
    r"|\b(?:do not|don't|never) (?:proceed|continue|start|move on)\b[^.\n]{0,40}\b(?:until|unless|without)\b"
    r"|\bwithout (?:\w+ )?(?:approval|confirmation|permission)\b"
    r"|\buser (?:approves|confirms|approval|confirmation)\b"
    r"|\bGATE\b|\bAskUserQuestion\b"
)
"""Words for a person's decision, apart from the compiler's own grammar of them."""

RUNNER = """
import contextlib, importlib, inspect, io, json, os, sys
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

def smallest(schema, root):
    # Everything that can be named is named once: the longest run without a loop.
    if "$ref" in schema:
        return smallest(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema or "anyOf" in schema:
        return schema["enum"][0] if "enum" in schema else smallest(schema["anyOf"][0], root)
    if schema.get("type") == "object":
        return {key: smallest(part, root) for key, part in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        item = schema.get("items", {})
        item = root["$defs"][item["$ref"].rsplit("/", 1)[-1]] if "$ref" in item else item
        return list(item["enum"]) if "enum" in item else [smallest(item, root)]
    return {"integer": 1, "number": 1.0, "boolean": True}.get(schema.get("type"), "mock")

def sent(folder):
    # The characters of all messages of one run, with a host that says yes.
    package = next(name for name in sorted(os.listdir(folder)) if name.endswith("_mellea"))
    mock = importlib.import_module("tests.mock_model")
    pipeline = importlib.import_module(package + ".pipeline")
    mock.smallest = smallest
    try:
        slots = importlib.import_module(package + ".constrained_slots")
        for name in slots.SLOTS:
            said = True if name == "confirm_action" else "done"
            slots.provide(name, lambda *a, said=said: said)
    except ImportError:
        pass
    with mock.mock_model() as server:
        os.environ |= {"SKILL_BACKEND": "openai", "SKILL_MODEL": "mock", "OPENAI_BASE_URL": server.url,
                       "OPENAI_API_KEY": "unused"}
        if "session" in inspect.signature(pipeline.run_pipeline).parameters:
            with importlib.import_module(package + ".session").open_session("chat") as session:
                made = pipeline.run_pipeline(session, "do it")
        else:
            made = pipeline.run_pipeline("do it")
        if not hasattr(made, "steps"):
            list(made)
        return sum(len(str(one.get("content") or "")) for r in server.requests for one in r["messages"])

kept = set(sys.modules)
for folder in sys.argv[1:]:
    count = Count()
    os.chdir(folder)
    sys.path.insert(0, folder)
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
        status = 0
        if not os.environ.get("ONLY_SENT"):
            status = pytest.main(["-q", "-p", "no:cacheprovider", "-x", "tests"], plugins=[count])
        try:
            characters = sent(folder)
        except Exception as error:
            characters, status = -1, status or 1
            print(repr(error))
    sys.path.remove(folder)
    for name in set(sys.modules) - kept:
        if "_mellea" in name or name.startswith("tests"):
            del sys.modules[name]
    row = {"folder": folder, "status": int(status), "passed": count.passed, "failed": count.names,
           "skipped": count.skipped, "sent": characters,
           "said": "" if status == 0 else said.getvalue()[-1500:]}
    print("ROW" + json.dumps(row), flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--python")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--every", type=int, default=1, help="one spec in so many")
    parser.add_argument("--list", action="store_true", help="name the specs behind each number")
    parser.add_argument("--out")
    parser.add_argument("--skip-tests", action="store_true")
    given = parser.parse_args()
    given.python = given.python and os.path.abspath(given.python)
    root = Path(given.out or tempfile.mkdtemp(prefix="checkrein-corpus-"))
    specs = sorted(str(path) for path in Path(given.path).rglob("SKILL.md"))[:: given.every][: given.limit]
    measures = Measures()
    packages = compile_all(specs, root, measures)
    rows: dict[str, object] = {"specs": len(specs), "compiled": len(packages)}
    rows |= measures.rows(listed=given.list)
    rows |= formatting(root)
    if given.python:
        rows |= run_tests(list(packages), given.python, sizes=measures.sizes, only_sent=given.skip_tests)
        rows |= types(packages, given.python)
    for name, value in rows.items():
        print(f"{name:32} {value}")
    if not given.out:
        shutil.rmtree(root)
    return 0


class Measures:
    """What the packages are as programs. A type counts when a branch, a loop or a check uses it."""

    def __init__(self) -> None:
        self.functions = self.typed = self.gate_words = self.listed = self.tables = self.mapped = 0
        self.requirements = self.checked = self.respond = 0
        self.untyped: list[str] = []
        self.outside: list[str] = []
        self.open_gates: list[str] = []
        self.sizes: dict[str, int] = {}

    def add(self, spec: str, folder: str, compiled: Compiled) -> None:
        package = compiled.package
        source = compiled.files[f"{package}/pipeline.py"].decode()
        functions, typed = typed_functions(ast.parse(source))
        tools = compiled.files.get(f"{package}/tools.py", b"").decode()
        scripts = [
            one
            for one in ast.parse(tools).body
            if isinstance(one, ast.FunctionDef) and "run_script" in ast.unparse(one)
        ]
        if typed or scripts:
            self.functions += len(functions) + len(scripts)
            self.typed += len(typed) + len(scripts)
        else:
            self.untyped.append(spec)
        self.respond += functions == {"step_01_respond"}
        text = Path(spec).read_text("utf-8", "replace")
        gated = {line for gate in compiled.blueprint.gates for line in gate.lines}
        gated |= set(compiled.blueprint.program.asked)
        gated |= {line for step in compiled.blueprint.steps if step.asks for line in range(*step.lines)}
        for number, line in told_lines(text):
            if GATE_WORDS.search(line):
                self.gate_words += 1
                if number not in gated:
                    self.listed += 1
                    self.open_gates.append(f"{spec}:{number}: {line.strip()[:100]}")
        given = {one.name for one in compiled.blueprint.parameters}
        for element in compiled.inventory.elements:
            if getattr(element.details, "table", "") == "inputs":
                self.tables += 1
                rows = len(element.content_full.strip().split("\n")) - 2
                self.mapped += len(given) >= rows
        workspace, own = compiled.inventory.spec.workspace, os.path.realpath(os.path.dirname(spec))
        places = [
            os.path.realpath(os.path.join(workspace, one.source_file)) for one in compiled.inventory.elements
        ]
        if any(not place.startswith(own + os.sep) for place in places):
            self.outside.append(spec)
        self.requirements += len(compiled.blueprint.requirements)
        self.checked += sum(one.check is not None for one in compiled.blueprint.requirements)
        named = [compiled.files[f"{package}/{one.path}"] for one in compiled.blueprint.references]
        self.sizes[folder] = len(text) + sum(len(data.decode("utf-8", "replace")) for data in named)

    def rows(self, *, listed: bool) -> dict[str, object]:
        if listed:
            for kind, names in (
                ("UNTYPED", self.untyped),
                ("OUTSIDE", self.outside),
                ("LISTED", self.open_gates),
            ):
                for name in names:
                    print(f"{kind} {name}")
        return {
            "functions, where anything is typed": self.functions,
            "of them with a used type": f"{self.typed} ({share(self.typed, self.functions)})",
            "specs without anything typed": f"{len(self.untyped)}"
            f" ({share(len(self.untyped), len(self.sizes))})",
            "packages of one plain step": self.respond,
            "gate words": self.gate_words,
            "gate words merely listed": f"{self.listed} ({share(self.listed, self.gate_words)})",
            "tables of inputs, mapped": f"{self.mapped} of {self.tables}",
            "packages with outside elements": len(self.outside),
            "requirements, checked by code": f"{self.checked} of {self.requirements}",
        }


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def told_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines outside frontmatter, fences and headings."""
    fence = ""
    front = text.startswith("---")
    for number, line in enumerate(text.split("\n"), 1):
        if front:
            front = number == 1 or line.strip() != "---"
            continue
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and line.strip().startswith(fence):
            fence = ""
        elif not fence and not re.match(r"\s*#+\s", line):
            yield number, line


def typed_functions(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The functions of a pipeline that work on a run, and those whose result is no text and decides."""
    functions = {
        one.name: ast.unparse(one.returns) if one.returns is not None else "None"
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
        and one.args.args
        and one.args.args[0].arg == "run"
        and calls_run(one)
    }
    decided: set[str] = set()
    for scope in (one for one in tree.body if isinstance(one, ast.FunctionDef)):
        made = {
            target.id: node.value.func.id
            for node in ast.walk(scope)
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(scope):
            for part in deciding(node):
                for inner in ast.walk(part):
                    if isinstance(inner, ast.Name):
                        decided.add(made.get(inner.id, inner.id))
    return set(functions), {name for name, kind in functions.items() if kind not in PLAIN and name in decided}


def calls_run(function: ast.FunctionDef) -> bool:
    """Whether it has the model or a person do something."""
    return any(isinstance(one, ast.Return) for one in ast.walk(function))


def deciding(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.iter
    elif isinstance(node, ast.Subscript):
        yield node.slice


def compile_all(specs: list[str], root: Path, measures: Measures | None = None) -> dict[str, str]:
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
        if measures is not None:
            measures.add(spec, str(folder), compiled)
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
            parts = config.split("[[tool.mypy.overrides]]")
            text = parts[0] + "[[tool.mypy.overrides]]" + parts[1]
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


def run_tests(
    folders: list[str],
    python: str,
    size: int = 40,
    *,
    sizes: dict[str, int] | None = None,
    only_sent: bool = False,
) -> dict[str, object]:
    """Batches in one interpreter each, two at a time."""
    from concurrent.futures import ThreadPoolExecutor

    passed = failed = skipped = tests = 0
    sent: dict[str, int] = {}
    batches = [folders[start : start + size] for start in range(0, len(folders), size)]

    def work(batch: list[str]) -> subprocess.CompletedProcess[str]:
        env = os.environ | ({"ONLY_SENT": "1"} if only_sent else {})
        return subprocess.run([python, "-c", RUNNER, *batch], capture_output=True, text=True, env=env)

    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(work, batches))
    for batch, done in zip(batches, ended, strict=True):
        rows = [json.loads(line[3:]) for line in done.stdout.split("\n") if line.startswith("ROW")]
        for row in rows:
            tests += row["passed"]
            sent[row["folder"]] = row["sent"]
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
        **characters(sent, sizes or {}),
    }


def characters(sent: dict[str, int], sizes: dict[str, int]) -> dict[str, object]:
    """The messages of one run beside the spec and the references it names."""
    ratios = sorted(
        (sent[folder] / size, folder) for folder, size in sizes.items() if sent.get(folder, -1) >= 0
    )
    if not ratios:
        return {}
    within = sum(ratio <= 3 for ratio, _ in ratios)
    for ratio, folder in ratios[-5:]:
        print(f"SENT {ratio:.1f} times the spec: {folder}")
    return {
        "characters sent in one run each": sum(sent.values()),
        "characters of specs and references": sum(sizes.values()),
        "at most 3 times its spec": f"{within} of {len(ratios)} ({share(within, len(ratios))})",
        "times the spec: median, worst": f"{ratios[len(ratios) // 2][0]:.1f}, {ratios[-1][0]:.1f}",
    }


if __name__ == "__main__":
    sys.exit(main())
