"""`--layers` of `why` and `decide`."""

from __future__ import annotations

import pytest

from checkrein.base.errors import UsageError
from checkrein.cli.layers import layers_of


def test_what_is_not_given_is_none() -> None:
    assert layers_of(None) is None
    assert layers_of("none") == ()


def test_names_in_any_order() -> None:
    assert layers_of("network, exec") == ("exec", "network")


def test_a_wrong_name_gets_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="exec"):
        layers_of("exce")
