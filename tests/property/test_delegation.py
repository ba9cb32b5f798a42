"""Contract 3 through the real runtime: what a parent may not do, nothing below it can do.

Random rules, modes and hooks of a parent; random definitions of agents with tools, modes, skills and hooks of
their own. A child in the foreground or the background, a grandchild, the helper of an agent hook, the line of
a preloaded skill, a fork, a teammate, a skill that runs in an agent, and a child that continues, in the same
session or in one that was resumed, all try the same calls. `CHECKREIN_CAMPAIGN=1` takes 1,000 cases, in ten
parts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.policy.values import MODES
from checkrein.runtime.session.events import Event, ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel
from support.agents import below, heard, lived, order, orders, said

PARTS, CASES = (10, 100) if os.environ.get("CHECKREIN_CAMPAIGN") else (1, 30)
FIXED = settings(
    max_examples=CASES,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Read", {"file_path": "secret.txt"}),
    ("Bash", {"command": "cat secret.txt"}),
    ("Bash", {"command": "touch made-by-bash"}),
    ("Bash", {"command": "touch made-behind", "run_in_background": True}),
    ("Write", {"file_path": "made-by-write", "content": "x"}),
    ("Edit", {"file_path": "plain.txt", "old_string": "plain", "new_string": "changed"}),
    ("Grep", {"pattern": "marigold", "output_mode": "content"}),
    ("Skill", {"skill": "craft"}),
)
LINE = ("Bash", {"command": "touch made-by-skill"})
"""What the preloaded skill runs by itself."""

RULES = (
    *("Bash", "Read", "Edit", "Write", "Grep", "Skill", "Agent", "*"),
    *("Bash(touch *)", "Bash(cat *)", "Read(secret.txt)", "Read(./**)", "Edit(./**)", "Write(made-by-write)"),
    *("Agent(worker)", "Agent(digger)", "Skill(craft)", "Bash(touch made-by-skill)"),
)
GENEROUS = ["Bash", "Write", "Edit", "Skill", "Agent"]
rule_lists = st.lists(st.sampled_from(RULES), max_size=4)
few_rules = st.lists(st.sampled_from(RULES), max_size=1)
blocked = st.frozensets(st.sampled_from(range(len(CALLS))), max_size=3)
tool_lists = st.none() | st.lists(
    st.sampled_from(["Read", "Bash", "Write", "Edit", "Grep", "Skill", "Agent", "Agent(digger)", "*"]),
    min_size=1,
    max_size=5,
)


class Agent(Struct, frozen=True):
    """What a definition asks for."""

    tools: list[str] | None
    disallowed: list[str]
    mode: str | None
    skills: bool
    approves: bool
    asks: bool

    def text(self, name: str) -> str:
        fields: dict[str, Any] = {"name": name, "description": "d", "permissionMode": self.mode}
        fields |= {"tools": self.tools, "disallowedTools": self.disallowed or None}
        fields["skills"] = ["craft"] if self.skills else None
        own = []
        if self.approves:
            own.append({"type": "command", "command": f"echo '{json.dumps(APPROVAL)}'"})
        if self.asks:
            own.append({"type": "agent", "prompt": "HELPER, is it fine?"})
        fields["hooks"] = {"PreToolUse": [{"hooks": own}]} if own else None
        head = "\n".join(f"{key}: {json.dumps(value)}" for key, value in fields.items() if value is not None)
        return f"---\n{head}\n---\nYou are {name.upper()}.\n"


APPROVAL = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
agents = st.builds(
    Agent,
    tool_lists,
    st.lists(st.sampled_from(["Bash", "Write", "Bash(touch *)"]), max_size=1),
    st.none() | st.sampled_from([*MODES, "manual"]),
    st.booleans(),
    st.sampled_from([True, False, False, False]),
    st.sampled_from([True, False, False, False]),
)


class Case(Struct, frozen=True):
    """`later` are rules that deny from the first call of a child on."""

    rules: dict[str, list[str]]
    mode: str | None
    worker: Agent
    digger: Agent
    grants: list[str]
    blocked: frozenset[int]
    later: list[str]
    background: bool
    resumed: bool


cases = st.builds(
    Case,
    st.fixed_dictionaries(
        {
            "allow": rule_lists | st.just(GENEROUS),
            "ask": few_rules,
            "deny": st.lists(st.sampled_from(RULES[3:]), max_size=2),
        }
    ),
    st.none() | st.sampled_from(MODES),
    agents,
    agents,
    st.lists(st.sampled_from(["Bash", "Write", "Edit", "Read"]), max_size=2),
    blocked,
    st.lists(st.sampled_from(["Bash", "Write", "Read(secret.txt)"]), max_size=1),
    st.booleans(),
    st.booleans(),
)


def project_of(root: Path, case: Case) -> View:
    claude = root / ".claude"
    (claude / "agents").mkdir(parents=True)
    for name in ("craft", "errand"):
        (claude / "skills" / name).mkdir(parents=True)
    (claude / "settings.json").write_text(json.dumps({"permissions": case.rules}))
    (claude / "agents" / "worker.md").write_text(case.worker.text("worker"))
    (claude / "agents" / "digger.md").write_text(case.digger.text("digger"))
    grants = f"allowed-tools: {json.dumps(case.grants)}\n" if case.grants else ""
    line = LINE[1]["command"]
    (claude / "skills" / "craft" / "SKILL.md").write_text(
        f"---\ndescription: d\n{grants}---\nThe CRAFT: !`{line}`\n"
    )
    (claude / "skills" / "errand" / "SKILL.md").write_text(
        f"---\ndescription: d\n{grants}context: fork\nagent: worker\n---\nThe ERRAND.\n"
    )
    (root / "secret.txt").write_text("marigold")
    (root / "plain.txt").write_text("plain")
    return View(load(root, env={}, home=str(root / "home"), detect=False))


def script(case: Case) -> list[dict[str, Any]]:
    tries = [{"name": name, "input": input} for name, input in CALLS]
    deeper = order("dig", "digger", run_in_background=False)
    done = {"text": "done", "repeat": 0, "when": {"tool_result": ""}}
    helper = {"tool_calls": tries, "when": {"first_text": "HELPER", "messages": 1}, "repeat": 0}
    mate, errand = {"first_text": "You are mate, a teammate"}, {"first_text": "The ERRAND."}
    return [
        helper,
        {"text": '{"ok": true}', "when": {"first_text": "HELPER"}, "repeat": 0},
        {"tool_calls": tries, "when": mate},
        {"text": "done", "when": mate, "repeat": 0},
        {"tool_calls": tries, "when": errand},
        {"text": "done", "when": errand, "repeat": 0},
        {"tool_calls": tries, "when": {"text": "FORKED-TASK"}},
        *below({"tool_calls": [*tries, deeper]}, {"text": "done"}, {"tool_calls": tries}, system="WORKER"),
        *below(done, system="WORKER"),
        *below({"tool_calls": tries}, done, system="DIGGER"),
        {
            "tool_calls": [
                {"name": "SendMessage", "input": {"to": "one", "message": "again", "summary": "s"}}
            ],
            "when": {"text": "PLEASE-CONTINUE"},
        },
        {
            **orders(order("work", "worker", name="one", run_in_background=case.background)),
            "when": {"text": "go"},
        },
        {
            "tool_calls": [
                order("FORKED-TASK", "fork", run_in_background=False),
                order("work", "worker", name="mate", team_name="crew"),
                {"name": "Skill", "input": {"skill": "errand"}},
            ],
            "when": {"text": "PLEASE-SPREAD"},
        },
        {"text": "w", "repeat": 0},
    ]


class Root:
    """The session at the root, and what it may do itself: the measure for everything below it."""

    def __init__(self, session: Session, case: Case, root: str) -> None:
        self.session = session
        self._case = case
        self._root = root
        self._is_late = False
        session.control.add_hook("PreToolUse", None, self._judge)

    def refuses(self, tool: str, input: dict[str, Any]) -> bool:
        if (tool, input) in CALLS and CALLS.index((tool, input)) in self._case.blocked:
            return True
        return self.session.conversation.gate.decide(tool, input, self._root).verdict != "allow"

    @property
    def denies_skill(self) -> bool:
        return (
            self.session.conversation.gate.decide("Skill", {"skill": "craft"}, self._root).verdict == "deny"
        )

    def _judge(self, payload: dict[str, Any], call: str | None) -> dict[str, Any]:
        """The hook of the parent. From the first call of a child on, the parent may do less."""
        if payload.get("agent_id") and not self._is_late:
            self._is_late = True
            rules = [
                parse_rule(text, "deny", Origin("later", "user"), anchor=self._root)
                for text in self._case.later
            ]
            self.session.conversation.gate.tighten(gone=(), added=rules)
        for number in self._case.blocked:
            tool, input = CALLS[number]
            told = payload["tool_input"]
            same = all(str(told.get(key)).endswith(str(value)) for key, value in input.items())
            if payload["tool_name"] == tool and same:
                return {
                    "hookSpecificOutput": {**APPROVAL["hookSpecificOutput"], "permissionDecision": "deny"}
                }
        return {}


def effects(root: Path) -> dict[str, bool]:
    return {
        "made-by-bash": (root / "made-by-bash").exists(),
        "made-behind": (root / "made-behind").exists(),
        "made-by-write": (root / "made-by-write").exists(),
        "made-by-skill": (root / "made-by-skill").exists(),
        "plain.txt": (root / "plain.txt").read_text() != "plain",
    }


FILES = {2: "made-by-bash", 3: "made-behind", 4: "made-by-write", 5: "plain.txt"}
"""What the calls leave behind."""


@pytest.mark.timeout(6 * CASES)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_below_does_what_the_parent_may_not(part: int) -> None:
    @seed(part)
    @FIXED
    @given(cases)
    def holds(case: Case) -> None:
        with TemporaryDirectory() as folder:
            _check_case(case, Path(os.path.realpath(folder)))

    holds()


def _check_case(case: Case, folder: Path) -> None:
    root = folder / "project"
    view, model = project_of(root, case), ScriptedModel(script(case), idle=30)
    env = {
        "PATH": os.environ["PATH"],
        "CHECKREIN_HOME": str(folder / "kept"),
        "CLAUDE_CODE_FORK_SUBAGENT": "1",
    }
    options = Options(mode=case.mode, trust=True, allow_bypass=True, persist=case.resumed)
    with Session(view, model=model, options=options, env=env) as session:
        judge = Root(session, case, str(root))
        may_delegate = not judge.refuses("Agent", {"subagent_type": "worker"})
        events = [*lived(session), *lived(session, "PLEASE-SPREAD")]
        if not case.resumed:
            events += lived(session, "PLEASE-CONTINUE")
        _check(judge, events, model, root)
    if case.resumed:
        again = Options(resume=session.id, mode=case.mode, trust=True, allow_bypass=True)
        with Session(view, model=model, options=again, env=env) as session:
            judge = Root(session, case, str(root))
            _check(judge, lived(session, "PLEASE-CONTINUE"), model, root)
    if not may_delegate:
        assert heard(model.requests, "WORKER") == []


def _check(judge: Root, events: list[Event], model: ScriptedModel, root: Path) -> None:
    refused = {number for number, one in enumerate(CALLS) if judge.refuses(*one)}
    _check_calls(events, refused)
    done = effects(root)
    left = [CALLS[number] for number, file in FILES.items() if number in refused and done[file]]
    assert left == []
    assert not (judge.refuses(*LINE) and done["made-by-skill"])
    if judge.denies_skill:
        assert not any("The CRAFT:" in said(one.messages) for one in model.requests)


def _check_calls(events: list[Event], refused: set[int]) -> None:
    """`refused` is what the parent may not do at the end. It lost rights before the first call below it."""
    tried = [one for one in events if isinstance(one, ToolFinished) and one.agent_id is not None]
    for one in tried:
        for tool, input in (CALLS[number] for number in refused):
            assert one.is_error or (one.name, one.input) != (tool, input), (tool, input, one.content)
    if {0, 1} <= refused:
        seen = [str(one.content) for one in tried if one.name in ("Read", "Bash")]
        assert not any("marigold" in text for text in seen)
