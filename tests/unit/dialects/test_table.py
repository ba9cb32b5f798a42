from __future__ import annotations

import subprocess
import sys

import pytest

from checkrein.dialects.table import find, readable
from checkrein.facts.agents import targets


@pytest.mark.parametrize("key", list(targets()))
def test_every_agent_is_a_dialect_that_can_be_written(key: str) -> None:
    dialect = find(key)
    assert dialect is not None
    assert dialect.write is not None
    assert dialect.files == targets()[key].files


@pytest.mark.parametrize("name", readable())
def test_a_dialect_that_can_be_read_has_files(name: str) -> None:
    dialect = find(name)
    assert dialect is not None
    assert dialect.name == name
    assert dialect.read is not None
    assert dialect.files.all()
    assert dialect.read({}, "/p").diagnostics == ()


def test_names_and_aliases() -> None:
    found = (find("cursor"), find("cursor-agent"))
    assert [dialect and dialect.name for dialect in found] == ["cursor", "cursor"]
    assert find("nobody") is None


def test_to_name_one_imports_only_that_one() -> None:
    code = (
        "import sys; from checkrein.dialects.table import find; find('codex');"
        "print([m for m in sys.modules if m.startswith('checkrein.dialects.') and '.read' in m],"
        " 'checkrein.dialects.generic.write' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "cursor" not in out
    assert "copilot" not in out
    assert "checkrein.dialects.codex.read" in out
    assert out.strip().endswith("False")
