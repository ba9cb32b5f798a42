"""Rules on MCP servers: on tools by any of their names, on resources, on prompts that run as commands."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.tools import SHELL_TOOLS
from checkrein.model.rule import Rule
from checkrein.policy.policy import Policy
from checkrein.policy.remote import PREFIX, Remote, normal
from checkrein.policy.rules import RuleSet
from checkrein.policy.tools import Meaning
from checkrein.policy.values import Call

_RESOURCES = ("ListMcpResourcesTool", "ReadMcpResourceTool")
_PROMPT_FIELDS = ("skill", "command", "name")


def tool_rule(rules: RuleSet, tool: Meaning) -> Rule | None:
    """The rule on a whole tool. A strict rule counts for a server's tool by any name of the tool or its
    server; a rule that allows must name the server itself, or the tool as it is called. A strict rule on Bash
    counts for every tool that runs commands as Bash does."""
    remote = tool.remote
    if remote is None:
        own = rules.named(tool.name)
        stricter = own is None and not rules.grants and tool.name in SHELL_TOOLS
        return rules.named(SHELL_TOOLS[0]) if stricter else own
    if rules.grants:
        return _grant(rules, tool.name, remote)
    found = (rules.named(name) for name in remote.names(tool.name))
    return next((rule for rule in found if rule is not None), None) or rules.of_server(remote.server)


def _grant(rules: RuleSet, name: str, remote: Remote) -> Rule | None:
    """A server's name with `__` in it could be another server and the beginning of its tools, so only a
    pattern allows all tools of such a server."""
    servers = tuple(dict.fromkeys((normal(remote.server), remote.server)))
    whole = (f"{PREFIX}{server}" for server in servers if "__" not in server)
    for one in (name, remote.written, *whole):
        if (found := rules.names.get(one)) is not None:
            return found.rule
    heads = tuple(f"{PREFIX}{server}__" for server in servers)
    for glob in rules.globs:
        matches = glob.regex.match if glob.name.startswith(heads) and glob.regex is not None else None
        if matches is not None and (matches(name) or matches(remote.written)):
            return glob.rule
    return None


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
            if words and words[0].lower().startswith(PREFIX):
                return _prompt(rules, words[0])
    return None


def denial_of_prompt(policy: Policy, trusted: bool, prompt: Remote) -> Rule | None:
    """The rule that denies a server's prompt to everyone, the user too."""
    for compiled in policy.compiled:
        rules = compiled.index(trusted).deny
        found = rules.of_server(prompt.server)
        for name in prompt.names(prompt.written):
            found = found or rules.named(name)
        if found is not None:
            return found
    return None


def _prompt(rules: RuleSet, name: str) -> Rule | None:
    found = rules.named(name) or rules.named(normal(name))
    for server in _servers(name):
        found = found or rules.of_server(server)
    return found


def _servers(name: str) -> Iterator[str]:
    """Every server that a name may begin with."""
    end = name.find("__", len(PREFIX))
    while end >= 0:
        yield name[len(PREFIX) : end]
        end = name.find("__", end + 1)
