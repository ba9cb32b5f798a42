"""Spellings of a path that a server would understand, and its declared effect must too."""

from __future__ import annotations

import pytest

from checkrein.base.config import ConfigValue
from checkrein.policy.decide import decide
from checkrein.policy.effects import Net, Read, Unclear, Use, Write
from checkrein.policy.policy import compile_policy
from checkrein.policy.remote import Remote
from checkrein.policy.tools import builtin_tools
from checkrein.policy.values import Call, Context, KernelLayer
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from support.calls import rules

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


def verdict(
    effect: str, input: dict[str, object], *texts: str, layers: tuple[KernelLayer, ...] = (), **more: str
) -> str:
    """Of a call to a server that the user allows, in `/srv`, for a session in `/p`."""
    effects = DeclaredEffects([ConfigValue({"s": {"t": effect}}, "user")])
    tools = builtin_tools().with_tool(effects.meaning("mcp__s__t", TOOL, cwd="/srv"))
    policy = compile_policy(rules("allow mcp__s", *texts), tools=tools)
    context = Context(cwd="/p", root="/p", home="/h", layers=layers)
    return decide(policy, Call("mcp__s__t", {**input, **more}), context).verdict


@pytest.mark.parametrize("denied", ["//p/.env", "//srv/.env"])
@pytest.mark.parametrize("command", ["cat .env", "cat < .env", "cd . && head .env", "sh -c 'cat .env'"])
def test_a_command_counts_where_the_session_and_the_server_are(command: str, denied: str) -> None:
    assert verdict("exec:path", {"path": command}, f"deny Read({denied})") == "deny"
    assert verdict("exec:path", {"path": command}, "deny Read(//other/.env)") == "allow"


@pytest.mark.parametrize("effect", ["exec:path", "read:path"])
@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("cwd", "/secret"),
        ("cwd", " /secret/ "),
        ("working_directory", "file:///secret"),
        ("workingDir", "../secret"),
        ("work-dir", "~/../secret"),
        ("dir", "/p/../secret"),
    ],
)
def test_the_directory_that_the_input_names_counts_too(effect: str, field: str, place: str) -> None:
    said = "cat key" if effect.startswith("exec") else "key"
    assert verdict(effect, {"path": said, field: place}, "deny Read(//secret/**)") == "deny"
    assert verdict(effect, {"path": said, field: "/open"}, "deny Read(//secret/**)") == "allow"
    assert verdict(effect, {"path": said, field: "/open"}, "deny Read(//p/key)") == "deny"


def test_a_removal_counts_in_every_directory() -> None:
    assert verdict("exec:path", {"path": "rm -rf ./*", "cwd": "/"}) == "ask"
    assert verdict("exec:path", {"path": "rm -rf *", "cwd": "~"}) == "ask"


@pytest.mark.parametrize("value", [5, ["/a"], {"a": 1}, "a\0b"])
def test_a_directory_that_is_none_is_unclear(value: object) -> None:
    assert verdict("exec:path", {"path": "ls", "cwd": value}) == "ask"
    assert verdict("search:cwd", {"cwd": ["a", "b"]}, "deny Read(//p/b)") == "deny"


def test_too_many_directories_are_unclear() -> None:
    spelled = {"c" + "_" * number + "wd": f"/{number}" for number in range(30)}
    assert verdict("exec:path", {"path": "ls", **spelled}) == "ask"


@pytest.mark.parametrize(
    ("command", "rule"),
    [("cat $X", "deny Read(.env)"), ("$X -rf y", "deny Bash(rm *)"), ("eval $X", "deny Bash(rm *)")],
)
def test_what_holds_our_programs_does_not_hold_those_of_a_server(command: str, rule: str) -> None:
    held: tuple[KernelLayer, ...] = ("exec", "files", "network")
    assert verdict("exec:path", {"path": command}, rule, layers=held) == "ask"
