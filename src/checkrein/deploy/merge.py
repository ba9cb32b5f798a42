"""Puts deploy's keys into a configuration file of the user, and takes them out again.

A part is a key of the document, or a key of an object in it (`/mcpServers/docs`); a list is joined element by
element (`/hooks/PreToolUse`). A value that was there already is the user's, even when it is the same. A part
of ours that somebody edited, and a key that is taken, stay as they are; a warning names them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checkrein.base.jsonc import Comments, as_json
from checkrein.base.jsonpos import Json, decode
from checkrein.deploy import jsontext


class Merge(Struct, frozen=True, omit_defaults=True):
    """What is ours in a file, by JSON pointer.

    `keys` and `elements` have the hashes of our values; `made` are objects and lists that we added, `blank`
    those that were empty, with the space in them. `created`: deploy made the whole file.
    A TOML file has one `section` (its hash) instead, with `lead` before it.
    """

    created: bool = False
    keys: dict[str, str] = {}
    elements: dict[str, tuple[str, ...]] = {}
    made: tuple[str, ...] = ()
    blank: dict[str, str] = {}
    section: str | None = None
    lead: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.keys or self.elements or self.section)


class Merged(Struct, frozen=True):
    """`edited` are parts of ours that somebody changed, `taken` keys where the user has another value."""

    text: str
    merge: Merge
    edited: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


class Refused(Struct, frozen=True):
    """Why deploy can't join a file without losing a part of it."""

    reason: str
    line: int = 1


class _Slot(Struct, frozen=True):
    """A part of a document: `elements` says that `value` is a list to join."""

    parts: tuple[str, ...]
    value: Any
    elements: bool

    @property
    def pointer(self) -> str:
        return pointer(self.parts)


def hash_of(value: Any) -> str:
    """The hash of a value as written. The order of keys counts, as it does for some agents."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def pointer(parts: tuple[str, ...]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def parts_of(said: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in said.split("/")[1:])


def whole(document: dict[str, Any]) -> Merge:
    """Mark everything in a file as ours, since deploy made it."""
    keys: dict[str, str] = {}
    elements: dict[str, tuple[str, ...]] = {}
    made: list[str] = []
    for slot in _slots(document):
        if len(slot.parts) > 1 and pointer(slot.parts[:1]) not in made:
            made.append(pointer(slot.parts[:1]))
        if slot.elements:
            made.append(slot.pointer)
            elements[slot.pointer] = tuple(dict.fromkeys(map(hash_of, slot.value)))
        else:
            keys[slot.pointer] = hash_of(slot.value)
    return Merge(created=True, keys=keys, elements=elements, made=tuple(made))


def merge_json(
    text: str,
    wanted: dict[str, Any],
    old: Merge,
    *,
    force: bool = False,
    lenient: bool = False,
    comments: Comments = "none",
) -> Merged | Refused:
    """Join `wanted` into `text`, without our parts that are not wanted any more.

    `force` overwrites what is edited or taken. `lenient` restores elements of ours that are gone, for a run
    that stopped between manifest and file. `comments` says what the agent allows beside JSON.
    """
    problem = _problem(text, comments)
    if problem is not None:
        return problem
    work = _Work(text, old, force, lenient)
    slots = list(_slots(wanted))
    work.drop(slots)
    for slot in slots:
        work.join(slot)
    work.flush()
    return work.done()


def _problem(text: str, comments: Comments) -> Refused | None:
    found = decode(as_json(text, comments))
    if not isinstance(found, Json):
        kind = "strict JSON" if comments == "none" else "JSON, with or without comments"
        return Refused(f"is not {kind} ({found.message})", found.span.line)
    if not isinstance(found.value, dict):
        return Refused("is not a JSON object")
    if found.duplicates:
        return Refused(f"has the key {found.duplicates[0]} twice", found.spans[found.duplicates[0]].line)
    try:
        jsontext.find(text, ())
    except (ValueError, RecursionError):
        return Refused("holds a value that is too large")
    return None


def _slots(document: dict[str, Any]) -> Iterator[_Slot]:
    for top, value in document.items():
        if isinstance(value, dict) and value:
            for key, inside in value.items():
                yield _Slot((top, key), inside, isinstance(inside, list) and bool(inside))
        else:
            yield _Slot((top,), value, isinstance(value, list) and bool(value))


class _Work:
    """The text during the edits. Inserts wait until all are known, so each object is edited once."""

    def __init__(self, text: str, old: Merge, force: bool, lenient: bool) -> None:
        self.text = text
        self.old = old
        self.force = force
        self.lenient = lenient
        self.keys: dict[str, str] = {}
        self.elements: dict[str, tuple[str, ...]] = {}
        self.made = dict.fromkeys(old.made)
        self.blank = dict(old.blank)
        self.edited: dict[str, None] = {}
        self.taken: dict[str, None] = {}
        self.waiting: dict[tuple[str, ...], list[tuple[str, Any]]] = {}

    def drop(self, slots: list[_Slot]) -> None:
        """Take out what is ours and not wanted; edited parts stay."""
        kept = {slot.pointer: slot for slot in slots}
        for said, known in self.old.keys.items():
            slot = kept.get(said)
            child = jsontext.find(self.text, parts_of(said))
            if child is None or (slot is not None and not slot.elements):
                continue
            if self._is(child, known):
                self.text = jsontext.remove(self.text, parts_of(said))
            else:
                self.edited[said] = None
        for said, hashes in self.old.elements.items():
            slot = kept.get(said)
            wanted = set(map(hash_of, slot.value)) if slot is not None and slot.elements else set()
            self._drop_elements(said, [one for one in hashes if one not in wanted])

    def _is(self, child: jsontext.Child, known: str) -> bool:
        """Whether a value is as we wrote it, without an added comment."""
        return hash_of(child.value) == known and not jsontext.has_comment(self.text, child)

    def _drop_elements(self, said: str, gone: list[str]) -> None:
        child = jsontext.find(self.text, parts_of(said))
        if child is None or not isinstance(child.value, list):
            if child is not None and gone:
                self.edited[said] = None
            return
        for one in reversed(gone):
            place = self._place(parts_of(said), one)
            if place is not None:
                self.text = jsontext.remove(self.text, place)
            else:
                self.edited[said] = None

    def _place(self, parts: tuple[str, ...], known: str) -> jsontext.Parts | None:
        """The index of the last element of a list that is as we wrote it."""
        holder = jsontext.find(self.text, parts)
        for at in range(len(holder.value) - 1, -1, -1) if holder is not None else ():
            child = jsontext.find(self.text, (*parts, at))
            if child is not None and self._is(child, known):
                return (*parts, at)
        return None

    def join(self, slot: _Slot) -> None:
        if len(slot.parts) > 1:
            holder = jsontext.find(self.text, slot.parts[:1])
            if holder is not None and not isinstance(holder.value, dict):
                self.taken[pointer(slot.parts[:1])] = None
                return
        child = jsontext.find(self.text, slot.parts)
        if slot.elements:
            self._join_elements(slot, child)
            return
        known = self.old.keys.get(slot.pointer)
        wanted = hash_of(slot.value)
        found = None if child is None else hash_of(child.value)
        if child is None:
            self._wait(slot, slot.value)
        elif found != wanted:
            if self.force or (known is not None and self._is(child, known)):
                self.text = jsontext.replace(self.text, slot.parts, slot.value)
            else:
                (self.edited if known else self.taken)[slot.pointer] = None
                if known:
                    self.keys[slot.pointer] = known
                return
        elif known is None:
            return
        self.keys[slot.pointer] = wanted

    def _join_elements(self, slot: _Slot, child: jsontext.Child | None) -> None:
        said = slot.pointer
        known = self.old.elements.get(said, ())
        values = {hash_of(value): value for value in slot.value}
        if child is None:
            self._wait(slot, list(values.values()))
            self.made[said] = None
            self.elements[said] = tuple(values)
            return
        if not isinstance(child.value, list):
            self.taken[said] = None
            return
        present = set(map(hash_of, child.value))
        missing = [one for one in values if one not in present]
        lost = [one for one in missing if one in known]
        if lost and not (self.force or self.lenient):
            self.edited[said] = None
            missing = [one for one in missing if one not in lost]
        for one in missing:
            self._wait(slot, values[one], element=True)
        ours = tuple(one for one in values if one in known or one in missing)
        if ours:
            self.elements[said] = ours

    def _wait(self, slot: _Slot, value: Any, *, element: bool = False) -> None:
        holder = slot.parts if element else slot.parts[:-1]
        self.waiting.setdefault(holder, []).append((slot.parts[-1], value))

    def flush(self) -> None:
        """Make the inserts. Remove what we made and is empty; give back the space of what was empty."""
        for holder, items in self.waiting.items():
            if jsontext.find(self.text, holder) is None:
                self._insert(holder[:-1], [(holder[-1], dict(items))])
                self.made[pointer(holder)] = None
            else:
                self._insert(holder, items)
        for said in sorted(self.made, key=lambda one: -one.count("/")):
            child = jsontext.find(self.text, parts_of(said))
            space = jsontext.inner(self.text, parts_of(said))
            if child is None or (space is not None and not space.strip()):
                if child is not None:
                    self.text = jsontext.remove(self.text, parts_of(said))
                del self.made[said]
        for said in sorted(self.blank, key=lambda one: -one.count("/")):
            now = jsontext.inner(self.text, parts_of(said))
            if now is not None:
                space = self.blank.pop(said)
                if now.strip() == space.strip():
                    self.text = jsontext.set_inner(self.text, parts_of(said), space)
            elif jsontext.find(self.text, parts_of(said)) is None:
                del self.blank[said]

    def _insert(self, holder: tuple[str, ...], items: list[tuple[str, Any]]) -> None:
        space = jsontext.inner(self.text, holder)
        if space is not None and pointer(holder) not in self.made:
            self.blank.setdefault(pointer(holder), space)
        self.text = jsontext.insert(self.text, holder, items)

    def done(self) -> Merged:
        merge = Merge(
            created=self.old.created,
            keys=self.keys,
            elements=self.elements,
            made=tuple(self.made),
            blank=self.blank,
        )
        return Merged(self.text, merge, tuple(self.edited), tuple(self.taken))
