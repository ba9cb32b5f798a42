"""Which files a compile looks at: the spec, the instructions above it, the nearest `.claude/`.

The walk stops at the repository's root, below the home directory, and at the edge of the file system.
It never looks at `CLAUDE.local.md`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from msgspec.structs import replace

from checkrein.base.errors import NotFoundError
from checkrein.base.files import read_text
from checkrein.base.origin import Origin
from checkrein.base.secrets import redact_text
from checkrein.compile.values import Spec, SpecKind
from checkrein.dialects import hooks, markdown
from checkrein.dialects.claude.place import ancestors, locate
from checkrein.dialects.claude.settings import SettingSource
from checkrein.dialects.codes import Log
from checkrein.facts import claude
from checkrein.facts import compile as facts
from checkrein.facts.claude_fields import AGENT_FIELDS, SKILL_FIELDS, names
from checkrein.passes.detect import detect_place

_KNOWN = names(SKILL_FIELDS) | names(AGENT_FIELDS)
_SPEC_FILES = ("SKILL.md", "skill.md", "spec.md")


def open_spec(
    path: str,
    *,
    env: Mapping[str, str],
    runtime: str | None = None,
    contributors: Collection[str] = (),
) -> Spec:
    """The primary spec. Raises NotFoundError when there is none; broken frontmatter is not an error."""
    chosen = _choose(path)
    located = locate(chosen, env=env, up_to_home=True)
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
    log = Log()
    parsed = (
        # `check` reports what is wrong with the fields.
        markdown.parse(loaded.text, real, "project", _KNOWN, Log())
        if real.endswith((".md", ".mdc"))
        else None
    )
    values = dict(parsed.values) if parsed else {}
    written = values.get("hooks")
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
        hooks=hooks.in_frontmatter(written, parsed, Origin(real, "project"), log)
        if parsed and written
        else (),
        total_lines=loaded.text.count("\n") + (not loaded.text.endswith("\n")),
        diagnostics=tuple(log),
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


def instruction_files(spec: Spec, *, user: bool, root: str | None = None) -> list[tuple[str, SettingSource]]:
    """CLAUDE.md files, general ones first: the user's, then from the outermost directory to the nearest. The
    walk ends at `root`, if given."""
    place = spec.place
    found: list[tuple[str, SettingSource]] = []
    device = _device(spec.directory)
    for directory in ancestors(spec.directory):
        if directory == place.home and directory != spec.directory:
            break
        if _device(directory) != device:
            break
        path = os.path.join(directory, claude.MEMORY_FILE)
        if os.path.isfile(path) and os.path.realpath(path) != spec.path:
            found.append((path, "project"))
        if os.path.exists(os.path.join(directory, ".git")) or directory in (place.home, root):
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


def other_copies(spec: Spec) -> list[str]:
    """Specs of the same name in other tiers; it does not open them."""
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


def around(spec: Spec) -> list[str]:
    """Files of the repository that would count if the spec were its own: instructions, settings, servers."""
    found = [path for path, _ in instruction_files(spec, user=False)]
    found += [
        os.path.join(spec.workspace, name)
        for name in (claude.MCP_FILE, f"{claude.CONFIG_DIR}/settings.json", ".claude-plugin/plugin.json")
    ]
    inside = spec.directory + os.sep
    return [relative(path, spec.workspace) for path in found if os.path.isfile(path) and inside not in path]


def stem(path: str) -> str:
    name = os.path.basename(path)
    return os.path.basename(os.path.dirname(path)) if name == claude.SKILL_FILE else name[:-3]


def markdown_specs(base: str, folder: str) -> list[str]:
    if not os.path.isdir(base):
        return []
    if folder == "skills":
        paths = [os.path.join(base, name, claude.SKILL_FILE) for name in sorted(os.listdir(base))]
    else:
        paths = [os.path.join(base, name) for name in sorted(os.listdir(base)) if name.endswith(".md")]
    return [path for path in paths if os.path.isfile(path)]
