"""Rules in files of their own: Codex's execution policy and Gemini CLI's policy engine."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from checkrein.dialects.generic import emit
from checkrein.dialects.generic.rule_forms import WIDER_EDIT, Assembly, Form, Shape
from checkrein.dialects.generic.rule_subjects import EDITORS, READERS, Command, Path, Subject
from checkrein.dialects.generic.tools import convert_tool
from checkrein.dialects.generic.written import File
from checkrein.model.rule import Rule

_HEAD = "# Written by `checkrein deploy`; change the rules at their source.\n"
_DECISIONS = {"deny": "forbidden", "ask": "prompt", "allow": "allow"}


def _codex(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    """Rules there compare whole words from the start of a command; the strictest wins."""
    if subject.command is None:
        return _codex_tool(rule, subject, assembly)
    words, form = subject.command.words, subject.command.form
    if rule.verdict == "allow" and form != "prefix":
        return "it would allow more: rules there match the start of a command"
    if not words:
        return "rules there compare whole words from the start of a command"
    shown = " ".join(words)
    if rule.verdict == "deny" and form == "pattern":
        why = f"rules there compare whole words from the start, so it asks before every `{shown}`"
        return Form(((words, "prompt"),), "", weaker=why)
    said = f"`{_DECISIONS[rule.verdict]}` for commands that start with `{shown}`"
    return Form(((words, _DECISIONS[rule.verdict]),), said)


def _codex_tool(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    """A server that is deployed can be switched off, or lose single tools."""
    if rule.verdict != "deny":
        return "it has no rules about single tools of MCP servers"
    entry = _codex_servers(assembly).get(subject.server)
    if entry is None:
        return f"the server `{subject.server}` is not among those that are deployed"
    said = "`enabled = false`" if subject.kind == "server" else f"`disabled_tools` with {subject.name}"
    return Form((subject,), f"{said} of the server `{subject.server}`")


def _codex_servers(assembly: Assembly) -> dict[str, dict[str, Any]]:
    servers = assembly.target.servers
    held = assembly.documents.get(servers.file, {}) if servers is not None else {}
    entries: dict[str, dict[str, Any]] = held.get("mcp_servers", {})
    return entries


def _codex_file(chosen: Sequence[tuple[Rule, Form]], assembly: Assembly) -> list[File]:
    texts = []
    for rule, form in chosen:
        for entry in form.entries:
            if isinstance(entry, Subject):
                server = _codex_servers(assembly)[entry.server]
                if entry.kind == "server":
                    server["enabled"] = False
                else:
                    server["disabled_tools"] = [*server.get("disabled_tools", ()), entry.name]
                continue
            words, decision = entry
            reason = f"{rule.verdict}: {rule.text} ({assembly.place(rule)})"
            texts.append(
                f"prefix_rule(\n    pattern = {json.dumps(list(words))},\n"
                f"    decision = {json.dumps(decision)},\n    justification = {json.dumps(reason)},\n)\n"
            )
    return [File(assembly.form.file, emit.encode(_HEAD + "\n".join(texts)))] if texts else []


_PRIORITIES = {"deny": 990, "ask": 980, "allow": 1}
"""Above every approval that a user saves there, and for allow rules below everything of the user's."""
_USER_POLICIES = "~/.gemini/policies"
_MORE, _LESS = ".*", '[^"]*'
"""Any text: for a guard at least that, for an allow rule no text with a quote in it."""


def _gemini(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    if subject.command is not None:
        entry = _gemini_command(subject.command, _LESS if rule.verdict == "allow" else _MORE)
        return Form((entry,), "a rule for `run_shell_command`")
    if subject.kind in ("server", "mcp_tool"):
        tool = subject.name if subject.kind == "mcp_tool" else "*"
        entry = {"mcpName": subject.server, "toolName": tool}
        return Form((entry,), f"a rule for tools of the server `{subject.server}`")
    if subject.kind == "skill":
        entry = {"toolName": "activate_skill", "argsPattern": f'"name":"{_escaped(subject.name)}"'}
        return Form((entry,), "a rule for `activate_skill`")
    if subject.kind == "host":
        if rule.verdict == "allow":
            return "a rule about the arguments of `web_fetch` may match more than this host"
        pattern = f"[/.@]{_escaped(subject.name.removeprefix('*.'))}"
        return Form(({"toolName": "web_fetch", "argsPattern": pattern},), "a rule for `web_fetch`")
    if rule.verdict == "allow" and subject.name in EDITORS[1:]:
        return WIDER_EDIT
    tools = _gemini_tools(subject.name, assembly)
    if not tools:
        return f"there is no tool like `{subject.name}`"
    said = "a rule for " + ", ".join(f"`{tool}`" for tool in tools)
    if subject.path is None:
        return Form(({"toolName": tools},), said)
    if rule.verdict == "allow":
        return "a rule about arguments there may match more than these files"
    return Form(({"toolName": tools, "argsPattern": _path_pattern(subject.path)},), said)


def _gemini_tools(tool: str, assembly: Assembly) -> list[str]:
    group = READERS[:3] if tool in READERS else EDITORS if tool in EDITORS else (tool,)
    names = [convert_tool(one, assembly.target) for one in group]
    return list(dict.fromkeys(name for name in names if name is not None))


def _gemini_command(command: Command, rest: str) -> dict[str, Any]:
    """A prefix ends at a word there. A pattern is compared with JSON text, from the command's start on."""
    if command.form == "prefix":
        return {"toolName": "run_shell_command", "commandPrefix": command.text}
    body, open_end = command.text, command.text.endswith(" *")
    if open_end and command.form == "pattern":
        body = body[:-2]
    pattern = rest.join(_escaped(part) for part in body.split("*"))
    ending = '[ "]' if open_end and command.form == "pattern" else '"'
    return {"toolName": "run_shell_command", "commandRegex": pattern + ending}


def _path_pattern(path: Path) -> str:
    """Text of the arguments that names such a file. It may match more, and is for deny and ask only."""
    pattern = re.sub(r"\[[^]]*\]", "?", path.pattern)
    below = pattern.endswith("/")
    text = _escaped(pattern).replace(r"\*\*/", _LESS).replace(r"\*\*", _LESS)
    text = text.replace(r"\*", '[^"/]*').replace(r"\?", '[^"/]')
    return f'["/]{text}' if below else f'["/]{text}["/]'


def _escaped(text: str) -> str:
    """The text as it is in JSON, without a meaning for a regular expression."""
    return re.escape(json.dumps(text, ensure_ascii=False)[1:-1]).replace(r"\ ", " ")


def _gemini_file(chosen: Sequence[tuple[Rule, Form]], assembly: Assembly) -> list[File]:
    """Gemini CLI does not read the folder by itself: `policyPaths` of the project names it.

    That list replaces the folder of the user's own policies, so it names this one too.
    """
    decisions = {"deny": "deny", "ask": "ask_user", "allow": "allow"}
    texts = []
    for rule, form in chosen:
        for entry in form.entries:
            values = {**entry, "decision": decisions[rule.verdict], "priority": _PRIORITIES[rule.verdict]}
            if rule.verdict == "deny":
                values["denyMessage"] = f"Refused by {rule.text} ({assembly.place(rule)})"
            texts.append("[[rule]]\n" + emit.toml_text(values))
    file = assembly.form.file
    servers = assembly.target.servers
    assert servers is not None
    settings = assembly.documents.setdefault(servers.file, {})
    settings["policyPaths"] = [file.rpartition("/")[0], _USER_POLICIES]
    return [File(file, emit.encode(_HEAD + "\n" + "\n".join(texts)))]


SHAPES = {"codex": Shape(_codex, _codex_file), "gemini": Shape(_gemini, _gemini_file)}
