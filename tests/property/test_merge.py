"""Any configuration of a user: deploy and undo give back the same bytes, and nothing of theirs changes."""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.jsonc import strict, without_comments
from checkrein.deploy.merge import Merge, Merged, merge_json

MORE = 10 if os.environ.get("CHECKREIN_CAMPAIGN") else 1
"""How many times the examples of CI; the long run is with CHECKREIN_CAMPAIGN=1."""

TEXT = st.text(st.characters(exclude_characters="{}[]", exclude_categories=["Cs"]), max_size=4)
"""Without brackets, since `texts` puts space between those that are empty."""
KEYS = st.sampled_from(["mcpServers", "hooks", "theme", "a/b", "é", ""]) | TEXT
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=3), max_size=4)
SPACE = st.sampled_from(["", " ", "\n", "\t", "\r\n  "])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A document as anybody may have written it."""
    value = draw(OBJECTS)
    indent = draw(st.sampled_from([None, None, 2, 4, "\t"]))
    colon, comma = draw(st.sampled_from([":", ": ", " : "])), draw(st.sampled_from([",", ", ", " ,"]))
    said = json.dumps(
        value,
        indent=indent,
        ensure_ascii=draw(st.booleans()),
        separators=(comma.rstrip() if indent else comma, colon),
    )
    empty = draw(SPACE)
    said = said.replace("{}", "{" + empty + "}").replace("[]", "[" + empty + "]")
    if draw(st.booleans()):
        said = said.replace("\n", "\r\n")
    return draw(SPACE) + said + draw(SPACE)


def merged(text: str, wanted: dict[str, Any], old: Merge, **how: Any) -> Merged | None:
    found = merge_json(text, wanted, old, **how)
    return found if isinstance(found, Merged) else None


@settings(max_examples=200 * MORE, deadline=None, derandomize=True)
@given(texts(), OBJECTS)
def test_deploy_and_undo_give_back_the_same_bytes(text: str, wanted: dict[str, Any]) -> None:
    there = merged(text, wanted, Merge())
    assert there is not None
    again = merged(there.text, wanted, there.merge)
    assert again is not None
    assert (again.text, again.merge) == (there.text, there.merge)
    undone = merged(there.text, {}, there.merge)
    assert undone is not None
    assert undone.text == text
    assert undone.merge.is_empty


@settings(max_examples=150 * MORE, deadline=None, derandomize=True)
@given(texts(), st.lists(OBJECTS, min_size=1, max_size=4))
def test_any_row_of_deploys_is_undone_to_the_byte(text: str, outputs: list[dict[str, Any]]) -> None:
    now, merge = text, Merge()
    for wanted in [*outputs, {}]:
        there = merged(now, wanted, merge)
        assert there is not None
        assert there.edited == ()
        now, merge = there.text, there.merge
    assert now == text


def kept(theirs: Any, now: Any, depth: int = 0) -> bool:
    """Everything of theirs is in `now`: keys with their values, elements in their order."""
    if isinstance(theirs, dict) and isinstance(now, dict) and depth < 2:
        return all(key in now and kept(value, now[key], depth + 1) for key, value in theirs.items())
    if isinstance(theirs, list) and isinstance(now, list):
        return json.dumps(now[: len(theirs)]) == json.dumps(theirs)
    return json.dumps(theirs) == json.dumps(now)


@settings(max_examples=150 * MORE, deadline=None, derandomize=True)
@given(texts(), OBJECTS)
def test_nothing_of_the_user_changes(text: str, wanted: dict[str, Any]) -> None:
    there = merged(text, wanted, Merge())
    assert there is not None
    assert kept(json.loads(text), json.loads(there.text))


NOTES = st.sampled_from(["", "", "", " ", "\n", "// a, } \n", "/* b: [ */", " /* c\n */ ", '// "d"\r\n\t'])


@st.composite
def commented(draw: st.DrawFn) -> str:
    """A document with comments anywhere between its tokens, and with commas before closing brackets."""

    def said(value: Any) -> str:
        if isinstance(value, dict | list) and value:
            items = value.items() if isinstance(value, dict) else [(None, one) for one in value]
            members = [
                (f"{json.dumps(key)}{draw(NOTES)}:{draw(NOTES)}" if key is not None else "") + said(one)
                for key, one in items
            ]
            body = draw(NOTES) + "".join(
                member
                + draw(NOTES)
                + ("," if n + 1 < len(members) or draw(st.booleans()) else "")
                + draw(NOTES)
                for n, member in enumerate(members)
            )
            return f"{{{body}}}" if isinstance(value, dict) else f"[{body}]"
        if value in ({}, []) and isinstance(value, dict | list):
            return json.dumps(value)[0] + draw(NOTES) + json.dumps(value)[1]
        return json.dumps(value)

    return draw(NOTES) + said(draw(OBJECTS)) + draw(NOTES)


@settings(max_examples=200 * MORE, deadline=None, derandomize=True)
@given(commented(), st.lists(OBJECTS, min_size=1, max_size=3))
def test_comments_stay_and_deploys_are_undone_to_the_byte(text: str, outputs: list[dict[str, Any]]) -> None:
    now, merge = text, Merge()
    theirs = json.loads(strict(text))
    for wanted in [*outputs, {}]:
        there = merged(now, wanted, merge, comments="commas")
        assert there is not None
        assert there.edited == ()
        assert kept(theirs, json.loads(strict(there.text)))
        now, merge = there.text, there.merge
    assert now == text


@settings(max_examples=150 * MORE, deadline=None, derandomize=True)
@given(commented() | texts() | st.text(max_size=30))
def test_what_is_no_json_gives_way_in_its_place(text: str) -> None:
    for made in (strict(text), without_comments(text)):
        assert len(made) == len(text)
        assert [n for n, sign in enumerate(made) if sign in "\r\n"] == [
            n for n, sign in enumerate(text) if sign in "\r\n"
        ]


@settings(max_examples=150 * MORE, deadline=None, derandomize=True)
@given(texts())
def test_strict_json_is_left_as_it_is(text: str) -> None:
    assert strict(text) == text
