"""Judge a program at its start: which starts a rule may be about, and what the rules say about one.

The exec guard judges here what runs, not how it is spelled: the executable by every name it goes by, its
arguments and its directory. Only deny rules and ask rules count. A start that no rule names was approved with
the call that led to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from checkrein.facts.shell_builtins import BUILTINS
from checkrein.facts.shell_programs import SUBCOMMANDS
from checkrein.policy.abstract import STAR, is_static
from checkrein.policy.patterns import CommandPattern
from checkrein.policy.policy import Policy
from checkrein.policy.rare import behind_fences
from checkrein.policy.rules import CommandRule, RuleSet
from checkrein.policy.shell.program import Command
from checkrein.policy.starts import Started, Watch, Watched
from checkrein.policy.values import Context, Piece
from checkrein.policy.view import View, piece


def watch(policy: Policy, context: Context, only: tuple[str, ...] | None = None) -> Watch:
    """The starts that a rule of the policy may match."""
    found: dict[Watched, None] = {}
    every = False
    for compiled in policy.compiled:
        view = View(compiled, context)
        if view.fences:
            found[Watched("git")] = None
        for rules in (view.deny, view.ask):
            for rule in rules.all_commands("Bash"):
                name = rule.pattern.first
                if name is None:
                    every = True
                else:
                    found[Watched(name, _words(rule.pattern, name))] = None
    return Watch(every, tuple(found), only)


def _words(pattern: CommandPattern, name: str) -> tuple[str, ...]:
    """The literal texts of a pattern behind the program's name, but for those that have other names."""
    text = "".join(pattern.tokens)
    rest = text.lstrip()[len(name) :]
    renamed = SUBCOMMANDS.get(name.rsplit("/", 1)[-1], {}).values()
    return tuple(word for chunk in rest.split(STAR) for word in chunk.split() if word not in renamed)


def listed(text: str, context: Context) -> tuple[tuple[str, ...], ...]:
    """The commands of a shell text, as words: those that the judgement of the text has seen."""
    known = (one.words for one in _all(text, context) if one.words and is_static(one.name))
    return tuple(dict.fromkeys(known))


def written(text: str, context: Context) -> tuple[str, ...]:
    """The files that a shell text names to write. Who approves the text approves that."""
    from checkrein.policy.shell.files import touched

    found: dict[str, None] = {}
    for command in _all(text, context):
        files = touched(command, context.home).writes if command.words else ()
        found |= dict.fromkeys(path for one in (*command.writes, *files) for path in one.paths)
    return tuple(path for path in found if is_static(path))


def _all(text: str, context: Context) -> Iterator[Command]:
    from checkrein.policy.shell import analyse

    pending = list(analyse(text, context.cwd, context.home).commands)
    while pending:
        command = pending.pop()
        pending.extend(command.inner)
        yield command


def judge_start(
    policy: Policy, started: Started, context: Context, approved: Collection[tuple[str, ...]] = ()
) -> Piece | None:
    """The deny or ask rule that stops the start; None lets it go on.

    `approved` are the commands, as words, that a person approved with the call: an ask rule does not ask
    again for them.
    """
    here = replace(context, cwd=started.cwd)
    asked: Piece | None = None
    for compiled in policy.compiled:
        view = View(compiled, here)
        for command in _commands(started):
            text = " ".join(command.words)
            behind = behind_fences(view, command)
            if behind is not None and behind.verdict == "deny":
                return replace(behind, layer="exec")
            denied = matching(view.deny, command)
            if denied is not None:
                reason = f"denied by {denied.rule.text}"
                return piece(text, "deny", reason, denied.rule, effect="exec", layer="exec")
            rule = matching(view.ask, command)
            if rule is not None and asked is None and not _is_approved(command, approved):
                reason = f"needs approval because of {rule.rule.text}"
                asked = piece(text, "ask", reason, rule.rule, effect="exec", layer="exec")
    return asked


def _commands(started: Started) -> Iterator[Command]:
    """The start under each of the program's names."""
    for name in dict.fromkeys(started.names):
        words = (name, *started.argv[1:])
        yield Command(words=words, raw=" ".join(words), cwds=(started.cwd,))


def _is_approved(command: Command, approved: Iterable[tuple[str, ...]]) -> bool:
    base, rest = command.name.rsplit("/", 1)[-1], command.words[1:]
    return any(words[0].rsplit("/", 1)[-1] == base and words[1:] == rest for words in approved if words)


def settles(pattern: CommandPattern, command: Command) -> bool:
    """Whether the start of a program shows if the pattern matches. The shell runs its builtins itself."""
    if pattern.first is not None:
        return pattern.first not in BUILTINS
    return is_static(command.name) and command.name not in BUILTINS


def matching(rules: RuleSet, command: Command) -> CommandRule | None:
    """The rule that matches one of the spellings of a command."""
    from checkrein.policy.shell.forms import strict_forms

    if not command.words or not (rules.commands.get("Bash") or rules.others.get("Bash")):
        return None
    forms = strict_forms(command)
    names = dict.fromkeys(form.split(" ", 1)[0] for form in forms)
    for rule in rules.command_rules("Bash", names):
        if any(rule.pattern.matches(form) for form in forms):
            return rule
    return None
