"""Rules as lists and maps in a JSON file: Cursor, Devin, Copilot, opencode, Amp."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from checkrein.dialects.generic.rule_forms import WIDER_EDIT, Assembly, Form, Shape, by_verdict, globs_of
from checkrein.dialects.generic.rule_subjects import EDITORS, READERS, Command, Path, Subject
from checkrein.dialects.generic.tools import convert_tool
from checkrein.dialects.generic.written import File
from checkrein.model.rule import Rule


def _cursor(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    if subject.command is not None:
        if rule.verdict == "allow" and subject.command.form == "exact" and " " not in subject.command.text:
            return f"it would allow `{subject.command.text}` with any arguments"
        return _texts(_cursor_commands(subject.command))
    if subject.kind == "host":
        return _texts([f"WebFetch({subject.name})"])
    if subject.kind in ("server", "mcp_tool"):
        return _texts([f"Mcp({subject.server}:{subject.name or '*'})"])
    return _named(rule, subject, {"Bash": "Shell", "Read": "Read", "WebFetch": "WebFetch"}, "Write")


def _cursor_commands(command: Command) -> list[str]:
    program, _, rest = command.text.partition(" ")
    if not rest:
        return [f"Shell({program})"]
    if command.form == "prefix":
        return [f"Shell({program}:{rest})", f"Shell({program}:{rest} *)"]
    return [f"Shell({program}:{rest})"]


def _devin(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    if subject.command is not None:
        command = subject.command
        if command.form == "prefix":
            return _texts([f"Exec({command.text})"])
        if rule.verdict == "allow":
            return "it would allow more: rules there match the start of a command"
        if command.form == "exact" or (rule.verdict == "ask" and command.words):
            return _texts([f"Exec({' '.join(command.words)})"])
        return f"`{rule.text}` has no form there: rules match the start of a command"
    if subject.kind in ("server", "mcp_tool"):
        return _texts([convert_tool(rule.tool, assembly.target) or rule.tool])
    return _named(rule, subject, {"Bash": "Exec", "Read": "Read", "WebFetch": "Fetch"}, "Write")


def _named(rule: Rule, subject: Subject, words: dict[str, str], edit: str) -> Form | str:
    """A rule about files or about a whole tool, as `Word(glob)`."""
    tool = subject.name
    if rule.verdict == "allow" and tool in EDITORS and tool != "Edit":
        return WIDER_EDIT
    if rule.verdict == "allow" and tool in READERS and tool != "Read":
        return "it would allow every kind of reading there"
    word = edit if tool in EDITORS else words.get("Read" if tool in READERS else tool)
    if word is None:
        return f"there is no tool like `{tool}`"
    if subject.path is not None:
        globs = globs_of(subject.path, guards=rule.verdict != "allow")
        return _texts([f"{word}({glob})" for glob in globs])
    return _texts([f"{word}({'**' if word in ('Read', edit) else '*'})"])


def _texts(entries: list[str]) -> Form:
    return Form(tuple(entries), " and ".join(f"`{entry}`" for entry in entries))


def _permission_lists(chosen: Sequence[tuple[Rule, Form]], assembly: Assembly) -> list[File]:
    held = assembly.documents.setdefault(assembly.form.file, {})
    lists = by_verdict(chosen)
    held["permissions"] = {name: lists.get(name, []) for name in assembly.form.verdicts}
    return []


def _copilot(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    if subject.kind == "host":
        host = subject.name.removeprefix("*.")
        urls = [f"{scheme}://{lead}{host}" for lead in ("", "*.") for scheme in ("https", "http")]
        return Form(tuple(("deniedUrls", url) for url in urls), f"`deniedUrls` with {host} and below")
    if subject.kind == "server":
        entry = ("disabledMcpServers", subject.server)
        return Form((entry,), f"`disabledMcpServers` with {subject.server}")
    return Form((("disabledSkills", subject.name),), f"`disabledSkills` with {subject.name}")


def _key_lists(chosen: Sequence[tuple[Rule, Form]], assembly: Assembly) -> list[File]:
    held = assembly.documents.setdefault(assembly.form.file, {})
    for _, form in chosen:
        for key, value in form.entries:
            values = held.setdefault(key, [])
            if value not in values:
                values.append(value)
    return []


_ASKED_ANYWAY = ("bash", "edit", "task", "skill")
"""opencode allows these where no pattern matches; here they need approval."""


def _opencode(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    """The last pattern that matches wins there, so denies come last."""
    if subject.kind in ("tool", "file") and rule.verdict == "allow" and subject.name in EDITORS[1:]:
        return WIDER_EDIT
    bare = {"skill": "Skill", "agent": "Agent"}.get(subject.kind, rule.tool)
    name = convert_tool(bare, assembly.target)
    if name is None:
        return f"there is no tool like `{rule.tool}`"
    patterns = ["*"]
    if subject.command is not None:
        command = subject.command
        patterns = [command.text + " *" if command.form == "prefix" else command.text]
    elif subject.path is not None:
        if rule.verdict == "allow":
            return "patterns of paths there may match more than this one"
        patterns = _opencode_paths(subject.path)
    elif subject.kind in ("skill", "agent"):
        patterns = [subject.name]
    said = "`, `".join(patterns)
    entries = tuple((name, pattern) for pattern in patterns)
    return Form(entries, f"the pattern `{said}` of `{name}`", exact=patterns == ["*"])


def _opencode_paths(path: Path) -> list[str]:
    """`*` is any text there, also across folders; a path may be written from the root or not."""
    pattern = re.sub(r"\[[^]]*\]", "?", path.pattern)
    pattern = pattern.rstrip("/") + "/*" if pattern.endswith("/") else pattern
    while "**" in pattern:
        pattern = pattern.replace("**/", "*").replace("**", "*")
    ends = ("",) if pattern.endswith("*") else ("", "/*")
    if path.base != "project":
        return [{"home": "~/", "root": "/"}[path.base] + pattern + end for end in ends]
    leads = ("",) if pattern.startswith("*") else ("", "*/")
    return [lead + pattern + end for lead in leads for end in ends]


def _opencode_map(chosen: Sequence[tuple[Rule, Form]], assembly: Assembly) -> list[File]:
    permission: dict[str, dict[str, str]] = {}
    for rule, form in sorted(chosen, key=lambda pair: ("allow", "ask", "deny").index(pair[0].verdict)):
        for name, pattern in form.entries:
            asked = name in _ASKED_ANYWAY and pattern != "*"
            held = permission.setdefault(name, {"*": "ask"} if asked else {})
            held.pop(pattern, None)
            held[pattern] = rule.verdict
    said: dict[str, Any] = {
        name: patterns["*"] if list(patterns) == ["*"] else patterns for name, patterns in permission.items()
    }
    assembly.documents.setdefault(assembly.form.file, {})["permission"] = said
    return []


def _amp(rule: Rule, subject: Subject, assembly: Assembly) -> Form | str:
    """The first entry that matches wins there, so denies come first."""
    name = convert_tool(rule.tool, assembly.target)
    if name is None and subject.command is not None:
        name = convert_tool("Bash", assembly.target)
    if name is None:
        return f"there is no tool like `{rule.tool}`"
    action = {"deny": "reject", "ask": "ask", "allow": "allow"}[rule.verdict]
    entry: dict[str, Any] = {"tool": name, "action": action}
    if subject.command is None:
        return Form((entry,), f"`{name}`", exact=True)
    command = subject.command
    pattern = command.text + " *" if command.form == "prefix" else command.text
    return Form(({**entry, "matches": {"cmd": pattern}},), f"`{pattern}` of `{name}`")


def _amp_list(chosen: Sequence[tuple[Rule, Form]], assembly: Assembly) -> list[File]:
    entries = [entry for _, form in chosen for entry in form.entries]
    assembly.documents.setdefault(assembly.form.file, {})["amp.permissions"] = entries
    return []


SHAPES = {
    "cursor": Shape(_cursor, _permission_lists),
    "devin": Shape(_devin, _permission_lists),
    "copilot": Shape(_copilot, _key_lists),
    "opencode": Shape(_opencode, _opencode_map),
    "amp": Shape(_amp, _amp_list),
}
