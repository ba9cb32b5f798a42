"""Files that deploy shares with the user: another agent's settings, where only some keys are ours."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.deploy.change import Change, Step, found
from checkrein.deploy.manifest import Entry, digest
from checkrein.deploy.merge import Merge, Merged, Refused, merge_json, whole
from checkrein.deploy.tomlsection import merge_toml
from checkrein.dialects.generic.written import File

_BOM = "\ufeff"


class Joined(Struct, frozen=True):
    """A file with our part in it. `edited` and `taken` are keys that stay as the user has them."""

    content: bytes
    merge: Merge
    edited: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


def share(file: File, targets: tuple[str, ...], current: bytes, entry: Entry | None, force: bool) -> Step:
    """Put our part into an existing file."""
    path, before = file.path, digest(current)
    joined = join(file, current, entry, force=force)
    if isinstance(joined, Refused):
        if not force:
            message = f"{path} {joined.reason}; nothing was added to it"
            hint = "correct it, move it away, or use --force (undo restores it)"
            remark = found("DEP013", path, message, hint, "warning", joined.line)
            return Step(Change(path, "foreign", targets, before=before), remarks=(remark,))
        joined = fresh(file)
    held = (*joined.edited, *joined.taken)
    change = Change(path, "unchanged", targets, joined.content, before=before, shared=True, held=held)
    kept = entry.kept if entry is not None and entry.knows(before) else None
    if joined.content != current:
        ours = entry is not None and entry.knows(before)
        change = replace(change, action="update", kept=before if force and not ours else None)
    new = Entry(digest(joined.content), targets, kept=change.kept or kept, merge=joined.merge)
    return Step(change, None if joined.merge.is_empty else new, _remarks(path, joined))


def unshare(path: str, current: bytes, merge: Merge) -> Step:
    """Take our part out of a file; delete a file that we made when nothing is left in it."""
    before = digest(current)
    joined = part(path, current, merge)
    if isinstance(joined, Refused):
        message = f"{path} {joined.reason}; deploy's keys stay in it"
        remark = found("DEP013", path, message, "take them out by hand", "warning", joined.line)
        return Step(Change(path, "edited", (), before=before), remarks=(remark,))
    change = Change(path, "unchanged", (), joined.content, before=before, shared=True, held=joined.edited)
    if merge.created and is_blank(path, joined.content):
        change = replace(change, action="delete", content=b"")
    elif joined.content != current:
        change = replace(change, action="update")
    return Step(change, remarks=_remarks(path, joined))


def _remarks(path: str, joined: Joined) -> tuple[Diagnostic, ...]:
    edited = [
        (key, "was edited after deploy wrote it", "move the change to its source, or use --force")
        for key in joined.edited
    ]
    taken = [
        (
            key,
            "has another value already",
            "rename one of the two, or use --force (undo restores it)",
        )
        for key in joined.taken
    ]
    return tuple(
        found("DEP014", path, f"{path}: `{key}` {what}; it stays as it is", hint, "warning")
        for key, what, hint in (*edited, *taken)
    )


def fresh(file: File) -> Joined:
    """Make a new file: all of it is ours."""
    document = parse(file.path, file.content)
    if file.path.endswith(".toml"):
        made = merge_toml("", document, Merge(created=True))
        assert isinstance(made, Merged)
        return Joined(made.text.encode(), made.merge)
    return Joined(file.content, whole(document))


def join(file: File, current: bytes, entry: Entry | None, *, force: bool = False) -> Joined | Refused:
    """Join our part into the current content. `entry` says which parts are ours already."""
    merge = None if entry is None else entry.merge
    if entry is not None and merge is None:
        if entry.knows(digest(current)):
            return fresh(file)  # deployed whole, before the manifest recorded keys
        entry = None
    wanted = parse(file.path, file.content)
    lenient = entry is not None and entry.before is not None
    return _merge(file.path, current, wanted, merge or Merge(), force=force, lenient=lenient)


def part(path: str, current: bytes, merge: Merge) -> Joined | Refused:
    """The current content without our part."""
    return _merge(path, current, {}, merge)


def is_blank(path: str, content: bytes) -> bool:
    """True for a file with nothing left in it."""
    return content.strip() in ((b"",) if path.endswith(".toml") else (b"", b"{}"))


def parse(path: str, content: bytes) -> dict[str, Any]:
    """A document that a writer made."""
    text = content.decode("utf-8")
    if path.endswith(".toml"):
        import tomllib

        return tomllib.loads(text)
    document: dict[str, Any] = json.loads(text)
    return document


def union(first: Merge | None, second: Merge | None) -> Merge | None:
    """What is ours before or after a run, while a run is under way."""
    if first is None or second is None:
        return second or first
    elements = dict(first.elements)
    for pointer, hashes in second.elements.items():
        elements[pointer] = tuple(dict.fromkeys((*elements.get(pointer, ()), *hashes)))
    return replace(
        second,
        keys={**first.keys, **second.keys},
        elements=elements,
        made=tuple(dict.fromkeys((*first.made, *second.made))),
        blank={**second.blank, **first.blank},
    )


def _merge(
    path: str,
    current: bytes,
    wanted: dict[str, Any],
    old: Merge,
    *,
    force: bool = False,
    lenient: bool = False,
) -> Joined | Refused:
    try:
        text = current.decode("utf-8")
    except UnicodeDecodeError:
        return Refused("is not UTF-8")
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    if path.endswith(".toml"):
        found = merge_toml(text, wanted, old, force=force or lenient)
    else:
        found = merge_json(text, wanted, old, force=force, lenient=lenient, comments="commas")
    if isinstance(found, Refused):
        return found
    return Joined((mark + found.text).encode(), found.merge, found.edited, found.taken)
