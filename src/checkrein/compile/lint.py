"""Step 7: reads the written package and checks it. Errors block; warnings do not."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from checkrein.base.secrets import looks_secret
from checkrein.compile import syntax
from checkrein.compile.artifacts import LintFailure, LintResult
from checkrein.compile.payload import PAYLOAD, guards, payload
from checkrein.compile.render import mock_model
from checkrein.compile.tools import unused_servers
from checkrein.compile.values import Element, Mapping

Severity = Literal["error", "warning", "info"]
_MELLEA = {
    "mellea": {"generative", "start_session", "MelleaSession"},
    "mellea.core": {"Requirement"},
    "mellea.backends.model_options": {"ModelOption"},
    "mellea.backends.tools": {"MelleaTool"},
    "mellea.stdlib.requirements": {"check", "req", "simple_validate"},
}
_RESERVED = frozenset(
    {"f_args", "f_kwargs", "m", "context", "backend", "model_options", "strategy"}
    | {"precondition_requirements", "requirements"}
)
_PURE_CALLS = frozenset({"frozenset", "Guard", "Rule", "OperatingRequirement", "Expected", "TypeVar", "Path"})
_PURE_METHODS = frozenset({"compile", "split"})
_CARRIED = ("scripts/", "references/", "reference/", "assets/")
_MOCK_MODEL = "tests/mock_model.py"
_LONG = re.compile(r"[A-Za-z0-9+/_=-]{32,}")
_NO_KEY = re.compile(r"[a-z0-9_/-]+")
_HEADINGS = (
    "1. Classification",
    "2. Decomposition Summary",
    "3. Element Mapping",
    "4. Judgment Calls",
    "5. Removed During Audit",
    "6. Provenance Appendix",
    "7. Source file contributions",
    "8. Runtime-specific constructs not reproduced",
    "9. Detected but not handled (deferred)",
)


class Subject(Struct, frozen=True, kw_only=True):
    """A package to lint: its files as text, and their sources. The files that travel with the spec are among
    `texts` only when a source is `suspicious`."""

    package: str
    texts: dict[str, str]
    trees: dict[str, ast.Module]
    imports: dict[str, list[ast.ImportFrom]]
    manifest: dict[str, Any]
    elements: tuple[Element, ...]
    mappings: tuple[Mapping, ...]
    suspicious: bool = False

    def module(self, name: str) -> ast.Module | None:
        return self.trees.get(f"{self.package}/{name}")


Finding = tuple[str, int, str]
Lint = Callable[[Subject], Iterator[Finding]]


def lint(
    package: str,
    files: dict[str, bytes],
    elements: tuple[Element, ...],
    mappings: tuple[Mapping, ...],
    *,
    suspicious: bool = False,
) -> list[LintResult]:
    """Run every lint, in tiers; skip later tiers when an earlier one has errors.

    `suspicious` says that a source holds what looks like a secret: then the lints search every file for one.
    """
    texts = {
        path: data.decode("utf-8", "replace")
        for path, data in files.items()
        if suspicious or not _is_companion(path, package)
    }
    trees: dict[str, ast.Module] = {}
    broken: list[LintFailure] = []
    for path, text in texts.items():
        if not path.endswith(".py") or _is_companion(path, package) or _is_ours(path, package, text):
            continue
        try:
            trees[path] = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            broken.append(LintFailure(path, getattr(error, "lineno", 0) or 0, str(error)))
    results = [LintResult("parseable", 1, "error", "fail" if broken else "pass", broken)]
    subject = Subject(
        package=package,
        texts=texts,
        trees=trees,
        imports={
            path: list(syntax.imports(tree, texts[path]))
            for path, tree in trees.items()
            if not path.endswith("/config.py") and "/fixtures/" not in path.removesuffix("__init__.py")
        },
        manifest={} if broken else msgspec.json.decode(texts[f"{package}/melleafy.json"]),
        elements=elements,
        mappings=mappings,
        suspicious=suspicious,
    )
    blocked = bool(broken)
    for tier in (2, 3):
        for name, (level, severity, check) in LINTS.items():
            if level != tier:
                continue
            if blocked:
                results.append(LintResult(name, tier, severity, "skipped", []))
                continue
            failures = [LintFailure(*finding) for finding in check(subject)]
            verdict = "pass" if not failures else "fail" if severity == "error" else "warning"
            results.append(LintResult(name, tier, severity, verdict, failures))
        blocked = blocked or any(one.verdict == "fail" for one in results)
    return results


def _is_companion(path: str, package: str) -> bool:
    top, _, below = path.partition("/")
    return top == package and below.startswith(_CARRIED)


def _is_ours(path: str, package: str, text: str) -> bool:
    """Whether it is an unchanged module of ours: our own tests cover it, so the lints skip it."""
    if path == _MOCK_MODEL:
        return text in (mock_model(False), mock_model(True))
    return path == f"{package}/{PAYLOAD}" and text == payload(PAYLOAD)


@cache
def _mock_names() -> set[str]:
    return syntax.names(ast.parse(mock_model(False)))


def cross_reference(subject: Subject) -> Iterator[Finding]:
    """Mapped symbols exist, and imports inside the package resolve."""
    names = {path: syntax.names(tree) for path, tree in subject.trees.items()}
    for path, own in ((f"{subject.package}/{PAYLOAD}", set(vars(guards))), (_MOCK_MODEL, _mock_names())):
        if path in subject.texts:
            names.setdefault(path, own)
    for mapping in subject.mappings:
        path = f"{subject.package}/{mapping.final_target_file}"
        if (
            path not in names
            or not mapping.target_symbol.isidentifier()
            or mapping.primitive in ("none", "bundle")
        ):
            continue
        if mapping.target_symbol not in names[path]:
            yield path, 0, f"{mapping.element_id} is mapped to {mapping.target_symbol}, which does not exist"
    for path, nodes in subject.imports.items():
        folder = path.rsplit("/", 1)[0]
        for node in nodes:
            if node.level != 1:
                continue
            if node.module is not None:
                target = names.get(f"{folder}/{node.module.replace('.', '/')}.py")
                if target is None:
                    yield path, node.lineno, f"imports {node.module}, which is not in the package"
                    continue
                for alias in node.names:
                    if alias.name not in target:
                        yield path, node.lineno, f"imports {alias.name}, which {node.module} does not have"
            else:
                own = names.get(f"{folder}/__init__.py", set())
                for alias in node.names:
                    if f"{folder}/{alias.name}.py" not in subject.texts and alias.name not in own:
                        yield path, node.lineno, f"imports {alias.name}, which is not in the package"


def unused_mcp_server(subject: Subject) -> Iterator[Finding]:
    for server in unused_servers(subject.elements):
        yield "mapping_report.md", 0, f"unused MCP server: {server}; no tool of it is named"


def import_side_effects(subject: Subject) -> Iterator[Finding]:
    """Importing a module calls nothing but constructors of constants."""
    for path, tree in subject.trees.items():
        if path.startswith("tests/") or path.endswith(("__main__.py", "slots.py")):
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If | ast.ImportFrom):
                continue
            if isinstance(getattr(node, "value", None), ast.Constant):
                continue
            for call in syntax.calls(node):
                if not _is_pure(call):
                    yield path, call.lineno, "a call runs when the module is imported"


def _is_pure(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        name = call.func.id
        return name in _PURE_CALLS or name.islower()
    return isinstance(call.func, ast.Attribute) and call.func.attr in _PURE_METHODS


def import_soundness(subject: Subject) -> Iterator[Finding]:
    """Imports use only names that the library really has."""
    for path, nodes in subject.imports.items():
        for node in nodes:
            if (node.module or "").split(".")[0] == "mellea":
                known = _MELLEA.get(node.module or "", set())
                for alias in node.names:
                    if alias.name not in known:
                        yield path, node.lineno, f"{node.module} has no {alias.name}"


def generative_forbidden_params(subject: Subject) -> Iterator[Finding]:
    tree = subject.module("slots.py")
    for node in syntax.statements(tree.body) if tree else ():
        if isinstance(node, ast.FunctionDef):
            for argument in node.args.args:
                if argument.arg in _RESERVED:
                    yield (
                        f"{subject.package}/slots.py",
                        node.lineno,
                        f"{argument.arg} is a reserved name of the library",
                    )
            if not ast.get_docstring(node):
                yield f"{subject.package}/slots.py", node.lineno, "a generative function needs a docstring"


def pipeline_entry_canonical(subject: Subject) -> Iterator[Finding]:
    path = f"{subject.package}/pipeline.py"
    tree = subject.module("pipeline.py")
    entry = next(
        (
            n
            for n in (tree.body if tree else ())
            if isinstance(n, ast.FunctionDef) and n.name == "run_pipeline"
        ),
        None,
    )
    if entry is None:
        yield path, 0, "there is no run_pipeline"
        return
    if any(argument.annotation is None for argument in entry.args.args):
        yield path, entry.lineno, "a parameter of run_pipeline has no annotation"
    named = [row["name"] for row in subject.manifest["pipeline_parameters"]]
    if named != [argument.arg for argument in entry.args.args]:
        yield path, entry.lineno, "melleafy.json names other parameters than run_pipeline has"


def fixture_signature_bound(subject: Subject) -> Iterator[Finding]:
    known = {row["name"] for row in subject.manifest["pipeline_parameters"]}
    for path, tree in subject.trees.items():
        if "/fixtures/" not in path:
            continue
        for node in syntax.statements(tree.body):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                for key in node.value.keys:
                    if isinstance(key, ast.Constant) and key.value not in known:
                        yield path, node.lineno, f"{key.value!r} is not a parameter of run_pipeline"


def fixtures_loader_contract(subject: Subject) -> Iterator[Finding]:
    path = f"{subject.package}/fixtures/__init__.py"
    tree = subject.trees.get(path)
    if tree is None or "ALL_FIXTURES" not in syntax.names(tree):
        yield path, 0, "ALL_FIXTURES is missing"


def guard_before_host(subject: Subject) -> Iterator[Finding]:
    """Every tool judges the call before it passes it on."""
    tree = subject.module("constrained_slots.py")
    for node in tree.body if tree else ():
        if not isinstance(node, ast.FunctionDef) or node.name in ("provide", "call", "tool_options", "_host"):
            continue
        if node.name in ("confirm_action", "ask_person") or node.name.startswith("recall_"):
            continue
        first = next((statement for statement in node.body if not _is_docstring(statement)), None)
        if first is None or not any(map(_judges, syntax.calls(first))):
            yield (
                f"{subject.package}/constrained_slots.py",
                node.lineno,
                f"{node.name} does not judge the call first",
            )


def _judges(call: ast.Call) -> bool:
    """`GUARD.check(...)`."""
    made = call.func
    if not isinstance(made, ast.Attribute) or made.attr != "check":
        return False
    return isinstance(made.value, ast.Name) and made.value.id == "GUARD"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def report_headings(subject: Subject) -> Iterator[Finding]:
    path = f"{subject.package}/mapping_report.md"
    found = [line[3:] for line in subject.texts[path].split("\n") if line.startswith("## ")]
    if tuple(found) != _HEADINGS:
        yield path, 0, "the report does not have its nine sections"
    setup = f"{subject.package}/SETUP.md"
    numbers = [int(number) for number in re.findall(r"^## (\d)\. ", subject.texts[setup], re.MULTILINE)]
    if numbers != sorted(set(numbers)) or not {1, 3, 9} <= set(numbers):
        yield setup, 0, "the numbered sections of SETUP.md are out of order"


def category_specific(subject: Subject) -> Iterator[Finding]:
    """Nothing in the package looks like a secret."""
    for path, text in subject.texts.items() if subject.suspicious else ():
        if looks_secret(text):
            yield path, 0, "something looks like a secret"
    tree = subject.module("config.py")
    if tree is None or not _has_key(subject.texts[f"{subject.package}/config.py"]):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _has_key(node.value):
            yield f"{subject.package}/config.py", node.lineno, "a word looks random; is it a key?"


def _has_key(text: str) -> bool:
    """A literal holds such a word unchanged: none of its characters needs an escape."""
    long = {part for part in text.split() if len(part) >= 32}
    words = (word for part in long for word in _LONG.findall(part))
    return any(not _NO_KEY.fullmatch(word) and _entropy(word) > 5.0 for word in words)


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())


def melleafy_json_consistency(subject: Subject) -> Iterator[Finding]:
    path = f"{subject.package}/melleafy.json"
    for key, value in subject.manifest["categories_resolved"].items():
        if value["count"] != len(value["entries"]):
            yield path, 0, f"{key}: count and entries differ"
    declared = set(subject.manifest["declared_env_vars"])
    example = subject.texts.get(".env.example", "")
    written = {line.partition("=")[0] for line in example.split("\n") if "=" in line and line[0] != "#"}
    if declared - written:
        yield path, 0, f".env.example lacks {', '.join(sorted(declared - written))}"


LINTS: dict[str, tuple[int, Severity, Lint]] = {
    "cross-reference": (2, "error", cross_reference),
    "unused-mcp-server": (2, "warning", unused_mcp_server),
    "import-side-effects": (2, "error", import_side_effects),
    "import-soundness": (2, "error", import_soundness),
    "generative-forbidden-params": (2, "error", generative_forbidden_params),
    "pipeline-entry-canonical": (2, "error", pipeline_entry_canonical),
    "fixture-signature-bound": (2, "error", fixture_signature_bound),
    "fixtures-loader-contract": (2, "error", fixtures_loader_contract),
    "guard-before-host": (2, "error", guard_before_host),
    "report-headings": (2, "error", report_headings),
    "category-specific": (3, "warning", category_specific),
    "melleafy-json-consistency": (3, "info", melleafy_json_consistency),
}
