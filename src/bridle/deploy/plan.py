"""What deploy would do, as a value: nothing here writes.

A file that is already there is touched only when the manifest says that we wrote it and its hash says that
nobody edited it since. Files that are sources themselves are never written over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from msgspec import Struct

from bridle.base.diagnostic import Diagnostic
from bridle.base.origin import Origin, Span
from bridle.deploy.manifest import Entry, Manifest, digest
from bridle.deploy.paths import Paths
from bridle.dialects.generic.written import File, Written

Action = Literal["create", "update", "delete", "unchanged", "source", "edited", "foreign", "release"]
WRITING: tuple[Action, ...] = ("create", "update", "delete")


class Change(Struct, frozen=True, omit_defaults=True):
    """What happens to one path.

    `unchanged` is there already (and stays its owner's if it was not ours); `source` is a source itself;
    `edited` was changed since we wrote it and `foreign` was never ours: both stay as they are; `release`
    stays for the agents that are left. `before` is the hash of what is there now.
    """

    path: str
    action: Action
    targets: tuple[str, ...]
    content: bytes = b""
    executable: bool = False
    before: str | None = None
    kept: str | None = None

    @property
    def writes(self) -> bool:
        return self.action in WRITING


class Plan(Struct, frozen=True):
    """`changes` by path; `diagnostics` are losses and conflicts; an error among them stops apply.

    `manifest` is what will have been deployed, `previous` what the plan was made from.
    """

    changes: tuple[Change, ...]
    diagnostics: tuple[Diagnostic, ...]
    manifest: Manifest
    previous: Manifest = Manifest()

    @property
    def pending(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.writes)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(found for found in self.diagnostics if found.severity == "error")

    @property
    def stale(self) -> bool:
        """True when the tree is not what the sources say."""
        blocked = any(change.action in ("edited", "foreign") for change in self.changes)
        return bool(self.pending or self.errors or blocked)


class Wanted(Struct, frozen=True):
    file: File
    targets: tuple[str, ...]


def make_plan(
    paths: Paths,
    written: Mapping[str, Written],
    manifest: Manifest,
    *,
    sources: Collection[str] = (),
    prefer: str | None = None,
    force: bool = False,
) -> Plan:
    """The plan for these agents. `sources` are the paths of source files, relative to the project."""
    diagnostics = [loss for answer in written.values() for loss in answer.losses]
    wanted, conflicts = merge(written, prefer)
    diagnostics = list(dict.fromkeys(diagnostics)) + conflicts
    files = dict(manifest.files)
    changes: list[Change] = []
    for path, item in wanted.items():
        problem = paths.problem(path)
        if problem is not None:
            diagnostics.append(_found("DEP010", path, f"{path} {problem}; it is not written"))
            continue
        change = _change(paths, path, item, files.get(path), path in sources, force)
        others = set(files[path].targets) - set(written) if path in files else set()
        if others and change.action == "update":
            message = f"{path} is also deployed for {_names(others)}; name them in --to as well"
            diagnostics.append(_found("DEP008", path, message))
        elif change.writes or (change.action == "unchanged" and path in files):
            targets = tuple(sorted({*item.targets, *others}))
            kept = change.kept or (files[path].kept if path in files else None)
            files[path] = Entry(digest(item.file.content), targets, item.file.executable, kept)
        changes.append(change)
        diagnostics.extend(_remarks(change, force))
    for path in [path for path in files if path not in wanted and set(files[path].targets) & set(written)]:
        change, entry = _stale(paths, path, files.pop(path), set(written))
        if entry is not None:
            files[path] = entry
        changes.append(change)
        diagnostics.extend(_remarks(change, force))
    changes.sort(key=lambda change: change.path)
    return Plan(tuple(changes), tuple(diagnostics), Manifest(files), manifest)


def merge(
    written: Mapping[str, Written], prefer: str | None = None
) -> tuple[dict[str, Wanted], list[Diagnostic]]:
    """One file per path. Agents that share a directory share identical files; others are a conflict."""
    wanted: dict[str, Wanted] = {}
    folded: dict[str, str] = {}
    conflicts: list[Diagnostic] = []
    for target, answer in written.items():
        for file in answer.files:
            path = folded.setdefault(file.path.casefold(), file.path)
            held = wanted.get(path)
            if held is None:
                wanted[path] = Wanted(file, (target,))
            elif target in held.targets:
                if held.file != file:
                    message = f"{target}: two items would both be written to {file.path}; rename one"
                    conflicts.append(_found("DEP007", file.path, message))
            elif held.file == file:
                wanted[path] = Wanted(file, tuple(sorted((*held.targets, target))))
            elif prefer in (target, *held.targets):
                chosen = file if prefer == target else held.file
                wanted[path] = Wanted(chosen, tuple(sorted((*held.targets, target))))
            elif (longer := _longer(held.file, file)) is not None:
                wanted[path] = Wanted(longer, tuple(sorted((*held.targets, target))))
            else:
                message = f"{_names(held.targets)} and {target} want different content in {file.path}"
                hint = f"deploy them one at a time, or decide with --prefer {target}"
                conflicts.append(_found("DEP008", file.path, message, hint))
    return wanted, conflicts


def _longer(first: File, second: File) -> File | None:
    """The longer of two files where it begins with the whole of the other, as instructions do."""
    short, long = sorted((first, second), key=lambda file: len(file.content))
    return long if short.content and long.content.startswith(short.content) else None


def _change(
    paths: Paths, path: str, item: Wanted, entry: Entry | None, is_source: bool, force: bool
) -> Change:
    file = item.file
    if is_source:
        return Change(path, "source", item.targets, file.content)
    current = paths.read(path)
    if current is None:
        if paths.exists(path):
            return Change(path, "foreign", item.targets, file.content)
        return Change(path, "create", item.targets, file.content, file.executable)
    before = digest(current)
    if current == file.content:
        return Change(path, "unchanged", item.targets, file.content, file.executable, before)
    ours = entry is not None and entry.knows(before)
    if ours or force:
        kept = None if ours else before
        return Change(path, "update", item.targets, file.content, file.executable, before, kept)
    action: Action = "foreign" if entry is None else "edited"
    return Change(path, action, item.targets, file.content, file.executable, before)


def _stale(paths: Paths, path: str, entry: Entry, chosen: set[str]) -> tuple[Change, Entry | None]:
    """A file that is not wanted any more: gone if nobody edited it, kept for the agents that are left."""
    left = tuple(target for target in entry.targets if target not in chosen)
    if left:
        return Change(path, "release", left), Entry(entry.sha256, left, entry.executable, entry.kept)
    current = paths.read(path) if paths.problem(path) is None else None
    if current is None:
        return Change(path, "unchanged", ()), None
    before = digest(current)
    if not entry.knows(before):
        return Change(path, "edited", (), before=before), None
    return Change(path, "delete", (), before=before, kept=entry.kept), None


def plan_undo(paths: Paths, manifest: Manifest, targets: Collection[str] | None = None) -> Plan:
    """Take back what was deployed, for these agents or for all."""
    chosen = {name for entry in manifest.files.values() for name in entry.targets}
    if targets is not None:
        chosen &= set(targets)
    files = dict(manifest.files)
    changes: list[Change] = []
    diagnostics: list[Diagnostic] = []
    for path in sorted(path for path, entry in files.items() if set(entry.targets) & chosen):
        change, entry = _stale(paths, path, files.pop(path), chosen)
        if entry is not None:
            files[path] = entry
        changes.append(change)
        diagnostics.extend(_remarks(change, force=False))
    return Plan(tuple(changes), tuple(diagnostics), Manifest(files), manifest)


def _remarks(change: Change, force: bool) -> list[Diagnostic]:
    if change.action == "edited":
        message = f"{change.path} was edited since it was deployed; it stays as it is"
        return [
            _found("DEP009", change.path, message, "move the change to its source, or use --force", "warning")
        ]
    if change.action == "foreign":
        message = f"{change.path} is there already and was not written by deploy; it stays as it is"
        return [
            _found(
                "DEP009", change.path, message, "move it away, or use --force (undo restores it)", "warning"
            )
        ]
    return []


def _names(targets: Collection[str]) -> str:
    return ", ".join(sorted(targets))


def _found(
    code: str,
    path: str,
    message: str,
    hint: str | None = None,
    severity: Literal["error", "warning"] = "error",
) -> Diagnostic:
    return Diagnostic(code, severity, message, Origin(path, "project", Span(1)), hint=hint)
