"""Shell syntax in a command that runs without a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks

_SHELL = re.compile(r"&&|\|\||[;|<>`]|\$\(")


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.type != "command" or hook.args is None or not hook.command:
            continue
        if _SHELL.search(hook.command) or (" " in hook.command and not os.path.exists(hook.command)):
            message = f"`{hook.command}` starts as one program, because `args` is given; no shell reads it"
            yield Finding(origin=subject.find(field(hook, "command"), hook.command), message=message)


CHECK = Check(
    code="HOOK024",
    name="exec-form-shell",
    severity="error",
    summary="A hook with `args` has a shell command line.",
    why="With `args` the command is the name of one program. No program has this name, so the hook never "
    "starts and blocks nothing.",
    hint="Put the program into `command` and each word into `args`, or remove `args`.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "make test", "args": ["-s"]})},
    good={SETTINGS: hook_file("Stop", {"type": "command", "command": "make", "args": ["test", "-s"]})},
    run=run,
)
