"""Permissions written into a settings file: the change is there, and nothing else changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base import jsonc
from checkrein.base.errors import UsageError
from checkrein.policy.updates import Update
from checkrein.runtime.call import settings_file
from checkrein.runtime.call.settings_file import edited, place_of, save


def made(**fields: Any) -> Update:
    return msgspec.convert({"destination": "userSettings", **fields}, Update)


def rules(kind: str, behavior: str, *names: str) -> Update:
    listed = [{"toolName": "Bash", "ruleContent": name} for name in names]
    return made(type=kind, rules=listed, behavior=behavior)


ADD = rules("addRules", "allow", "make *")


def test_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / ".claude" / "settings.json"
    save(str(path), ADD)
    assert json.loads(path.read_text()) == {"permissions": {"allow": ["Bash(make *)"]}}
    assert path.read_text().endswith("}\n")
    assert os.listdir(path.parent) == ["settings.json"]


def test_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    text = (
        '{\n    // mine\n    "model": "x",\n    "permissions": {\n        "allow": ["Read"], // why\n'
        '        "deny": []\n    },\n    "z": [1,2]\n}\n'
    )
    path.write_text(text)
    path.chmod(0o600)
    save(str(path), ADD)
    assert path.read_text() == text.replace('["Read"]', '["Read", "Bash(make *)"]')
    assert path.stat().st_mode & 0o777 == 0o600
    assert place_of(str(path), "allow", "Bash(make *)").line == 5  # type: ignore[union-attr]
    save(str(path), rules("removeRules", "allow", "make *"))
    assert path.read_text() == text


def test_twice_is_once(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    save(str(path), ADD)
    before = path.stat().st_mtime_ns
    save(str(path), ADD)
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("text", "update", "wanted"),
    [
        ("{}", made(type="setMode", mode="plan"), {"defaultMode": "plan"}),
        (
            '{"permissions": {"defaultMode": "plan", "ask": []}}',
            made(type="setMode", mode="default"),
            {"defaultMode": "default", "ask": []},
        ),
        ("{}", made(type="addDirectories", directories=["../x"]), {"additionalDirectories": ["../x"]}),
        (
            '{"permissions": {"additionalDirectories": ["a", "b", "a"]}}',
            made(type="removeDirectories", directories=["a"]),
            {"additionalDirectories": ["b"]},
        ),
        ('{"permissions": {}}', rules("addRules", "deny", "x"), {"deny": ["Bash(x)"]}),
        ('{"permissions": {"ask": ["A"]}}', rules("replaceRules", "ask", "x"), {"ask": ["Bash(x)"]}),
        ('{"permissions": {"ask": ["A"]}}', rules("replaceRules", "ask"), {"ask": []}),
    ],
)
def test_changes(text: str, update: Update, wanted: dict[str, Any]) -> None:
    assert json.loads(edited(text, update, "f"))["permissions"] == wanted


@pytest.mark.parametrize(
    "text", ["nope", "[]", '{"permissions": 3}', '{"permissions": {"allow": "Read"}}', "\ufeff{}", "{,}"]
)
def test_a_file_that_can_not_take_it_is_untouched(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"settings\.json") as caught:
        save(str(path), ADD)
    assert caught.value.kind == "settings_not_saved"
    assert path.read_text() == text


def test_a_directory_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        save(str(tmp_path), ADD)


def test_another_writer_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"a": 1}')
    plain, calls = settings_file.edited, []

    def slow(text: str, update: Update, name: str) -> str:
        calls.append(text)
        if len(calls) == 1:
            path.write_text('{"a": 2}')
        return plain(text, update, name)

    monkeypatch.setattr(settings_file, "edited", slow)
    save(str(path), ADD)
    assert json.loads(path.read_text()) == {"a": 2, "permissions": {"allow": ["Bash(make *)"]}}
    assert len(calls) == 2


NAMES = st.sampled_from(["make *", "a", 'q"uote', "ü", "x (y)"])
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "permissions": st.fixed_dictionaries(
            {},
            optional={
                "allow": st.lists(NAMES.map(lambda name: f"Bash({name})"), max_size=4),
                "deny": st.lists(st.text(max_size=4), max_size=3),
                "defaultMode": st.just("plan"),
            },
        ),
        "hooks": st.just({"Stop": [{"hooks": []}]}),
    },
)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(DOCUMENTS, st.lists(NAMES, max_size=3), st.sampled_from([None, 1, 2, "\t"]))
def test_only_the_list_changes(document: dict[str, Any], names: list[str], indent: Any) -> None:
    text = json.dumps(document, indent=indent)
    added = edited(text, rules("addRules", "allow", *names), "f")
    now = json.loads(jsonc.strict(added))
    before = document.get("permissions", {}).get("allow", [])
    wanted = [*before, *dict.fromkeys(t for name in names if (t := f"Bash({name})") not in before)]
    assert now.get("permissions", {}).get("allow", []) == wanted
    for value in (now, document):
        value.get("permissions", {}).pop("allow", None)
        if not value.get("permissions"):
            value.pop("permissions", None)
    assert now == document
