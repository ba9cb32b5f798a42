"""The tables load, agree with the vocabulary, and name only agents that exist."""

from __future__ import annotations

import pytest

from checkrein.facts.agents import find_target, target_names, targets
from checkrein.facts.behavior import ANY_LIST, ANY_TEXT, ANY_VALUE, OTHERS, PROFILES, VOCABULARY, profile


@pytest.mark.parametrize("name", PROFILES)
def test_tables_use_only_words_of_the_vocabulary(name: str) -> None:
    table = profile(name)
    for agent, fields in table.translate.items():
        assert agent in targets()
        for field, rows in fields.items():
            known = VOCABULARY[field]
            special = {ANY_VALUE} | ({ANY_TEXT, ANY_LIST} if known.open else set())
            assert set(rows) <= set(known.values) | special
    for agent, routes in table.route.items():
        assert agent == OTHERS or agent in targets()
        assert set(routes) <= set(VOCABULARY["execution"].values)
    for field, values in table.implied[OTHERS].items():
        assert set(values) <= set(VOCABULARY[field].values)


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(KeyError):
        profile("bogus")


def test_names_and_aliases_lead_to_rows() -> None:
    assert find_target("cursor") is targets()["cursor-agent"]
    assert find_target("kiro") is targets()["kiro-cli"]
    assert find_target("nobody") is None
    assert len(target_names()) == len(set(target_names()))


def test_paths_of_rows_are_relative_and_hold_their_name() -> None:
    for row in targets().values():
        places = [row.skill_dir, row.command and row.command.dir, row.instructions and row.instructions.file]
        places += [form.file for form in (row.hooks, row.servers, row.rules) if form]
        assert all(not place.startswith(("/", "~", "..")) for place in places if place)
        if row.agents:
            assert "{name}" in row.agents.path
        if row.instructions and row.instructions.rules:
            assert "{name}" in row.instructions.rules
            assert row.instructions.scoped
