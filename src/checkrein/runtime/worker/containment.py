"""Where a worker's files are: declared outputs must lie in its directory and exist, writes elsewhere are
named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from checkrein.base.files import beneath
from checkrein.base.harmless import one_line
from checkrein.model.skill_contract import Contract
from checkrein.policy.abstract import is_static
from checkrein.policy.shell import analyse
from checkrein.policy.shell.files import touched
from checkrein.runtime.worker.session_report import Written

_MOST = 50


def outputs_outside(contract: Contract, values: Mapping[str, Any], cwd: str) -> list[str]:
    """The declared paths that leave the directory, also through a link."""
    inside = os.path.realpath(cwd)
    return [path for path in _paths(contract, values) if not _is_inside(path, cwd, inside)]


def outputs_missing(contract: Contract, values: Mapping[str, Any], cwd: str) -> list[str]:
    """The declared paths where nothing is."""
    return [path for path in _paths(contract, values) if not _exists(os.path.join(cwd, path))]


def writes_outside(writes: Iterable[Written], cwd: str, home: str) -> tuple[str, ...]:
    """Paths that calls wrote outside the directory, as far as their text says."""
    inside = os.path.realpath(cwd)
    found: dict[str, None] = {}
    for one in writes:
        for path in _written(one, cwd, home):
            if not _is_inside(path, cwd, inside):
                found[one_line(path)] = None
    return tuple(found)[:_MOST]


def _written(one: Written, cwd: str, home: str) -> Iterator[str]:
    if one.tool != "Bash":
        yield one.text
        return
    for command in analyse(one.text, cwd, home).commands:
        files = touched(command, home).writes if command.words else ()
        for access in (*command.writes, *files):
            yield from (path for path in access.paths if is_static(path) and path != os.devnull)


def _paths(contract: Contract, values: Mapping[str, Any]) -> Iterator[str]:
    for output in contract.outputs:
        value = values.get(output.name) if output.is_path else None
        if isinstance(value, str):
            listed = output.type == "file_path_list"
            yield from (part.strip() for part in value.split(",")) if listed else (value,)
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))


def _is_inside(path: str, cwd: str, inside: str) -> bool:
    return "\0" not in path and beneath(os.path.realpath(os.path.join(cwd, path)), inside)


def _exists(path: str) -> bool:
    return "\0" not in path and os.path.exists(path)
