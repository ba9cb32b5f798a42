from __future__ import annotations

import pytest

from checkrein.base.errors import UsageError
from checkrein.protocol.machine.inventory import Entry, find_tool, tools
from checkrein.protocol.machine.route import route


def entry(name: str, text: str, kind: str = "command") -> Entry:
    return Entry(kind=kind, name=name, source_hint="x", responsibility=text, source="project", path="x")  # type: ignore[arg-type]


ENTRIES = [
    entry("review-change", "Look at a change."),
    entry("release", "Write notes about changes."),
    entry("Bash", "Run a command.", "tool"),
]


def names(prompt: str, limit: int = 5) -> list[str]:
    return [match.name for match in route(prompt, ENTRIES, limit).matches]


def test_scores_are_the_sum_of_their_reasons() -> None:
    for match in route("review the changes with bash", ENTRIES).matches:
        assert match.score == sum(int(reason.split(" ")[0]) for reason in match.reasons)
        assert match.score > 0


def test_the_name_counts_more_than_the_description() -> None:
    assert names("please review the change") == ["review-change", "release"]


def test_short_and_common_words_match_nothing() -> None:
    assert names("a the to of x") == []
    assert names("") == []


def test_equal_scores_go_by_kind_and_name() -> None:
    same = [entry("zed", "alpha"), entry("abe", "alpha"), entry("T", "alpha", "tool")]
    assert [match.name for match in route("alpha", same).matches] == ["abe", "zed", "T"]


def test_the_order_of_the_inventory_does_not_matter() -> None:
    assert route("review bash change", ENTRIES) == route("review bash change", ENTRIES[::-1])


def test_limits() -> None:
    assert names("review change", 1) == ["review-change"]
    assert names("review", 0) == []
    with pytest.raises(UsageError):
        route("x", ENTRIES, -1)


def test_every_tool_says_what_it_is_for_and_where_it_is() -> None:
    from importlib import import_module
    from pathlib import Path

    for tool in tools():
        module, _, function = tool.source_hint.partition(":")
        assert hasattr(import_module(module), function)
        assert Path(tool.path).is_file()
        assert tool.responsibility
        assert tool.details["input_schema"]["type"] == "object"


def test_a_former_name_finds_the_tool() -> None:
    aliases = [(alias, tool.name) for tool in tools() for alias in tool.details["aliases"]]
    for alias, name in aliases:
        assert find_tool(alias).name == name
