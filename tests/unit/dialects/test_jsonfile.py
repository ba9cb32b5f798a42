from pathlib import Path

import pytest

from checkrein.base.diagnostic import Diagnostic
from checkrein.dialects import jsonfile
from checkrein.dialects.codes import Log


def read(tmp_path: Path, text: str) -> tuple[jsonfile.Document | None, list[Diagnostic]]:
    file = tmp_path / "settings.json"
    file.write_text(text)
    log = Log()
    return jsonfile.read(str(file), "project", log), log


def test_an_object_with_places(tmp_path: Path) -> None:
    document, log = read(tmp_path, '{"a": {"b": 1,\n "c": 2}}')
    assert document is not None
    assert log == []
    assert document.at("$.a.c").line == 2
    assert sorted(document.below("$.a")) == ["b", "c"]


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("", "JSON001", "empty"),
        ("{", "JSON001", None),
        ('{"a": 1, // no\n "b": 2}', "JSON001", "no comments"),
        ('{"a": [1,\n]}', "JSON001", "comma"),
        ("[1]", "JSON002", None),
        ("3", "JSON002", None),
    ],
)
def test_what_is_no_object(tmp_path: Path, text: str, code: str, hint: str | None) -> None:
    document, log = read(tmp_path, text)
    assert document is None
    assert [entry.code for entry in log] == [code]
    if hint:
        assert hint in (log[0].hint or "")


def test_a_key_given_twice(tmp_path: Path) -> None:
    document, log = read(tmp_path, '{"a": 1, "a": 2}')
    assert document is not None
    assert document.value == {"a": 2}
    assert [entry.code for entry in log] == ["JSON003"]


@pytest.mark.parametrize(
    "text", ['{"a": ' + "9" * 5000 + "}", "[" * 100_000, '{"a": NaN}', '{"a": "\\ud800"}']
)
def test_numbers_and_nesting_without_measure(tmp_path: Path, text: str) -> None:
    document, log = read(tmp_path, text)
    assert document is not None or [entry.code for entry in log] == ["JSON001"]
