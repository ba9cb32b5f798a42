"""Output in pieces: the masked stream is the mask of the whole, wherever the pieces end."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.runtime.secrets.cover import Cover
from checkrein.runtime.secrets.exposure import Exposure
from checkrein.runtime.secrets.flow import Flow
from checkrein.runtime.secrets.vault import Vault

TOKEN = "ghp_" + "9aB3xK7mQ2wE5rT8yU1iO4pL6sD0fG"
BODY = "MIIEowIBAAKCAQEAx5T1c0lVq7m3vZk2n8Q4bY6wR9sJ1dF0hG3kL5pM7aX2uC"
TEXT = (
    f"start é\ntoken {TOKEN} then\n-----BEGIN " + f"PRIVATE KEY-----\n{BODY}\n{BODY[::-1]}\n-----END "
    "PRIVATE KEY-----\nAuthorization: Bearer abcdef0123456789abcdef\n\tDB_PASSWORD=Tr0ub4dor&3\nend"
).encode()
SECRETS = (TOKEN, BODY, BODY[::-1], "abcdef0123456789abcdef", "Tr0ub4dor&3")


def flow() -> Flow:
    return Flow(Cover(Vault(key=lambda: b"k" * 32), Exposure()))


def streamed(pieces: list[bytes]) -> bytes:
    one = flow()
    return b"".join([*(one.take(piece) for piece in pieces), one.rest()])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, len(TEXT)), max_size=12))
def test_any_cut(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(TEXT)]
    said = streamed([TEXT[a:b] for a, b in pairwise(ends)])
    assert said == streamed([TEXT])
    for secret in SECRETS:
        assert secret.encode() not in said
        assert secret[4:14].encode() not in said


def test_bytes_that_are_not_text_pass() -> None:
    data = bytes(range(256)) * 3
    assert streamed([data[:100], data[100:]]) == data


def test_a_word_without_end_does_not_wait_for_ever() -> None:
    one = flow()
    assert one.take(b"x" * 20_000) == b"x" * 20_000


def test_what_can_be_shown_is_shown_at_once() -> None:
    assert flow().take(b"Continue? ") == b"Continue? "
