"""Variables in HTTP hook headers that stay empty."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks

_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.type != "http":
            continue
        for name, value in hook.headers.items():
            for match in _VARIABLE.finditer(value):
                if match[1] not in hook.allowed_env:
                    origin = subject.find(field(hook, "headers"), match[0])
                    message = (
                        f"`{match[0]}` in the header `{name}` stays empty; `allowedEnvVars` does not name it"
                    )
                    yield Finding(origin=origin, message=message)


CHECK = Check(
    code="HOOK021",
    name="header-variable-empty",
    severity="error",
    summary="A header of an HTTP hook uses a variable that is not allowed.",
    why="Claude Code fills in only the variables in `allowedEnvVars`; the server sees an empty header and "
    "refuses.",
    hint="Add the name to `allowedEnvVars` of the hook.",
    bad={
        SETTINGS: hook_file(
            "Stop",
            {"type": "http", "url": "https://hooks.example.com/stop", "headers": {"X-Key": "$HOOK_KEY"}},
        )
    },
    good={
        SETTINGS: hook_file(
            "Stop",
            {
                "type": "http",
                "url": "https://hooks.example.com/stop",
                "headers": {"X-Key": "$HOOK_KEY"},
                "allowedEnvVars": ["HOOK_KEY"],
            },
        )
    },
    run=run,
)
