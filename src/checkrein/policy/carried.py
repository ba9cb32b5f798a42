"""A denied command in the words, the input or the variables of a program that may run it.

Tables tell how to read known programs. Any other program may be a wrapper or an interpreter, so the call
needs approval when the text of a denied command is anywhere in its arguments, input or variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checkrein.base.later import later
from checkrein.facts.shell_env import SAFE
from checkrein.facts.shell_programs import DATA, OPEN, OWN_NAMES, VERBS
from checkrein.model.rule import Rule
from checkrein.policy.abstract import ANY, ONE, STAR, is_glob, is_static, may_match
from checkrein.policy.patterns import normal
from checkrein.policy.rules import RuleSet
from checkrein.policy.shell.forms import strict_forms
from checkrein.policy.shell.program import Command

MAX_TEXT = 2_000
"""Text longer than this is not read as shell text."""
MAX_FOLLOWING = 100
"""So many words behind a word count as its arguments."""

_QUOTES = later(r"[\\'\"]")
_ENDS = later(r"[;|&\n\"'`)}\]>,:]")
_PLACE = later(r"[~\w./-]*/$")
_WORD = later(r"[\w=-]+$")


def carried(rules: RuleSet, command: Command) -> Rule | None:
    """The rule for a command that this program may run."""
    heads = rules.heads("Bash")
    if heads is None:
        return None
    for text, following, bare in _texts(command):
        rule = _found(rules, heads, text, following, bare=bare)
        if rule is None and bare and "/" in text and is_glob(text):
            rule = _glob(rules, text.rsplit("/", 1)[-1])
        if rule is not None:
            return rule
    return None


def _glob(rules: RuleSet, name: str) -> Rule | None:
    """`/bin/r?`: the rule for a command that the glob may name."""
    for first, found in rules.commands.get("Bash", {}).items():
        if name.strip(f"{STAR}{ONE}") and may_match(tuple(first), name):
            return found[0].rule
    return None


def _texts(command: Command) -> Iterator[tuple[str, Sequence[str], bool]]:
    """(text, the words behind it, whether a plain word counts): what the program may run."""
    words = command.words
    for name, value in command.assigns:
        if name not in SAFE:
            yield value, (), True
    if not words:
        return
    base = words[0].rsplit("/", 1)[-1]
    exported = base == "export" or (base in ("declare", "typeset") and "x" in "".join(words[1:2]))
    if exported:
        for word in words[1:]:
            yield _QUOTES.sub("", word).partition("=")[2], (), True
    openers = OPEN.get(base, frozenset())
    opened = next((at for at, word in enumerate(words) if word in openers), len(words))
    if base in DATA and opened == len(words):
        return
    for at, word in enumerate(words[: command.own]):
        if at:
            yield word, words[at + 1 : at + 1 + MAX_FOLLOWING], base not in OWN_NAMES or at > opened
    if command.input and is_static(command.input) and base not in OWN_NAMES:
        yield command.input, (), True


def _found(
    rules: RuleSet, heads: re.Pattern[str], text: str, following: Sequence[str], *, bare: bool
) -> Rule | None:
    for one in dict.fromkeys((text, _QUOTES.sub("", text))):
        for found in heads.finditer(one):
            start, end = found.span()
            whole = end == len(one)
            if not bare and start == 0 and whole:
                continue
            if not _starts(one[:start]):
                continue
            for form in _forms(one[start:], following if whole else ()):
                rule = _matching(rules, found.group(), form)
                if rule is not None:
                    return rule
    return _as_shell(rules, text) if " " in text and heads.search(text) else None


def _as_shell(rules: RuleSet, text: str) -> Rule | None:
    """The text, read as shell text: `timeout 5 rm x`."""
    from checkrein.policy.shell import analyse

    pending = list(analyse(text, "/", "").commands) if len(text) <= MAX_TEXT else []
    while pending:
        command = pending.pop()
        pending.extend(command.inner)
        forms = strict_forms(command) if command.words else ()
        for rule in rules.command_rules("Bash", {form.split(" ", 1)[0] for form in forms}):
            if any(rule.pattern.matches(form) for form in forms):
                return rule.rule
    return None


def _starts(before: str) -> bool:
    """Whether a command may follow this text: at the start, after a sign, after a verb."""
    before = _PLACE.sub("", before)
    trimmed = before.rstrip(" \t")
    if not trimmed or trimmed[-1] == "\n":
        return True
    if not re.match(r"[\w.-]", trimmed[-1]):
        return True
    if trimmed == before:
        return False
    last = _WORD.search(trimmed)
    return last is not None and (last.group() in VERBS or last.group().startswith("-"))


def _forms(text: str, following: Sequence[str]) -> tuple[str, ...]:
    end = _ENDS.search(text)
    cut = text[: end.start()] if end else text
    forms = [normal(text), normal(cut)]
    if following:
        forms.append(normal(" ".join((text, *following))))
    return tuple(dict.fromkeys(form.replace(ANY, " ") for form in forms))


def _matching(rules: RuleSet, head: str, form: str) -> Rule | None:
    for rule in rules.command_rules("Bash", (head,)):
        if not rule.pattern.text.lstrip().startswith("*") and rule.pattern.matches(form):
            return rule.rule
    return None
