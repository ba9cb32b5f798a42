"""YAML with the places of its members: merges, aliases, keys and values that JSON has no form for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.base.yamltree import NotYaml, Tree, parse_tree


def tree(text: str) -> Tree:
    found = parse_tree(text)
    assert isinstance(found, Tree), found
    return found


def test_values_and_places() -> None:
    found = tree("a: 1\nb:\n  - x\n  - {c: 'y && z'}\nd: |\n  one\n  two\ne: 2\n")
    assert found.value == {"a": 1, "b": ["x", {"c": "y && z"}], "d": "one\ntwo\n", "e": 2}
    lines = {path: (span.line, span.last_line) for path, span in found.spans().items()}
    assert lines == {
        "a": (1, 1),
        "b": (2, 4),
        "b[0]": (3, 3),
        "b[1]": (4, 4),
        "b[1].c": (4, 4),
        "d": (5, 7),
        "e": (8, 8),
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: 1\n1: 2\nyes: 3\n~: 4\n", {"on": 1, "1": 2, "yes": 3, "~": 4}),
        (
            "a: 2024-01-01\nb: .inf\nc: 0x10\n",
            {"a": "2024-01-01", "b": ".inf", "c": 16},
        ),
        ("x: &b {a: 1, b: 2}\ny: {<<: *b, b: 3}\n", {"x": {"a": 1, "b": 2}, "y": {"a": 1, "b": 3}}),
        ("y: {<<: [{a: 1}, {a: 2, c: 3}], c: 4}\n", {"y": {"a": 1, "c": 4}}),
        ("y: {<<: text, a: 1}\n", {"y": {"a": 1}}),
        ("", None),
        ("a: " + "9" * 5000, {"a": "9" * 5000}),
    ],
)
def test_values(text: str, value: object) -> None:
    assert tree(text).value == value


def test_keys_that_appear_twice_anywhere() -> None:
    found = tree("a: {b: 1, b: 2}\nc: [{d: 1, d: 2}]\na: 3\n")
    assert {path for path, _ in found.repeated()} == {"a", "c[0].d"}


_MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: 1}}\n" for n in range(1, 40)
)
_LISTS = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "did not find"),
        ("a: 1\n---\nb: 2\n", "another document"),
        ("a: !!python/object:os.system x\n", "constructor"),
        ("a: &a [*a]\n", "expand too far"),
        (_MERGES, "expand too far"),
        (_LISTS, "expand too far"),
        ("[" * 200, "nested too deeply"),
        ("a: *b\n", "undefined alias"),
    ],
)
def test_what_is_not_read(text: str, said: str) -> None:
    found = parse_tree(text)
    assert isinstance(found, NotYaml)
    assert said in found.message


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*<!'\"|>\n #?,1~"), max_size=60))
def test_reading_never_raises(text: str) -> None:
    found = parse_tree(text)
    if isinstance(found, Tree):
        found.spans()
        list(found.repeated())
