from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.base.jsonpos import Json, JsonError, decode, join

TEXT = """{
  "permissions": {
    "deny": ["Bash(rm *)",
             "Read(.env)"]
  },
  "a b": {"x": [{"y": null}]}
}"""


def test_places_of_members_and_elements() -> None:
    found = decode(TEXT)
    assert isinstance(found, Json)
    assert found.spans["$.permissions.deny[1]"].line == 4
    assert found.spans["$.permissions.deny[1]"].column == 14
    assert (found.spans["$.permissions"].line, found.spans["$.permissions"].last_line) == (2, 5)
    assert found.spans['$["a b"].x[0].y'].line == 6
    assert found.spans["$"].last_line == 7


def test_errors_have_a_place() -> None:
    found = decode('{"a": 1,\n "b": }')
    assert isinstance(found, JsonError)
    assert found.span.line == 2


def test_duplicates_are_named() -> None:
    found = decode('{"a": 1, "a": 2}')
    assert isinstance(found, Json)
    assert found.duplicates == ("$.a",)


def test_too_deep_is_an_error_not_a_crash() -> None:
    assert isinstance(decode("[" * 100_000 + "]" * 100_000), JsonError)


def paths(value: Any, path: str = "$") -> list[str]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += paths(item, join(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += paths(item, join(path, index))
    return found


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=values, indent=st.sampled_from([None, 0, 2]))
def test_every_value_has_a_place_and_the_text_there_decodes_to_it(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    found = decode(text)
    assert isinstance(found, Json)
    assert found.value == value
    assert set(found.spans) == set(paths(value))
    lines = text.split("\n")
    for path, span in found.spans.items():
        if span.line == span.last_line:
            piece = lines[span.line - 1][span.column - 1 : span.end_column - 1]
            if path != "$" and not path.endswith("]"):
                piece = json.loads("{" + piece + "}")
                assert len(piece) == 1
