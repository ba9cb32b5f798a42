"""What a permission rule is about, as parts that other agents' rules can be made of."""

from __future__ import annotations

import re
import shlex
from typing import Literal

from msgspec import Struct

from checkrein.facts.agents import RuleSubject
from checkrein.model.rule import Rule

READERS = ("Read", "Grep", "Glob", "LS", "NotebookRead")
EDITORS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_DOMAIN = "domain:"


class Command(Struct, frozen=True):
    """A pattern of a shell command. `words` are the literal words that it starts with.

    `exact`: nothing follows the words. `prefix`: anything may. `pattern`: more than words, see `text`, which
    has `*` for any text.
    """

    words: tuple[str, ...]
    form: Literal["exact", "prefix", "pattern"]
    text: str


class Path(Struct, frozen=True):
    """A gitignore pattern. `base` is what it is relative to; `floating` says that it holds at any depth."""

    base: Literal["project", "home", "root"]
    pattern: str
    floating: bool


class Subject(Struct, frozen=True):
    """`name` is the tool, or the skill, agent or host; `server` and `name` are those of an MCP tool."""

    kind: RuleSubject
    name: str
    command: Command | None = None
    path: Path | None = None
    server: str = ""


def subject_of(rule: Rule) -> Subject | None:
    """None for a rule whose form no other agent has."""
    tool, specifier = rule.tool, rule.specifier
    if rule.problem:
        return None
    if tool.startswith("mcp__"):
        server, _, name = tool.removeprefix("mcp__").partition("__")
        if specifier is not None or not server or "*" in server or ("*" in name and name != "*"):
            return None
        return Subject("server" if name in ("", "*") else "mcp_tool", name, server=server)
    if specifier is None:
        return Subject("tool", tool)
    if tool == "Bash":
        command = _command(specifier)
        return None if command is None else Subject("command", tool, command=command)
    if tool in READERS or tool in EDITORS:
        return Subject("file", tool, path=_path(specifier, guards=rule.verdict != "allow"))
    if tool == "WebFetch" and specifier.startswith(_DOMAIN):
        return Subject("host", specifier.removeprefix(_DOMAIN).strip())
    if tool == "Skill" and "*" not in specifier:
        return Subject("skill", specifier)
    if tool in ("Agent", "Task") and "*" not in specifier:
        return Subject("agent", specifier)
    return None


def _command(specifier: str) -> Command | None:
    text = specifier.strip()
    if "\\*" in text:
        return None
    prefix = text.endswith((":*", " *"))
    body = text[:-2].rstrip() if prefix else text
    if "*" not in body:
        words = _words(body)
        if words is None:
            return Command((), "pattern", f"{body} *" if prefix else body)
        return Command(words, "prefix" if prefix else "exact", body)
    head = body.partition("*")[0]
    whole = head if head.endswith((" ", "\t")) else head.rpartition(" ")[0]
    return Command(_words(whole) or (), "pattern", f"{body} *" if prefix else body)


def _words(text: str) -> tuple[str, ...] | None:
    """The words of a text that a shell would pass on unchanged; None where it would not."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    plain = all(re.fullmatch(r"[\w@%+=:,./~-]+", word) for word in words)
    return tuple(words) if plain and words else None


def _path(specifier: str, *, guards: bool) -> Path:
    """A pattern of one name holds at any depth; for a guard `./name` and `name/**` do too, as here."""
    text = specifier.strip()
    if text.startswith("//"):
        return Path("root", text[1:].lstrip("/"), False)
    if text.startswith("~/"):
        return Path("home", text[2:], False)
    if text.startswith("/"):
        return Path("project", text[1:], False)
    anchored = text.startswith("./")
    while text.startswith("./"):
        text = text[2:]
    name = text.removesuffix("/**") if guards else text
    return Path("project", text, "/" not in name.rstrip("/") and (guards or not anchored))


def overlap(first: Subject | None, second: Subject | None) -> bool:
    """Whether one call may be about both. An unknown subject may be about anything."""
    if first is None or second is None:
        return True
    one, two = _family(first), _family(second)
    if one != two:
        return False
    if first.command is not None and second.command is not None:
        return _commands_meet(first.command, second.command)
    if "tool" in (first.kind, second.kind) or "server" in (first.kind, second.kind):
        return True
    if first.kind in ("skill", "agent", "mcp_tool", "host"):
        return first.name == second.name or first.kind == "host"
    return True


def _family(subject: Subject) -> str:
    if subject.server:
        return f"mcp {subject.server}"
    if subject.name in READERS:
        return "read"
    if subject.name in EDITORS:
        return "edit"
    return {"host": "WebFetch", "skill": "Skill", "agent": "Agent"}.get(subject.kind) or (
        "Agent" if subject.name == "Task" else subject.name
    )


def _commands_meet(first: Command, second: Command) -> bool:
    short, long = sorted((first, second), key=lambda one: len(one.words))
    if short.words != long.words[: len(short.words)]:
        return False
    return len(short.words) == len(long.words) or short.form != "exact"
