"""Settings of every scope merged into one: scalars from the highest file, objects by key, lists joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from checkrein.base.origin import Scope
from checkrein.dialects.claude.settings import dotted, undotted
from checkrein.facts.claude_settings import (
    IGNORED_VALUES,
    MANAGED_FINAL_LISTS,
    PRECEDENCE,
    STRICTER,
    WHOLE_LISTS,
    scopes_for,
)
from checkrein.model.items import Setting
from checkrein.model.project import Candidate, Effective

_RANK: dict[Scope, int] = {scope: rank for rank, scope in enumerate(PRECEDENCE)}


def merge(settings: Iterable[Setting]) -> dict[str, Effective]:
    """Every key that is set, and every object above one, with its value and all candidates.

    Candidates are in order of precedence. Every element of a list in effect has `lost` None.
    """
    ordered = sorted(settings, key=lambda setting: _RANK.get(setting.origin.scope, len(_RANK)))
    groups: dict[str, list[Setting]] = {}
    for setting in ordered:
        groups.setdefault(setting.name, []).append(setting)
    leaves = {name: _leaf(name, group) for name, group in groups.items()}
    return _tree(leaves, {id(setting): rank for rank, setting in enumerate(ordered)})


def _leaf(name: str, group: Sequence[Setting]) -> Effective:
    lost: dict[int, str] = {}
    allowed = scopes_for(name)
    ignored = IGNORED_VALUES.get(name)
    able: list[Setting] = []
    for setting in group:
        scope = setting.origin.scope
        if scope == "plugin":
            able.append(setting)
        elif scope not in allowed:
            lost[id(setting)] = f"only {_either(allowed)} settings may set `{name}`"
        elif ignored and scope in ignored[1] and setting.value == ignored[0]:
            lost[id(setting)] = f"{scope} settings may not choose `{setting.value}`"
        else:
            able.append(setting)
    value: Any = None
    if able and (able[0].element or able[0].value == []):
        value = _join(name, able, lost)
    elif able:
        value = _choose(name, able, lost)
    candidates = tuple(Candidate(setting, lost.get(id(setting))) for setting in group)
    return Effective(name, value, candidates, any(setting.sensitive for setting in group))


def _choose(name: str, able: Sequence[Setting], lost: dict[int, str]) -> Any:
    winner = able[0]
    strict = STRICTER.get(name)
    if strict is not None:
        matching = (s for s in able if s.value == strict[0] and s.origin.scope in strict[1])
        winner = next(matching, winner)
    for setting in able:
        if setting is not winner:
            lost[id(setting)] = _outranked(setting, winner, strict is not None and winner is not able[0])
    return winner.value


def _outranked(loser: Setting, winner: Setting, stricter: bool) -> str:
    if stricter:
        return f"the stricter value in {winner.origin} wins"
    if loser.origin.scope == winner.origin.scope:
        return f"{winner.origin} comes later and replaces it"
    return f"{winner.origin.scope} settings win over {loser.origin.scope} settings"


def _join(name: str, able: Sequence[Setting], lost: dict[int, str]) -> list[Any]:
    joined: list[Any] = []
    first = able[0]
    whole = name in WHOLE_LISTS or (name in MANAGED_FINAL_LISTS and first.origin.scope == "managed")
    for setting in able:
        if not setting.element:
            if setting.value != []:
                lost[id(setting)] = f"{first.origin} gives a list, and lists win by precedence"
            continue
        if whole and setting.origin.file != first.origin.file:
            lost[id(setting)] = f"the whole list in {first.origin.file} counts"
            continue
        if setting.value in joined:
            lost[id(setting)] = "the same entry is in a file of higher precedence"
            continue
        joined.append(setting.value)
    return joined


def _either(scopes: Sequence[str]) -> str:
    return scopes[0] if len(scopes) == 1 else ", ".join(scopes[:-1]) + " or " + scopes[-1]


def _tree(leaves: dict[str, Effective], ranks: dict[int, int]) -> dict[str, Effective]:
    """Leaves and the objects above them.

    If a scalar and an object have the same key, the higher file wins.
    """

    def rank(leaf: Effective) -> int:
        return min((ranks[id(c.item)] for c in leaf.candidates if not c.lost), default=len(ranks))

    tree: dict[str, Any] = {}
    below: dict[tuple[str, ...], list[Effective]] = {}
    result: dict[str, Effective] = {}
    for name in sorted(leaves, key=lambda name: rank(leaves[name])):
        leaf = leaves[name]
        keys = undotted(name)
        winners = any(not candidate.lost for candidate in leaf.candidates)
        if winners and not _insert(tree, keys, leaf.value):
            reason = "a settings file of higher precedence gives this key another form"
            leaf = Effective(name, None, tuple(Candidate(c.item, c.lost or reason) for c in leaf.candidates))
        if winners or name not in result:
            result[name] = leaf
        for end in range(1, len(keys)):
            below.setdefault(keys[:end], []).append(leaf)
    for path, parts in below.items():
        value: Any = tree
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        own = result.get(dotted(path))
        candidates = tuple(c for part in ([own] if own else []) + parts for c in part.candidates)
        sensitive = any(part.sensitive for part in parts)
        result[dotted(path)] = Effective(dotted(path), value, candidates, sensitive)
    return dict(sorted(result.items()))


def _insert(tree: dict[str, Any], keys: tuple[str, ...], value: Any) -> bool:
    *above, last = keys
    for key in above:
        child = tree.setdefault(key, {})
        if not isinstance(child, dict):
            return False
        tree = child
    if last in tree:
        return bool(value == {} and isinstance(tree[last], dict))
    tree[last] = value
    return True
