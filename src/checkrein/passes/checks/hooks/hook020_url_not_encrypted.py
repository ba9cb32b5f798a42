"""HTTP hooks that send sessions without encryption."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.addresses import host_of, is_plain_remote
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.type == "http" and hook.url and is_plain_remote(hook.url):
            message = f"The `{hook.name}` hook posts to {host_of(hook.url)} without encryption"
            yield Finding(origin=field(hook, "url"), message=message)


CHECK = Check(
    code="HOOK020",
    name="hook-url-not-encrypted",
    severity="warning",
    summary="An HTTP hook uses plain http to another machine.",
    why="Prompts, commands and file contents of the session travel without encryption, and anyone on the "
    "network may answer.",
    hint="Use https, or a server on this machine.",
    bad={SETTINGS: hook_file("Stop", {"type": "http", "url": "http://hooks.example.com/stop"})},
    good={SETTINGS: hook_file("Stop", {"type": "http", "url": "https://hooks.example.com/stop"})},
    run=run,
    dialects="all",
)
