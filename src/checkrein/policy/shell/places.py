"""Programs that run a command, or look for files, in another directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from checkrein.facts.shell_roles import CHDIRS
from checkrein.policy.abstract import ANY
from checkrein.policy.shell.program import access
from checkrein.policy.shell.state import State


def places(cwds: Sequence[str], home: str, base: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The directories that names in the words of a program may be relative to."""
    fact = CHDIRS.get(base)
    values = [value for value in _values(texts, *fact) if value] if fact else []
    return _also(cwds, home, values)


def turned(state: State, base: str, texts: Sequence[str]) -> State:
    """The state in which the commands of a program run that may change the directory first."""
    return _moved(state, places(state.cwds, state.home, base, texts[1:]))


def below_roots(state: State, texts: Sequence[str]) -> State:
    """`find ROOT -execdir`: in any directory below the roots."""
    roots = find_roots(texts[1:])[0]
    below = [f"{root.rstrip('/')}/{ANY}" for root in roots]
    return _moved(state, _also(state.cwds, state.home, [*roots, *below]))


def _moved(state: State, cwds: tuple[str, ...]) -> State:
    return state if cwds == state.cwds else structs.replace(state, cwds=cwds, moved=True)


def _also(cwds: Sequence[str], home: str, values: Sequence[str]) -> tuple[str, ...]:
    found = dict.fromkeys(cwds)
    for value in values:
        found |= dict.fromkeys(access(value, cwds, home).paths)
    return tuple(found)


def _values(texts: Sequence[str], short: str, long: Sequence[str]) -> Iterator[str]:
    for at, text in enumerate(texts):
        following = texts[at + 1] if at + 1 < len(texts) else ""
        if text.startswith("--"):
            name, given, value = text[2:].partition("=")
            if name and any(option.startswith(name) for option in long):
                yield value if given else following
        elif text.startswith("-"):
            letter = next((place for place, char in enumerate(text[1:], 1) if char in short), 0)
            if letter:
                yield text[letter + 1 :] or following
        elif text in long:
            yield following


def find_roots(texts: Sequence[str]) -> tuple[list[str], Sequence[str]]:
    """The places that find searches, and its expression."""
    roots: list[str] = []
    at = 0
    while at < len(texts):
        text = texts[at]
        if text in ("-H", "-L", "-P") or text.startswith(("-O", "-D")):
            at += 2 if text == "-D" else 1
        elif text.startswith("-") or text in ("(", "!", ","):
            break
        else:
            roots.append(text)
            at += 1
    return roots or ["."], texts[at:]
