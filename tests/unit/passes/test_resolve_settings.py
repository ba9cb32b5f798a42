from typing import Any

import pytest

from checkrein.base.origin import Origin, Scope
from checkrein.dialects.claude.settings import flatten
from checkrein.dialects.jsonfile import Document
from checkrein.model.project import Effective
from checkrein.passes.resolve.settings import merge


def merged(**scopes: dict[str, Any]) -> dict[str, Effective]:
    found = []
    for scope, value in scopes.items():
        name: Scope = scope.rstrip("_0123456789")  # type: ignore[assignment]  # the keyword is a scope
        found.extend(flatten(Document(value, Origin(f"/{scope}.json", name))))
    return merge(found)


def chain(effective: Effective) -> list[tuple[str, Any, bool]]:
    return [(c.item.origin.scope, c.item.value, c.lost is None) for c in effective.candidates]


def test_the_highest_scalar_wins_and_the_others_say_why_they_lost() -> None:
    found = merged(user={"model": "u"}, project={"model": "p"}, local={"model": "l"}, cli={"model": "c"})
    assert found["model"].value == "c"
    assert chain(found["model"]) == [
        ("cli", "c", True),
        ("local", "l", False),
        ("project", "p", False),
        ("user", "u", False),
    ]
    assert found["model"].candidates[3].lost == "cli settings win over user settings"


def test_managed_wins_over_everything() -> None:
    assert merged(cli={"model": "c"}, managed={"model": "m"})["model"].value == "m"


def test_objects_merge_by_key() -> None:
    found = merged(user={"env": {"A": "1", "B": "1"}}, project={"env": {"B": "2"}})
    assert found["env"].value == {"B": "2", "A": "1"}
    assert found["env"].sensitive
    assert [c.item.name for c in found["env"].candidates] == ["env.B", "env.B", "env.A"]


def test_lists_are_joined_and_repeats_lost() -> None:
    found = merged(user={"permissions": {"allow": ["a", "b"]}}, local={"permissions": {"allow": ["b", "c"]}})
    assert found["permissions.allow"].value == ["b", "c", "a"]
    assert chain(found["permissions.allow"])[-1] == ("user", "b", False)
    assert found["permissions"].value == {"allow": ["b", "c", "a"]}


def test_an_empty_list_adds_nothing() -> None:
    assert merged(local={"claudeMdExcludes": []}, user={"claudeMdExcludes": ["x"]})[
        "claudeMdExcludes"
    ].value == ["x"]


def test_some_lists_are_taken_whole() -> None:
    found = merged(local={"fallbackModel": ["a"]}, user={"fallbackModel": ["b"]})
    assert found["fallbackModel"].value == ["a"]
    models = merged(managed={"availableModels": ["a"]}, user={"availableModels": ["b"]})
    assert models["availableModels"].value == ["a"]
    assert merged(local={"availableModels": ["a"]}, user={"availableModels": ["b"]})[
        "availableModels"
    ].value == ["a", "b"]


@pytest.mark.parametrize(
    ("key", "value", "scope", "allowed"),
    [
        ("allowManagedHooksOnly", True, "project", False),
        ("allowManagedHooksOnly", True, "managed", True),
        ("spellcheck", True, "project", False),
        ("spellcheck", True, "local", False),
        ("spellcheck", True, "user", True),
        ("skipDangerousModePermissionPrompt", True, "project", False),
        ("skipDangerousModePermissionPrompt", True, "local", True),
        ("model", "m", "project", True),
    ],
)
def test_who_may_set_a_key(key: str, value: Any, scope: str, allowed: bool) -> None:
    found = merged(**{scope: {key: value}})[key]
    assert found.value == (value if allowed else None)
    assert (found.candidates[0].lost is None) is allowed


def test_a_repository_may_not_choose_auto_mode() -> None:
    found = merged(
        project={"permissions": {"defaultMode": "auto"}}, user={"permissions": {"defaultMode": "plan"}}
    )
    assert found["permissions.defaultMode"].value == "plan"
    assert found["permissions.defaultMode"].candidates[0].lost == "project settings may not choose `auto`"


@pytest.mark.parametrize(
    ("key", "scopes", "value"),
    [
        ("isolatePeerMachines", {"managed": False, "user": True}, True),
        ("remoteControlAtStartup", {"managed": True, "project": False}, False),
        ("remoteControlAtStartup", {"managed": True, "user": False}, True),
        ("useAutoModeDuringPlan", {"managed": True, "user": False}, False),
    ],
)
def test_where_the_stricter_value_wins(key: str, scopes: dict[str, bool], value: bool) -> None:
    assert merged(**{scope: {key: setting} for scope, setting in scopes.items()})[key].value is value


def test_a_later_managed_file_replaces_an_earlier_one() -> None:
    found = merged(managed_1={"model": "late"}, managed_2={"model": "early"})["model"]
    assert found.value == "late"
    assert found.candidates[1].lost == "/managed_1.json comes later and replaces it"


def test_a_scalar_and_an_object_for_one_key() -> None:
    found = merged(local={"statusLine": "off"}, user={"statusLine": {"type": "command"}})
    assert found["statusLine"].value == "off"
    assert "another form" in (found["statusLine.type"].candidates[0].lost or "")
    found = merged(local={"statusLine": {"type": "command"}}, user={"statusLine": "off"})
    assert found["statusLine"].value == {"type": "command"}


def test_a_list_and_a_scalar_for_one_key() -> None:
    found = merged(local={"claudeMdExcludes": ["a"]}, user={"claudeMdExcludes": "b"})
    assert found["claudeMdExcludes"].value == ["a"]
    assert found["claudeMdExcludes"].candidates[1].lost is not None


def test_keys_with_dots_of_their_own() -> None:
    found = merged(user={"enabledPlugins": {"a@b.c": True}})
    assert found["enabledPlugins"].value == {"a@b.c": True}


def test_settings_of_a_plugin_come_last() -> None:
    assert merged(plugin={"agent": "p"}, user={"agent": "u"})["agent"].value == "u"
    assert merged(plugin={"agent": "p"})["agent"].value == "p"
