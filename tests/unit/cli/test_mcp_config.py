"""Servers of the command line beside those of an administrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from checkrein.base.errors import UsageError
from checkrein.cli.run_options import check_servers
from checkrein.passes.load import load

GIVEN = '{"mcpServers": {"s": {"command": "x"}}}'


def test_an_administrator_who_fixes_the_servers_refuses_others(
    tree: Callable[[Mapping[str, str]], Path],
) -> None:
    root = tree({"p/.git/": "", "managed/": ""})
    check_servers(load(root / "p", managed_dir=str(root / "managed"), mcp_config=[GIVEN]))
    tree({"managed/managed-mcp.json": '{"mcpServers": {"m": {"command": "y"}}}'})
    with pytest.raises(UsageError, match=r"managed-mcp\.json"):
        check_servers(load(root / "p", managed_dir=str(root / "managed"), mcp_config=[GIVEN]))
