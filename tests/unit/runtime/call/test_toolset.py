"""The live set of tools, and what one conversation sees of it."""

from __future__ import annotations

import threading

from checkrein.policy.tools import builtin_tools as meanings
from checkrein.policy.tools import effects
from checkrein.runtime.call.toolset import Change, Toolbox, ToolSet, ToolView
from checkrein.runtime.tools.catalog import builtin_tools
from support.calls import make_tool

SEARCH = make_tool("ToolSearch")


def names(box: Toolbox) -> list[str]:
    return [spec.name for spec in box.specs]


class TestToolbox:
    def test_eager_tools_are_in_the_request_and_others_wait(self) -> None:
        box = Toolbox([make_tool("A"), make_tool("B", eager=False)])
        assert names(box) == ["A"]
        assert [tool.name for tool in box.deferred] == ["B"]
        assert names(box.all_upfront()) == ["A", "B"]
        assert box.all_upfront().deferred == ()

    def test_late_ones_wait_though_they_are_eager(self) -> None:
        box = Toolbox([make_tool("A"), make_tool("B")]).with_late(["B"])
        assert names(box) == ["A"]
        assert [tool.name for tool in box.deferred] == ["B"]
        assert names(box.with_tools(make_tool("C"))) == ["A", "C"], "what is made from it keeps that"

    def test_the_specs_are_the_same_objects_each_time(self) -> None:
        box = Toolbox([make_tool("A")])
        assert box.specs is box.specs

    def test_parts_of_it(self) -> None:
        box = Toolbox([make_tool("A"), make_tool("B"), make_tool("C")])
        assert box.without(["B"]).names() == ("A", "C")
        assert box.only(["C", "A", "none"]).names() == ("A", "C"), "in its own order"
        replaced = box.replaced([make_tool("B", "other"), make_tool("D")])
        assert replaced.names() == ("A", "B", "C")
        assert replaced.get("B") is not box.get("B")

    def test_an_alias_is_the_tool(self) -> None:
        box = Toolbox(builtin_tools())
        (alias, name) = next((alias, tool.name) for tool in builtin_tools() for alias in tool.aliases)
        found = box.get(alias)
        assert found is not None
        assert found.name == name
        assert box.only([alias]).names() == (name,)

    def test_decisions_know_its_tools(self) -> None:
        assert Toolbox(builtin_tools()).registry is meanings(), "nothing is made for the tools that ship"
        meaning = effects("Peek", reads=("path",))
        registry = Toolbox([*builtin_tools(), make_tool("Peek", effects=meaning)]).registry
        assert registry.get("Peek") is meaning

    def test_a_tool_in_the_place_of_a_shipped_one_brings_its_own_meaning(self) -> None:
        own = make_tool("Read", effects=effects("Read", writes=("file_path",)))
        registry = Toolbox([*(tool for tool in builtin_tools() if tool.name != "Read"), own]).registry
        assert registry.get("Read") is own.meaning


class TestToolSet:
    def test_the_version_changes_with_it(self) -> None:
        live = ToolSet([make_tool("A")])
        before = live.version
        live.add(make_tool("B"))
        added = live.version
        live.remove(["A", "none"])
        assert before != added != live.version
        assert [tool.name for tool in live] == ["B"]

    def test_a_tool_of_a_known_name_takes_its_place(self) -> None:
        live = ToolSet([make_tool("A"), make_tool("B")])
        new = make_tool("A", "other")
        live.add(new)
        assert [tool.name for tool in live] == ["A", "B"]
        assert next(iter(live)) is new

    def test_it_may_change_while_it_is_read(self) -> None:
        live = ToolSet(make_tool(f"T{number}") for number in range(50))
        threads = [threading.Thread(target=lambda n=n: live.add(make_tool(f"N{n}"))) for n in range(20)]
        for thread in threads:
            thread.start()
        for _ in live:
            pass
        for thread in threads:
            thread.join(20)
        assert len(list(live)) == 70
        assert live.version == 20


class TestToolView:
    def test_it_stays_as_it_is_until_somebody_looks(self) -> None:
        live = ToolSet([make_tool("A")])
        view = ToolView(live, Toolbox)
        before = view.now
        assert view.refresh() is None
        live.add(make_tool("B"))
        assert view.now is before
        assert view.refresh() == Change(added=("B",))
        assert view.now.names() == ("A", "B")
        assert view.refresh() is None

    def test_with_a_search_the_list_in_the_request_stays(self) -> None:
        live = ToolSet([make_tool("A"), SEARCH])
        view = ToolView(live, Toolbox)
        before = names(view.now)
        for name in ("B", "C", "D"):
            live.add(make_tool(name))
            assert view.refresh() == Change(added=(name,), waiting=(name,))
            assert names(view.now) == before
        assert [tool.name for tool in view.now.deferred] == ["B", "C", "D"]

    def test_without_the_search_nothing_waits(self) -> None:
        live = ToolSet([make_tool("A"), SEARCH])
        view = ToolView(live, Toolbox)
        live.add(make_tool("B"))
        view.refresh()
        live.remove(["ToolSearch"])
        view.refresh()
        assert names(view.now) == ["A", "B"]

    def test_a_tool_that_goes(self) -> None:
        live = ToolSet([make_tool("A"), SEARCH])
        view = ToolView(live, Toolbox)
        live.add(make_tool("B"))
        view.refresh()
        live.remove(["B"])
        assert view.refresh() == Change(removed=("B",))
        assert view.now.get("B") is None

    def test_a_tool_that_goes_and_comes_back_waits_again(self) -> None:
        live = ToolSet([make_tool("A"), SEARCH])
        view = ToolView(live, Toolbox)
        live.remove(["A"])
        view.refresh()
        live.add(make_tool("A"))
        assert view.refresh() == Change(added=("A",), waiting=("A",))
        assert names(view.now) == ["ToolSearch"]

    def test_each_conversation_sees_its_own_part(self) -> None:
        live = ToolSet([make_tool("A"), make_tool("B")])
        small = ToolView(live, lambda tools: Toolbox(tools).only(["A"]))
        live.add(make_tool("C"))
        assert small.refresh() == Change()
        assert small.now.names() == ("A",)
