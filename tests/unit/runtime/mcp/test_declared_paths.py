"""Spellings of a path that a server would understand, and its declared effect must too."""

from __future__ import annotations

import pytest

from checkrein.base.config import ConfigValue
from checkrein.policy.effects import Net, Read, Unclear, Use, Write
from checkrein.policy.remote import Remote
from checkrein.runtime.mcp.declared_effects import DeclaredEffects

TOOL = Remote("s", "t")


def paths(text: object, effect: str = "read:path", cwd: str | None = "/srv") -> set[object]:
    layer = ConfigValue({"s": {"t": effect}}, "user")
    found = DeclaredEffects([layer]).meaning("mcp__s__t", TOOL, cwd=cwd).effects({"path": text})
    return {one for one in found if not isinstance(one, Use)}


@pytest.mark.parametrize(
    "text",
    [
        "/p/.env",
        " /p/.env\n",
        "file:///p/.env",
        "file:/p/.env",
        "FILE://localhost/p/.env",
        "file:///p/%2eenv",
        "file:///%70/.env",
        "file:///p/.env?x=1",
        " file:///p/.env#top",
    ],
)
def test_a_path_is_found_in_every_spelling(text: str) -> None:
    assert Read("/p/.env") in paths(text)
    assert Write("/p/.env") in paths(["other", text], "write:path")
    assert Read("/p/.env", tree=True) in paths(text, "search:path")


def test_a_relative_path_counts_where_the_server_is() -> None:
    assert paths(".env") == {Read(".env"), Read("/srv/.env")}
    assert paths(".env", cwd=None) == {Read(".env")}
    assert paths("/x") == {Read("/x")}


@pytest.mark.parametrize("effect", ["read:path", "write:path", "exec:path", "net:path"])
@pytest.mark.parametrize("text", [".env\0", ["a", "b\0.txt"]])
def test_a_zero_byte_is_unclear(text: object, effect: str) -> None:
    (found,) = paths(text, effect)
    assert isinstance(found, Unclear)


def test_an_address_is_no_path() -> None:
    assert paths("file:///p", "net:path") == {Net("file:///p")}
