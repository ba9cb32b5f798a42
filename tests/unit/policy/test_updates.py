"""Permission updates: their wire shape, what they change, and that a deny is never loosened."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.model.rule import VERDICTS, parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.updates import SESSION, AddRules, RuleText, Update, problem_of, rules_of, updated
from checkrein.policy.values import MODES, Call, Context, rank

CONTEXT = Context(cwd="/p", root="/p", home="/h")
FILE = "/p/.claude/settings.local.json"
WIRE: list[dict[str, Any]] = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "touch zz *"}],
        "behavior": "allow",
        "destination": "localSettings",
    },
    {"type": "removeRules", "rules": [{"toolName": "Read"}], "behavior": "deny", "destination": "session"},
    {"type": "replaceRules", "rules": [], "behavior": "ask", "destination": "userSettings"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    {"type": "addDirectories", "directories": ["/d"], "destination": "session"},
    {"type": "removeDirectories", "directories": ["/d"], "destination": "projectSettings"},
]


def made(**fields: Any) -> Update:
    return msgspec.convert({"destination": "session", **fields}, Update)


def rules(kind: str, behavior: str, *texts: str, **more: Any) -> Update:
    split = [text.rstrip(")").split("(", 1) for text in texts]
    listed = [{"toolName": one[0], "ruleContent": one[1] if len(one) > 1 else None} for one in split]
    return made(type=kind, rules=listed, behavior=behavior, **more)


def after(policy: Policy, update: Update, file: str = SESSION) -> Policy:
    return updated(policy, update, rules_of(update, Origin(file, "cli"), "/p"), file)


def verdict(policy: Policy, command: str) -> str:
    return decide(policy, Call("Bash", {"command": command}), CONTEXT).verdict


@pytest.mark.parametrize("wire", WIRE, ids=lambda wire: wire["type"])
def test_the_shape_is_the_products(wire: dict[str, Any]) -> None:
    update = msgspec.convert(wire, Update)
    assert msgspec.json.decode(msgspec.json.encode(update)) == wire
    assert problem_of(update) is None


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "nope"},
        {"type": "setMode", "mode": "fast", "destination": "session"},
        {"type": "setMode", "mode": "plan", "destination": "elsewhere"},
        {"type": "addRules", "rules": [{}], "behavior": "allow", "destination": "session"},
    ],
)
def test_other_shapes_are_errors(wire: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wire, Update)


@pytest.mark.parametrize("name", ["", "Bash(rm", "Bash,Read", "a b"])
def test_a_name_that_no_tool_has(name: str) -> None:
    update = AddRules(rules=(RuleText(name, "x"),), behavior="allow", destination="session")
    assert problem_of(update) is not None


def test_added_rules_count() -> None:
    policy = after(compile_policy(), rules("addRules", "allow", "Bash(make *)"))
    assert (verdict(policy, "make x"), verdict(policy, "make2 x")) == ("allow", "ask")
    assert verdict(after(policy, rules("addRules", "deny", "Bash(make *)")), "make x") == "deny"


def test_rules_are_removed_where_they_stand() -> None:
    in_file = after(compile_policy(), rules("addRules", "allow", "Bash(make *)"), FILE)
    gone = rules("removeRules", "allow", "Bash(make *)")
    assert verdict(after(in_file, gone), "make x") == "allow"
    assert verdict(after(in_file, gone, FILE), "make x") == "ask"


def test_rules_are_replaced_where_they_stand() -> None:
    policy = after(compile_policy(), rules("addRules", "allow", "Bash(make *)"))
    policy = after(policy, rules("addRules", "allow", "Bash(tox *)"), FILE)
    policy = after(policy, rules("replaceRules", "allow", "Bash(nox *)"))
    assert [verdict(policy, f"{name} x") for name in ("make", "tox", "nox")] == ["ask", "allow", "allow"]


@pytest.mark.parametrize("kind", ["removeRules", "replaceRules"])
def test_a_deny_stays(kind: str) -> None:
    policy = after(compile_policy(), rules("addRules", "deny", "Bash(make *)"))
    texts = ["Bash(make *)"] if kind == "removeRules" else []
    assert verdict(after(policy, rules(kind, "deny", *texts)), "make x") == "deny"


def test_directories_come_and_go() -> None:
    read = Call("Read", {"file_path": "/d/x"})
    wider = after(compile_policy(), made(type="addDirectories", directories=["/d"]))
    assert decide(wider, read, CONTEXT).verdict == "allow"
    narrower = after(wider, made(type="removeDirectories", directories=["/d"]))
    assert decide(narrower, read, CONTEXT).verdict == "ask"


NAMES = st.sampled_from(["make", "tox", "rm -rf", "git push"])
TEXTS = NAMES.map(lambda name: f"Bash({name} *)")
RULES = st.builds(
    lambda text, behavior, file: parse_rule(text, behavior, Origin(file, "user")),
    TEXTS,
    st.sampled_from(VERDICTS),
    st.sampled_from([SESSION, FILE, "/managed.json"]),
)
UPDATES = st.one_of(
    st.builds(
        lambda kind, behavior, texts: rules(kind, behavior, *texts),
        st.sampled_from(["addRules", "replaceRules", "removeRules"]),
        st.sampled_from(VERDICTS),
        st.lists(TEXTS, max_size=3),
    ),
    st.sampled_from(MODES).map(lambda mode: made(type="setMode", mode=mode)),
    st.lists(st.sampled_from(["/d", "/e"])).map(lambda ds: made(type="addDirectories", directories=ds)),
)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.lists(RULES, max_size=5), st.lists(UPDATES, max_size=5), st.sampled_from([SESSION, FILE]), NAMES)
def test_no_update_loosens_a_deny(given: list[Any], changes: list[Update], file: str, name: str) -> None:
    policy = compile_policy(given)
    denied = verdict(policy, f"{name} x") == "deny"
    for change in changes:
        policy = after(policy, change, file)
    if denied:
        assert rank(verdict(policy, f"{name} x")) == rank("deny")
