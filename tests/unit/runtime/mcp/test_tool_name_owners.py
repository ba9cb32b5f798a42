"""A project's server can't take the names, and with them the rules, of the user's own."""

from __future__ import annotations

import pytest

from checkrein.base.origin import Origin, Scope
from checkrein.runtime.mcp.tool_names import ToolNames

OWN = Origin("/home/me/.claude.json", "user")
THEIRS = Origin("/project/.mcp.json", "project")


@pytest.mark.parametrize("twin", ["my.server", "my server", "my_server"])
def test_a_project_that_is_faster_does_not_get_the_users_name(twin: str) -> None:
    if twin == "my_server":
        names = ToolNames({"my.server": OWN, twin: THEIRS})
        own = "my.server"
    else:
        names = ToolNames({"my_server": OWN, twin: THEIRS})
        own = "my_server"
    early = names.take(twin, ["echo"], THEIRS)
    assert early.names == {}
    assert early.problems[0].related == (OWN,)
    assert names.take(own, ["echo"], OWN).names == {"echo": "mcp__my_server__echo"}


@pytest.mark.parametrize("scope", ["project", "plugin"])
def test_no_tool_of_others_reads_as_one_of_the_users_server(scope: Scope) -> None:
    theirs = Origin("/project/.mcp.json", scope)
    names = ToolNames({"a__b": OWN, "a": theirs})
    early = names.take("a", ["b__echo", "b.echo", "b_.echo", "other"], theirs)
    assert set(early.names) == {"b.echo", "other"}
    assert "your server 'a__b'" in early.problems[0].message
    assert names.take("a__b", ["echo"], OWN).names == {"echo": "mcp__a__b__echo"}


def test_the_users_own_server_may_have_such_tools() -> None:
    names = ToolNames({"a": OWN, "a__b": THEIRS})
    assert names.take("a", ["b__echo"], OWN).names == {"b__echo": "mcp__a__b__echo"}
    assert names.take("a__b", ["echo"], THEIRS).names == {}
