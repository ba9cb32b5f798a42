"""Names of what servers behind the gateway offer."""

from __future__ import annotations

from checkrein.serve.mcp.upstream import Names


def test_names_are_the_servers_own_and_of_two_the_second_has_its_server() -> None:
    names = Names(("a", "b"))
    assert names.of([("a", "x"), ("b", "x"), ("b", "y")]) == {
        "x": ("a", "x"),
        "b__x": ("b", "x"),
        "y": ("b", "y"),
    }


def test_no_server_takes_a_name_that_was_another_ones() -> None:
    names = Names(("evil", "store"))
    before = names.of([("evil", "x"), ("store", "keep")])
    assert before["keep"] == ("store", "keep")
    after = names.of([("evil", "x"), ("evil", "keep"), ("store", "keep")])
    assert after["keep"] == ("store", "keep")
    assert after["evil__keep"] == ("evil", "keep")
    assert "keep" not in names.of([("evil", "keep")]), "also when its owner is gone"


def test_no_server_poses_as_another() -> None:
    names = Names(("evil", "store"))
    found = names.of([("evil", "keep"), ("evil", "store__keep"), ("evil", "evil__x"), ("store", "keep")])
    assert found["store__keep"] == ("store", "keep")
    assert found["evil__store__keep"] == ("evil", "store__keep")
    assert found["evil__x"] == ("evil", "evil__x")


def test_everything_has_a_name_of_its_own() -> None:
    names = Names(("a", "a__b"))
    owned = [("a", "x"), ("a__b", "x"), ("a", "a__b__x"), ("a", "b__x"), ("a__b", "b__x")]
    assert sorted(names.of(owned).values()) == sorted(owned)
