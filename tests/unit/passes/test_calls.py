"""Calls as they are typed."""

from __future__ import annotations

import pytest

from checkrein.base.errors import UsageError
from checkrein.passes.calls import parse_call


def test_a_misspelt_tool_is_named() -> None:
    with pytest.raises(UsageError, match="no tool 'Bahs'") as raised:
        parse_call("Bahs(ls)")
    assert raised.value.hint == "Did you mean Bash(ls)?"
