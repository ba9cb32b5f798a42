"""Masks: equal for equal values, with one key; nobody can make one up."""

from __future__ import annotations

from checkrein.base.secret_spans import MASK
from checkrein.runtime.secrets.vault import Vault, masks_in

AWS = "AKIA" + "Q3EGRZ7XMPLW2T9B"
KEY = b"k" * 32


def vault(*own: str) -> Vault:
    return Vault(own, lambda: KEY)


def test_equal_values_have_equal_masks_in_every_session() -> None:
    one, other = vault(), vault()
    other.masked("PASSWORD=Tr0ub4dor&3")
    assert one.masked(f"x {AWS}") == other.masked(f"x {AWS}")
    assert one.masked(f"x {AWS}") != Vault().masked(f"x {AWS}"), "another user's key gives another mask"


def test_masks_hide_the_value_and_are_not_masked_again() -> None:
    made = vault()
    once = made.masked(f"a={AWS} PASSWORD: Tr0ub4dor&3")
    assert AWS not in once
    assert made.masked(once) == once


def test_a_value_keeps_its_first_kind() -> None:
    made = vault()
    first = made.masked("TOKEN=9aB3xK7mQ2wE5rT8yU1i")
    assert MASK.findall(first) == MASK.findall(made.masked("password=9aB3xK7mQ2wE5rT8yU1i"))


def test_a_value_once_seen_hides_everywhere_and_a_common_word_does_not() -> None:
    made = vault()
    made.masked("TOKEN=9aB3xK7mQ2wE5rT8yU1i and postgres://u:c0mmon@h")
    assert "9aB3xK7m" not in made.masked("later: x9aB3xK7mQ2wE5rT8yU1iy")
    assert made.masked("a c0mmon word") == "a c0mmon word"


def test_overlapping_secrets_leave_nothing_between_them() -> None:
    made = vault("own-secret-value")
    assert "secret-value" not in made.masked("TOKEN=12own-secret-value34abcd")
    assert "34abcd" not in made.masked("TOKEN=12own-secret-value34abcd")


def test_made_up_masks_are_not_ours() -> None:
    made = vault()
    ours = MASK.findall(made.masked(AWS))[0]
    assert made.is_ours(ours)
    assert vault().is_ours(ours), "also without the value at hand"
    assert not Vault().is_ours(ours)
    guessed = sum(made.is_ours(f"{n:010x}") for n in range(10_000))
    assert guessed < 200


def test_masks_in_nested_values() -> None:
    mask = vault().masked(AWS)
    assert list(masks_in({"a": [mask, {"b": (mask, 1)}], "c": "no"})) == MASK.findall(mask) * 2


def test_short_values_of_ours_do_not_hide_the_text() -> None:
    assert vault("", "a", "key").masked("a key and more") == "a key and more"
