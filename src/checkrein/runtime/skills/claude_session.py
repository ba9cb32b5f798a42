"""A session of the real Claude Code that sees the skills of a View."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from msgspec import Struct

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.base.origin import Origin
from checkrein.facts.claude_launch import ClaudeFlag
from checkrein.model.view import View
from checkrein.passes.visibility.bundled_skills import PLUGIN
from checkrein.runtime.process.spawner import Command, Spawner
from checkrein.runtime.skills.launch_dirs import AddDir, PluginDir
from checkrein.runtime.skills.session_dirs import choose_root, session_dir, sweep

_SKIPS = "bypassPermissions"


class ClaudeTerms(Struct, frozen=True, kw_only=True):
    """What the user asked for. `resume` is the id of an earlier session."""

    prompt: str | None = None
    print: bool = False
    model: str | None = None
    resume: str | None = None
    mode: str | None = None


def run_claude(view: View, terms: ClaudeTerms, env: Mapping[str, str]) -> int:
    """Run it on our terminal until it ends. Its directory of skills stays for `resume`."""
    from shutil import which

    program = which("claude", path=env.get("PATH"))
    if program is None:
        raise NotFoundError(
            "There is no program `claude`.",
            kind="backend_missing",
            hint="Install Claude Code, or leave --backend out.",
        )
    root = choose_root(env)
    sweep(root)
    session = terms.resume or str(uuid.uuid4())
    with session_dir(view, session, root) as extra, Spawner(lambda origin: True, frozenset()) as spawner:
        argv = (program, *words(view, terms, session, extra))
        command = Command(
            argv=argv,
            cwd=view.project.place.cwd,
            origin=Origin("<command line>", "cli"),
            purpose="Claude Code",
            env=dict(env),
        )
        return spawner.attach(command)


def words(view: View, terms: ClaudeTerms, session: str, extra: AddDir | None) -> tuple[str, ...]:
    """The arguments. Never one that skips permissions: the rules of the project hold there too."""
    if terms.mode == _SKIPS:
        raise UsageError("A session of Claude Code that Checkrein starts never skips permissions.")
    said = overrides(view)
    return (
        *PluginDir.at(PLUGIN).words,
        *(extra.words if extra is not None else ()),
        *((ClaudeFlag.SETTINGS, json.dumps({"skillOverrides": said})) if said else ()),
        *((ClaudeFlag.RESUME, session) if terms.resume else (ClaudeFlag.SESSION_ID, session)),
        *((ClaudeFlag.MODEL, terms.model) if terms.model else ()),
        *((ClaudeFlag.PERMISSION_MODE, terms.mode) if terms.mode else ()),
        *((ClaudeFlag.PRINT,) if terms.print else ()),
        *(("--", terms.prompt) if terms.prompt else ()),
    )


def overrides(view: View) -> dict[str, str]:
    """What a setting must say about skills that Claude Code finds by itself and should not show."""
    found = {}
    for name, resolved in view.project.skills.items():
        skill = resolved.item
        if skill.origin.scope in ("user", "project") and not skill.plugin:
            if name in view.hidden:
                found[name] = "off"
            elif name in view.quiet:
                found[name] = "user-invocable-only"
    return found
