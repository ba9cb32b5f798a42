"""What deploy would do, as a value: nothing here writes.

Deploy touches an existing file only when the manifest says that we wrote it and its hash says that nobody has
edited it since. It never overwrites files that are sources themselves. In a file that is shared with the user
the same holds for each of our keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.deploy.change import Change, Step, found, left_as_it_is
from checkrein.deploy.manifest import Entry, Manifest, digest
from checkrein.deploy.paths import Paths
from checkrein.deploy.shared import fresh, share, unshare
from checkrein.dialects.generic.written import File, Written


class Plan(Struct, frozen=True):
    """`changes` by path; `diagnostics` are losses and conflicts; an error among them stops apply.

    `manifest` is the one after apply, `previous` the one that the plan started from.
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
        return tuple(one for one in self.diagnostics if one.severity == "error")

    @property
    def stale(self) -> bool:
        """True when the tree differs from what the sources say."""
        return bool(self.pending or self.errors or self.blocked)

    @property
    def blocked(self) -> bool:
        return any(change.blocked for change in self.changes)


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
            diagnostics.append(found("DEP010", path, f"{path} {problem}; it is not written"))
            continue
        step = _step(paths, path, item, files.get(path), path in sources, force)
        change = step.change
        others = set(files[path].targets) - set(written) if path in files else set()
        if others and change.action == "update":
            message = f"{path} is also deployed for {_names(others)}; name them in --to as well"
            diagnostics.append(found("DEP008", path, message))
        elif step.entry is not None:
            files[path] = replace(step.entry, targets=tuple(sorted({*item.targets, *others})))
        changes.append(change)
        diagnostics.extend(step.remarks)
    for path in [path for path in files if path not in wanted and set(files[path].targets) & set(written)]:
        step = _stale(paths, path, files.pop(path), set(written))
        if step.entry is not None:
            files[path] = step.entry
        changes.append(step.change)
        diagnostics.extend(step.remarks)
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
                    conflicts.append(found("DEP007", file.path, message))
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
                conflicts.append(found("DEP008", file.path, message, hint))
    return wanted, conflicts


def _longer(first: File, second: File) -> File | None:
    """The longer of two files when it starts with all of the other, as instructions do."""
    short, long = sorted((first, second), key=lambda file: len(file.content))
    return long if short.content and long.content.startswith(short.content) else None


def _step(paths: Paths, path: str, item: Wanted, entry: Entry | None, is_source: bool, force: bool) -> Step:
    file = item.file
    if is_source:
        return Step(Change(path, "source", item.targets, file.content))
    current = paths.read(path)
    if current is None:
        if paths.exists(path):
            return _left(Change(path, "foreign", item.targets, file.content))
        return _created(file, item.targets, entry)
    if file.shared:
        return share(file, item.targets, current, entry, force)
    before = digest(current)
    change = Change(path, "unchanged", item.targets, file.content, file.executable, before)
    ours = entry is not None and entry.knows(before)
    if current == file.content and (not ours or paths.is_executable(path) == file.executable):
        return Step(change, entry and _entry(file, entry.kept))
    if ours or force:
        kept = None if ours else before
        held = kept or (entry.kept if entry is not None else None)
        return Step(replace(change, action="update", kept=kept), _entry(file, held))
    return _left(replace(change, action="foreign" if entry is None else "edited"))


def _created(file: File, targets: tuple[str, ...], entry: Entry | None) -> Step:
    kept = entry.kept if entry is not None else None
    if not file.shared:
        return Step(Change(file.path, "create", targets, file.content, file.executable), _entry(file, kept))
    made = fresh(file)
    change = Change(file.path, "create", targets, made.content, shared=True)
    return Step(change, Entry(digest(made.content), targets, kept=kept, merge=made.merge))


def _entry(file: File, kept: str | None) -> Entry:
    return Entry(digest(file.content), (), file.executable, kept)


def _stale(paths: Paths, path: str, entry: Entry, chosen: set[str]) -> Step:
    """Delete a file that is not wanted any more, if nobody edited it; keep it for the remaining agents."""
    left = tuple(target for target in entry.targets if target not in chosen)
    if left:
        return Step(Change(path, "release", left), replace(entry, targets=left))
    current = paths.read(path) if paths.problem(path) is None else None
    if current is None:
        return Step(Change(path, "unchanged", ()))
    before = digest(current)
    if entry.knows(before) and (entry.merge is None or entry.kept or entry.merge.created):
        return Step(Change(path, "delete", (), before=before, kept=entry.kept))
    if entry.merge is not None:
        return unshare(path, current, entry.merge)
    return _left(Change(path, "edited", (), before=before))


def plan_undo(paths: Paths, manifest: Manifest, targets: Collection[str] | None = None) -> Plan:
    """Take back what was deployed, for these agents or for all."""
    chosen = {name for entry in manifest.files.values() for name in entry.targets}
    if targets is not None:
        chosen &= set(targets)
    files = dict(manifest.files)
    changes: list[Change] = []
    diagnostics: list[Diagnostic] = []
    for path in sorted(path for path, entry in files.items() if set(entry.targets) & chosen):
        step = _stale(paths, path, files.pop(path), chosen)
        if step.entry is not None:
            files[path] = step.entry
        changes.append(step.change)
        diagnostics.extend(step.remarks)
    return Plan(tuple(changes), tuple(diagnostics), Manifest(files), manifest)


def _left(change: Change) -> Step:
    """Keep the file as it is, and its entry in the manifest too."""
    return Step(change, remarks=(left_as_it_is(change),))


def _names(targets: Collection[str]) -> str:
    return ", ".join(sorted(targets))
