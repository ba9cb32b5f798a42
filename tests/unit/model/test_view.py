from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.model.project import Detection, Place, Project, Sources
from checkrein.model.view import View

PLACE = Place(cwd="/p", root="/p", root_reason="git", home="/h", config_dir="/h/.claude")
PROJECT = Project(place=PLACE, detection=Detection("claude_code", {}, ()), sources=Sources())
names = st.none() | st.frozensets(st.sampled_from("abcd"))


@settings(max_examples=100, derandomize=True)
@given(names, names, st.sampled_from("abcd"))
def test_narrowing_only_takes_away(one: frozenset[str] | None, two: frozenset[str] | None, tool: str) -> None:
    first = View(PROJECT).narrow(tools=one)
    both = first.narrow(tools=two)
    assert not both.sees_tool(tool) or first.sees_tool(tool)
    assert both.sees_tool(tool) == ((one is None or tool in one) and (two is None or tool in two))
    assert both.narrow(tools=two) == both


def test_everything_is_visible_at_first() -> None:
    assert View(PROJECT).sees_tool("anything")
    assert View(PROJECT).skills == {}
