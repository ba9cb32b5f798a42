"""Plugin options in shell commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, hook_file, manifest
from checkrein.passes.checks.parts import field

_OPTION = re.compile(r"\$\{user_config\.(\w+)\}")


def run(subject: Subject) -> Iterator[Finding]:
    for hook in subject.project.sources.hooks:
        match = _OPTION.search(hook.command or "") if hook.args is None else None
        if match and hook.type == "command":
            origin = subject.find(field(hook, "command"), match[0])
            hint = f"Write `$CLAUDE_PLUGIN_OPTION_{match[1].upper()}`, or use `args`."
            yield Finding(
                origin=origin, message=f"Claude Code refuses `{match[0]}` in a shell command", hint=hint
            )
    for server in subject.project.sources.servers:
        match = _OPTION.search(server.headers_helper or "")
        if match:
            origin = subject.find(field(server, "headersHelper"), match[0])
            yield Finding(origin=origin, message=f"Claude Code refuses `{match[0]}` in `headersHelper`")


_FILES = {
    PLUGIN: manifest(userConfig={"level": {"type": "string", "title": "Level", "description": "How strict."}})
}

CHECK = Check(
    code="PL011",
    name="option-in-shell",
    severity="error",
    summary="A plugin puts an option into a shell command.",
    why="The shell would run what the user typed, so Claude Code refuses the hook with an error.",
    hint="Use the variable `$CLAUDE_PLUGIN_OPTION_<KEY>`, or the exec form with `args`.",
    bad={
        **_FILES,
        "hooks/hooks.json": hook_file("Stop", {"type": "command", "command": "note ${user_config.level}"}),
    },
    good={
        **_FILES,
        "hooks/hooks.json": hook_file(
            "Stop", {"type": "command", "command": "note", "args": ["${user_config.level}"]}
        ),
    },
    run=run,
)
