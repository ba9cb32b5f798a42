"""The live set of a conversation with servers of its own, over that of its parent."""

from __future__ import annotations

from collections.abc import Callable

from checkrein.runtime.call.own_tools import OwnTools
from checkrein.runtime.call.toolset import Toolbox, ToolSet, ToolView
from support.calls import make_tool


def over(above: ToolSet, keeps: Callable[[str], bool] = lambda name: True) -> OwnTools:
    return OwnTools(above, ("own",), keeps)


def names(tools: ToolSet) -> list[str]:
    return [tool.name for tool in tools]


def test_what_comes_in_is_not_seen_above() -> None:
    above = ToolSet([make_tool("A")])
    own = over(above)
    own.add(make_tool("B"))
    assert names(own) == ["A", "B"]
    assert names(above) == ["A"]
    assert (own.owns("B"), own.owns("A"), above.owns("B")) == (True, False, False)


def test_it_follows_the_set_above() -> None:
    above = ToolSet([make_tool("A")])
    own = over(above)
    view = ToolView(own, Toolbox)
    above.add(make_tool("C"))
    changed = view.refresh()
    assert changed is not None
    assert changed.added == ("C",)
    own.add(make_tool("B"))
    above.remove(["A"])
    changed = view.refresh()
    assert changed is not None
    assert (changed.added, changed.removed) == (("B",), ("A",))
    assert view.refresh() is None


def test_its_own_tool_counts_before_one_above_and_what_it_does_not_keep_stays_out() -> None:
    theirs, mine = make_tool("A", "theirs"), make_tool("A", "mine")
    own = over(ToolSet([theirs, make_tool("B")]), lambda name: name == "A")
    own.add(mine, make_tool("C"))
    assert names(own) == ["B", "A"]
    assert next(tool for tool in own if tool.name == "A") is mine
    own.remove(["A"])
    assert next(tool for tool in own if tool.name == "A") is theirs
