"""Programs that run a command in another directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from checkrein.facts.shell_files import CHDIRS
from checkrein.policy.abstract import ANY
from checkrein.policy.shell.files import find_roots
from checkrein.policy.shell.program import access
from checkrein.policy.shell.state import State


def turned(state: State, base: str, texts: Sequence[str]) -> State:
    """The state in which the commands of a program run that may change the directory first."""
    fact = CHDIRS.get(base)
    if fact is None:
        return state
    return _also(state, [value for value in _values(texts[1:], *fact) if value])


def below_roots(state: State, texts: Sequence[str]) -> State:
    """`find ROOT -execdir`: in any directory below the roots."""
    roots = find_roots(texts[1:])[0]
    return _also(state, [*roots, *(f"{root.rstrip('/')}/{ANY}" for root in roots)])


def _also(state: State, places: Sequence[str]) -> State:
    if not places:
        return state
    found = dict.fromkeys(state.cwds)
    for place in places:
        found |= dict.fromkeys(access(place, state.cwds, state.home).paths[:1])
    return structs.replace(state, cwds=tuple(found), moved=True)


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
