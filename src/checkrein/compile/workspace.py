"""Which files a compile looks at: the spec, the instructions above it, what they import.

The walk stops at the repository's root, below the home directory, and at the edge of the file system. Files
of the user's own scopes are read only when they are asked for; `CLAUDE.local.md` is never looked at.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping

from msgspec.structs import replace

from checkrein.base import frontmatter
from checkrein.base.errors import NotFoundError
from checkrein.base.files import read_text
from checkrein.base.secrets import redact_text
from checkrein.compile.values import SourceFile, SourceName, Spec, SpecKind
from checkrein.dialects.claude import imports
from checkrein.dialects.claude.place import ancestors, locate
from checkrein.facts import claude
from checkrein.facts import compile as facts
from checkrein.facts.claude_fields import AGENT_FIELDS, SKILL_FIELDS, names
from checkrein.passes.detect import detect_place

_KNOWN = names(SKILL_FIELDS) | names(AGENT_FIELDS)
_MENTION = re.compile(r"@(?<!\S@)((?:\\ |[^\s\\\0])+)")
_SPEC_FILES = ("SKILL.md", "skill.md", "spec.md")


def open_spec(
    path: str,
    *,
    env: Mapping[str, str],
    runtime: str | None = None,
    contributors: Collection[str] = (),
) -> Spec:
    """The primary spec. Raises NotFoundError when there is none; broken frontmatter is no error."""
    chosen = _choose(path)
    located = locate(chosen, env=env)
    place = located.place
    detection = detect_place(place, located.spec)
    if runtime is not None:
        detection = replace(
            detection,
            dialect=runtime,
            contributors=tuple(contributors) or (runtime,),
            rule="--source-runtime",
        )
    if os.path.isdir(chosen):
        return Spec(
            path=chosen,
            file=".",
            directory=os.path.realpath(chosen),
            workspace=os.path.realpath(chosen),
            kind="other",
            name=os.path.basename(os.path.realpath(chosen)),
            description="",
            place=place,
            detection=detection,
        )
    real = os.path.realpath(chosen)
    loaded = read_text(real, facts.MAX_FILE_BYTES)
    if not loaded.readable:
        raise NotFoundError(f"{path} {loaded.problem}.", kind="spec_not_found")
    markdown = real.endswith((".md", ".mdc"))
    parsed = frontmatter.parse(loaded.text, _KNOWN) if markdown else None
    values = dict(parsed.values) if parsed else {}
    directory = os.path.dirname(real)
    fallback = os.path.basename(directory) if _is_skill(real) else os.path.splitext(os.path.basename(real))[0]
    return Spec(
        path=real,
        file=relative(real, place.root),
        directory=directory,
        workspace=place.root,
        kind=kind_of(real),
        name=redact_text(str(values.get("name") or fallback)),
        description=redact_text(str(values.get("description") or "")),
        place=place,
        detection=detection,
        body=parsed.body if parsed else loaded.text,
        body_line=parsed.body_line if parsed else 1,
        values=values,
        total_lines=loaded.text.count("\n") + (not loaded.text.endswith("\n")),
    )


def _choose(path: str) -> str:
    if not os.path.exists(path):
        raise NotFoundError(
            f"{path} does not exist.",
            kind="spec_not_found",
            hint="Name a SKILL.md, a command or agent file, or the directory of an agent.",
        )
    if os.path.isdir(path):
        for name in _SPEC_FILES:
            if os.path.isfile(os.path.join(path, name)):
                return os.path.join(path, name)
    return path


def _is_skill(path: str) -> bool:
    return os.path.basename(path) in _SPEC_FILES


def kind_of(path: str) -> SpecKind:
    """The path decides: a file under `commands/` is a command, one under `agents/` an agent."""
    slashed = path.replace(os.sep, "/")
    if _is_skill(path):
        return "skill"
    if "/commands/" in slashed:
        return "command"
    if "/agents/" in slashed:
        return "agent"
    return "other"


def relative(path: str, root: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def instruction_files(spec: Spec, *, user: bool) -> list[tuple[str, SourceName]]:
    """CLAUDE.md files, general ones first: the user's, then from the outermost directory to the nearest."""
    place = spec.place
    found: list[tuple[str, SourceName]] = []
    device = _device(spec.directory)
    for directory in ancestors(spec.directory):
        if directory == place.home and directory != spec.directory:
            break
        if _device(directory) != device:
            break
        path = os.path.join(directory, claude.MEMORY_FILE)
        if os.path.isfile(path) and os.path.realpath(path) != spec.path:
            found.append((path, "project"))
        if os.path.exists(os.path.join(directory, ".git")) or directory == place.home:
            break
    if user:
        path = os.path.join(place.config_dir, claude.MEMORY_FILE)
        if os.path.isfile(path):
            found.append((path, "user"))
    return found[::-1]


def _device(directory: str) -> int:
    try:
        return os.stat(directory).st_dev
    except OSError:
        return -1


def config_dir(spec: Spec) -> str | None:
    """The `.claude/` nearest to the spec, below the home directory."""
    for directory in ancestors(spec.directory):
        if directory == spec.place.home:
            return None
        path = os.path.join(directory, claude.CONFIG_DIR)
        if os.path.isdir(path) and os.path.realpath(path) != os.path.realpath(spec.place.config_dir):
            return path
        if directory == spec.workspace:
            return None
    return None


class Imports:
    """`@path` imports, each real file taken once, to a fixed depth, never outside the workspace."""

    def __init__(self, spec: Spec, warnings: list[str]) -> None:
        self.spec = spec
        self.warnings = warnings
        self.seen: set[str] = {spec.path}
        self.files: list[SourceFile] = []

    def follow(self, text: str, importer: str, source: SourceName, depth: int = 1) -> None:
        if not self._may_import(text, importer):
            return
        shown = self._name(importer)
        for mention in imports.scan(text)[1]:
            target = self._target(importer, mention.paths)
            if target is None:
                continue
            if not self._is_inside(target):
                self.warnings.append(f"{shown} imports a file outside the workspace; it was not read")
                continue
            name = self._name(target)
            if target in self.seen:
                self.warnings.append(f"{shown} imports {name} again; the second time was skipped")
                continue
            if depth > facts.IMPORT_DEPTH:
                self.warnings.append(f"{shown} imports {name} more than {facts.IMPORT_DEPTH} files deep")
                continue
            self.seen.add(target)
            loaded = read_text(target, facts.MAX_FILE_BYTES)
            if not loaded.readable:
                self.warnings.append(f"{name} {loaded.problem}")
                continue
            self.files.append(
                SourceFile(
                    path=name,
                    role=f"C1/C2/C3 inline import from {shown}",
                    rule="claude_code:2f:import",
                    source=source,
                    imported_by=shown,
                    text=loaded.text,
                )
            )
            self.follow(loaded.text, target, source, depth + 1)

    def _may_import(self, text: str, importer: str) -> bool:
        """Whether any `@path` names a file at all; only then is the Markdown worth parsing."""
        found = _MENTION.findall(text) if "@" in text else ()
        return any(self._target(importer, (path, path.rstrip(".,;:!?)]}'\"*_>"))) for path in set(found))

    def _name(self, path: str) -> str:
        return relative(path, self.spec.workspace)

    def _target(self, importer: str, spellings: tuple[str, ...]) -> str | None:
        for spelling in spellings:
            if spelling.startswith("~"):
                continue
            path = os.path.join(os.path.dirname(importer), spelling)
            try:
                if stat.S_ISREG(os.stat(path).st_mode):
                    return os.path.realpath(path)
            except (OSError, ValueError):
                continue
        return None

    def _is_inside(self, target: str) -> bool:
        roots = {self.spec.workspace, self.spec.directory, self.spec.place.repo_root or self.spec.workspace}
        return any(target.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def other_copies(spec: Spec) -> list[str]:
    """Specs of the same name at other tiers, by existence only."""
    if spec.kind not in ("skill", "command"):
        return []
    name = os.path.basename(spec.directory) if spec.kind == "skill" else os.path.basename(spec.path)[:-3]
    tiers = [("managed", spec.place.managed_dir or ""), ("user", spec.place.config_dir)]
    nearest = config_dir(spec)
    if nearest is not None:
        tiers.append(("project", nearest))
    found = []
    for tier, base in tiers:
        for inner in (f"skills/{name}/SKILL.md", f"commands/{name}.md"):
            path = os.path.join(base, inner)
            if base and os.path.isfile(path) and os.path.realpath(path) != spec.path:
                found.append(f"{tier}: {inner}")
    return found
