"""Old forms of recipes in the present form. Each migration is a change of text; comments elsewhere stay."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from checkrein import __version__
from checkrein.base.diagnostic import Edit
from checkrein.base.origin import Span
from checkrein.base.yamltree import NotYaml, Tree, parse_tree
from checkrein.model.expression import equals
from checkrein.passes.fix import rewrite

_OLD_TEMP = "{{AUTOSKILLIT_TEMP}}"
_TEMP = "{{CHECKREIN_TEMP}}"
_VERSIONS = ("autoskillit_version", "checkrein_version")
_ROUNDS = 10


class Migration(Struct, frozen=True, kw_only=True):
    """`since` is the first version whose recipes have the new form; older ones are changed."""

    id: str
    since: str
    description: str
    edits: Callable[[Tree, str], Iterator[Edit]]


class Migrated(Struct, frozen=True):
    """The new text, and the ids of the migrations that changed it, in order."""

    text: str
    applied: tuple[str, ...]


def migrate(text: str) -> Migrated:
    """A recipe's text in the present form. A text that is not YAML stays as it is."""
    applied: dict[str, None] = {}
    for migration in MIGRATIONS:
        for _ in range(_ROUNDS):
            tree = parse_tree(text)
            if (
                isinstance(tree, NotYaml)
                or not isinstance(tree.value, dict)
                or not _is_before(tree, migration)
            ):
                break
            edits = list(migration.edits(tree, text))
            if not edits:
                break
            text = rewrite(text, edits)
            applied[migration.id] = None
    return Migrated(text, tuple(applied))


def migration_diff(before: str, after: str, name: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def version_tuple(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparing; other parts do not count."""
    return tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:4])


def _is_before(tree: Tree, migration: Migration) -> bool:
    own = tree.members.get("checkrein_version")
    return own is None or version_tuple(str(own.value)) < version_tuple(migration.since)


def _retry_block(tree: Tree, text: str) -> Iterator[Edit]:
    for step in _steps(tree):
        block = step.members.get("retry")
        if block is None:
            continue
        known = block.value if isinstance(block.value, dict) else {}
        fields: dict[str, Any] = {"retries": known.get("max_attempts", known.get("attempts", 3))}
        if isinstance(known.get("on_exhausted"), str):
            fields["on_exhausted"] = known["on_exhausted"]
        left = [f"{name}: {_scalar(value)}" for name, value in fields.items() if name not in step.members]
        yield _replaced(block.span, text, left)


def _retry_tool(tree: Tree, text: str) -> Iterator[Edit]:
    for step in _steps(tree):
        tool = step.members.get("tool")
        if tool is not None and tool.value == "run_skill_retry":
            yield _replaced(tool.span, text, ["tool: run_skill"])


def _result_list(tree: Tree, text: str) -> Iterator[Edit]:
    for step in _steps(tree):
        old = step.members.get("on_result")
        if old is None or not isinstance(old.value, dict):
            continue
        field, routes = old.value.get("field"), old.value.get("routes")
        if not isinstance(field, str) or not isinstance(routes, dict):
            continue
        arms = [
            f"{{when: {_scalar(equals(f'result.{field}', value))}, route: {_scalar(route)}}}"
            for value, route in routes.items()
        ]
        if _is_block(old.span, text):
            yield _replaced(old.span, text, ["on_result:", *(f"  - {arm}" for arm in arms)])
        else:
            yield _replaced(old.span, text, [f"on_result: [{', '.join(arms)}]"])


def _temp_name(tree: Tree, text: str) -> Iterator[Edit]:
    for number, line in enumerate(text.split("\n"), 1):
        for match in re.finditer(re.escape(_OLD_TEMP), line):
            yield Edit("", Span(number, match.start() + 1, number, match.end() + 1), _TEMP)


def _version(tree: Tree, text: str) -> Iterator[Edit]:
    for key in _VERSIONS:
        held = tree.members.get(key)
        if held is not None and (key != "checkrein_version" or str(held.value) != __version__):
            yield _replaced(held.span, text, [f'checkrein_version: "{__version__}"'])
            return


def _steps(tree: Tree) -> Iterator[Tree]:
    """Every mapping of fields below a mapping of steps, in bodies too."""
    pending = [tree.members["steps"]] if "steps" in tree.members else []
    while pending:
        for step in pending.pop().members.values():
            yield step
            if "steps" in step.members:
                pending.append(step.members["steps"])
            for branch in step.members["parallel"].members.values() if "parallel" in step.members else ():
                pending.append(branch.members.get("steps", branch))


def _is_block(span: Span, text: str) -> bool:
    """Whether a member begins its line."""
    return not text.split("\n")[span.line - 1][: span.column - 1].strip()


def _replaced(span: Span, text: str, lines: list[str]) -> Edit:
    between = "\n" + " " * (span.column - 1) if _is_block(span, text) else ", "
    return Edit("", span, between.join(lines))


def _scalar(value: Any) -> str:
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w-]*", value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        id="retry-block",
        since="0.1.0",
        description="`retry: {max_attempts, on_exhausted}` becomes `retries` and `on_exhausted`.",
        edits=_retry_block,
    ),
    Migration(
        id="retry-tool",
        since="0.1.0",
        description="The tool `run_skill_retry` becomes `run_skill`, which has `retries`.",
        edits=_retry_tool,
    ),
    Migration(
        id="result-list",
        since="0.1.0",
        description="`on_result: {field, routes}` becomes a list of `{when, route}`.",
        edits=_result_list,
    ),
    Migration(
        id="temp-name",
        since="0.1.0",
        description="`{{AUTOSKILLIT_TEMP}}` becomes `{{CHECKREIN_TEMP}}`.",
        edits=_temp_name,
    ),
    Migration(
        id="version",
        since=__version__,
        description="`autoskillit_version`, or an older `checkrein_version`, becomes the present version.",
        edits=_version,
    ),
)
"""In the order in which they are applied. The last one marks the recipe as present."""
