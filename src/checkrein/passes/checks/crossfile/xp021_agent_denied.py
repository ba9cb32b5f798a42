"""Agents that a rule beside them never lets start."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.origin import Scope
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.model.items import Agent
from checkrein.model.rule import Rule
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SETTINGS, agent, document
from checkrein.passes.checks.parts import top
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.situation import situation
from checkrein.policy.trust import assumed
from checkrein.policy.values import Call

_SAME: dict[Scope, tuple[Scope, ...]] = {"project": ("project", "local")}


def run(subject: Subject) -> Iterator[Finding]:
    main = subject.project.setting("agent")
    agents = [one.item for one in subject.project.agents.values() if one.item.name != main]
    context = None
    for rule in subject.project.rules:
        if rule.verdict != "deny" or rule.problem is not None or not _may_name_agents(rule):
            continue
        context = context or situation(subject.project, assumed(subject.project)).context()
        policy = compile_policy([rule])
        stopped = [
            item
            for item in agents
            if _is_beside(item, rule)
            and decide(policy, Call(AGENT_TOOL, {"subagent_type": item.name}), context).verdict == "deny"
        ]
        if stopped:
            yield Finding(
                origin=subject.find(rule.origin, rule.text),
                message=_message(rule, stopped),
                related=tuple(top(item) for item in stopped),
            )


def _may_name_agents(rule: Rule) -> bool:
    return rule.tool in (AGENT_TOOL, "Task") or "*" in rule.tool


def _is_beside(item: Agent, rule: Rule) -> bool:
    """Whoever wrote the rule can change the agent. A rule against another's agent does its work."""
    scope = item.origin.scope
    return item.plugin is None and rule.origin.scope in _SAME.get(scope, (scope,))


def _message(rule: Rule, stopped: list[Agent]) -> str:
    names = ", ".join(f"`{item.name}`" for item in stopped)
    noun = "the agent" if len(stopped) == 1 else "the agents"
    return f"`{rule.text}` in `deny` keeps {noun} {names} from ever starting"


CHECK = Check(
    code="XP021",
    name="agent-denied",
    severity="warning",
    summary="A deny rule beside an agent keeps it from starting.",
    why="No session can hand work to the agent, and no mode or allow rule lifts a deny.",
    hint="Remove the rule, or the agent.",
    bad={AGENT: agent(), SETTINGS: document({"permissions": {"deny": ["Agent(tester)"]}})},
    good={AGENT: agent(), SETTINGS: document({"permissions": {"deny": ["Agent(Explore)"]}})},
    run=run,
)
