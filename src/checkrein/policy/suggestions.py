"""What to offer a person who must approve a call: changes after which the same call needs no approval.

Only suggestions that help are offered. Rules are as narrow as the product's: one for each command that needs
approval, the host of an address, the directory of a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Sequence

from checkrein.facts.shell_code import INTERPRETERS, SPAWNS
from checkrein.facts.shell_files import REMOVERS
from checkrein.facts.shell_groups import GROUPS
from checkrein.facts.shell_wrappers import SHELLS, WRAPPERS
from checkrein.policy.abstract import is_static
from checkrein.policy.effects import Exec, Net, Read, Use, Write
from checkrein.policy.hosts import host_of
from checkrein.policy.paths import absolute, inside, working_dirs
from checkrein.policy.shell import analyse
from checkrein.policy.shell.files import touched
from checkrein.policy.shell.forms import granting_forms
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.program import Command
from checkrein.policy.tools import Meaning
from checkrein.policy.updates import AddDirectories, AddRules, Destination, RuleText, SetMode, Update
from checkrein.policy.values import Call, Context, Decision, Mode

_MOST_RULES = 5
After = Callable[[Sequence[Update]], Decision]
"""The decision about the call once these updates hold."""

_FAR_REACHING: tuple[Container[str], ...] = (INTERPRETERS, SPAWNS, SHELLS, WRAPPERS, REMOVERS)
_GLOB = frozenset("*?[]{}!\\")


def suggest(
    call: Call, tool: Meaning, context: Context, mode: Mode, decision: Decision, after: After
) -> tuple[Update, ...]:
    """Updates for a call that needs approval in `mode`.

    There are none if a rule, a hook or the sandbox demands the question: no update would silence it.
    """
    if decision.verdict != "ask" or tool.interactive or _is_wanted(decision):
        return ()

    def helps(*updates: Update) -> bool:
        return after(updates).verdict == "allow"

    found: list[Update] = []
    rules = next((one for one in _rules(call, tool, context, decision) if helps(one)), None)
    if rules is not None:
        found.append(rules)
    written = _written(call, tool, context) if mode == "default" else ()
    if written:
        edits = SetMode(mode="acceptEdits", destination="session")
        folders = tuple(dict.fromkeys(os.path.dirname(path) for path in written))
        directories = AddDirectories(directories=folders, destination="session")
        outside = not all(inside(path, working_dirs(context, ())) for path in written)
        if helps(directories, edits):
            found += (directories, edits) if outside or tool.family == "Bash" else (edits,)
    return tuple(found)


def rule_choices(
    call: Call, tool: Meaning, context: Context, decision: Decision
) -> Iterator[tuple[str, ...]]:
    """Every set of rules that may allow a call that needs approval, the broader first. Not all of them
    help."""
    if decision.verdict != "ask" or tool.interactive or _is_wanted(decision):
        return
    for update in _rules(call, tool, context, decision):
        yield tuple(one.text for one in update.rules)


def blocked_path(call: Call, tool: Meaning, context: Context) -> str | None:
    """The file that a call needs approval for: the first that it writes, or that it reads elsewhere."""
    written = _written(call, tool, context)
    if written:
        return written[0]
    reads = (effect.path for effect in tool.effects(call.input) if isinstance(effect, Read))
    paths = (absolute(path, context.cwd, context.home) for path in reads if is_static(path))
    return next((path for path in paths if not inside(path, working_dirs(context, ()))), None)


def _is_wanted(decision: Decision) -> bool:
    return any(
        piece.verdict == "ask" and (piece.rule is not None or piece.effect == "hook")
        for piece in decision.trace
    )


def _rules(call: Call, tool: Meaning, context: Context, decision: Decision) -> Iterator[AddRules]:
    """Rules that may allow the call, the broader ones first."""
    effects = tool.effects(call.input)
    shell = next((one for one in effects if isinstance(one, Exec) and one.language == "bash"), None)
    if shell is not None and tool.family == "Bash":
        yield from _commands(shell.text, context, decision)
        return
    net = next((one for one in effects if isinstance(one, Net)), None)
    if net is not None and tool.name == "WebFetch":
        host = host_of(net.url)
        if is_static(host) and host and not _GLOB.intersection(host):
            yield _allow("localSettings", RuleText("WebFetch", f"domain:{host}"))
        return
    reads = [one.path for one in effects if isinstance(one, Read)]
    if reads and tool.family == "Read":
        yield from _readable(reads, context)
        return
    if any(isinstance(one, Write) for one in effects):
        return
    if any(isinstance(one, Use) for one in effects):
        name = call.input.get("skill") if tool.name == "Skill" else None
        yield _allow("localSettings", RuleText(tool.name, name if isinstance(name, str) else None))


def _readable(paths: Sequence[str], context: Context) -> Iterator[AddRules]:
    folders = {os.path.dirname(absolute(path, context.cwd, context.home)) for path in paths}
    if all(is_static(folder) and folder != "/" for folder in folders):
        texts = (RuleText("Read", f"/{literal_path(folder)}/**") for folder in sorted(folders))
        yield _allow("session", *texts)


def _commands(text: str, context: Context, decision: Decision) -> Iterator[AddRules]:
    """One rule for each command that needs approval: its first words, or else the command as written."""
    asked = {piece.text for piece in decision.trace if piece.verdict == "ask"}
    program = analyse(text, context.cwd, context.home)
    open_ones = [one for one in program.commands if one.words and _shown(one) & asked]
    if program.problems or not 0 < len(open_ones) <= _MOST_RULES:
        return
    for write in (_beginning, _exact):
        texts = dict.fromkeys(write(one) for one in open_ones)
        if all(texts):
            yield _allow("localSettings", *(RuleText("Bash", one) for one in texts))


def _shown(command: Command) -> set[str]:
    return {command.raw, " ".join(command.words), *granting_forms(command)}


def _beginning(command: Command) -> str:
    """`git push *`, `npm run test:unit *`. Nothing for a program that runs other programs or code, or removes
    files: its first words would allow too much."""
    base = nested_name(command.name.rsplit("/", 1)[-1])
    told = 3 if command.words[1:2] and command.words[1] in GROUPS.get(base, ()) else 2
    words = [word for word in command.words[:told] if not word.startswith("-")]
    runs_others = command.inner or command.opaque_code or any(base in names for names in _FAR_REACHING)
    if runs_others or not all(map(_is_word, words)):
        return ""
    return " ".join((*words, "*")) if len(words) == told else ""


def _exact(command: Command) -> str:
    text = command.raw.strip()
    return text if is_static(text) and "*" not in text and "\n" not in text else ""


def _is_word(word: str) -> bool:
    special = any(char in word for char in " \t\n;|&<>()'\"\\$`*")
    return is_static(word) and bool(word) and not special and not word.endswith(":")


def _written(call: Call, tool: Meaning, context: Context) -> list[str]:
    """The files that the call would write, if they are known."""
    found: list[str] = []
    for effect in tool.effects(call.input):
        if isinstance(effect, Write):
            found.append(absolute(effect.path, context.cwd, context.home))
        elif isinstance(effect, Exec) and effect.language == "bash" and tool.family == "Bash":
            for command in analyse(effect.text, context.cwd, context.home).commands:
                files = touched(command, context.home).writes if command.words else ()
                found += [path for access in (*command.writes, *files) for path in access.paths]
    return [path for path in found if is_static(path) and path.startswith("/") and "\0" not in path]


def _allow(destination: Destination, *rules: RuleText) -> AddRules:
    return AddRules(rules=rules, behavior="allow", destination=destination)


def literal_path(path: str) -> str:
    """A path as the text of a rule, with the special characters of patterns escaped."""
    return "".join(f"\\{char}" if char in _GLOB else char for char in path)
