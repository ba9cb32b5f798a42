"""Rules on MCP servers bind more than their tools: resources, and prompts that run as commands."""

from __future__ import annotations

from checkrein.model.rule import Rule
from checkrein.policy.rules import RuleSet
from checkrein.policy.values import Call

_RESOURCES = ("ListMcpResourcesTool", "ReadMcpResourceTool")
_PROMPT_FIELDS = ("skill", "command", "name")


def server_rule(rules: RuleSet, call: Call, tool: str) -> Rule | None:
    """The deny or ask rule on the server whose resource or prompt a call uses."""
    if tool in _RESOURCES:
        server = call.input.get("server")
        return rules.of_server(server) if isinstance(server, str) and server else None
    if tool != "Skill":
        return None
    for field in _PROMPT_FIELDS:
        value = call.input.get(field)
        if isinstance(value, str):
            words = value.strip().lstrip("/").split()
            if words and words[0].lower().startswith("mcp__"):
                return _prompt(rules, words[0])
    return None


def _prompt(rules: RuleSet, name: str) -> Rule | None:
    found = rules.named(name)
    parts = name.split("__")
    for end in range(2, len(parts)):
        found = found or rules.of_server("__".join(parts[1:end]))
    return found
