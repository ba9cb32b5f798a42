"""Guards that exit with 1, which blocks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks
from checkrein.passes.checks.scripts import program_text, script_of

_ONE = re.compile(r"(?<!\w)exit 1\b|sys\.exit\(1\)|process\.exit\(1\)")
_DECIDES = re.compile(
    r"\bexit 2\b|exit\(2\)|permissionDecision|[\"']decision[\"']|[\"']continue[\"']|exit \"?\$"
)
_REFUSES = re.compile(
    r"(?i)\b(?:block|den(?:y|ied)|forbid|forbidden|refus|reject|prevent|protect|danger|disallow|prohibit|violat"
    r"|unsafe|destructive|guard|not (?:allowed|permitted)|read-?only)"
)
_LACKS = re.compile(
    r"(?i)\bcommand -v\b|\b(?:not (?:found|installed|available)|missing|no such"
    r"|(?:can'?t|cannot|could not) find)\b"
)
_BEFORE = 5
"""How many lines before the exit can say that it refuses."""
_NEAR = 100
"""How many characters before the exit of a one-line command can say that it lacks a program."""


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[str] = set()
    found = (hooked.hook for hooked in hooks(subject.project))
    for hook in sorted(found, key=lambda hook: hook.name != "PreToolUse"):
        if hook.name not in ("PreToolUse", "UserPromptSubmit") or hook.run_async:
            continue
        script = script_of(hook, subject.project)
        if script is not None and script.path in seen:
            continue
        text = program_text(subject, hook)
        if text and _ONE.search(text) and not _DECIDES.search(text) and _is_guard(text, script is None):
            seen.update([script.path] if script else [])
            message = f"The `{hook.name}` hook exits with 1, which does not block"
            yield Finding(origin=field(hook, "command"), message=message)


def _is_guard(text: str, inline: bool) -> bool:
    """Whether the exit is a verdict on the call: a script also exits with 1 when it lacks a program."""
    if inline:
        return any(
            not _LACKS.search(text[max(0, found.start() - _NEAR) : found.start()])
            for found in _ONE.finditer(text)
        )
    lines = text.split("\n")
    return any(
        _ONE.search(line) and _REFUSES.search("\n".join(lines[max(0, at - _BEFORE) : at + 1]))
        for at, line in enumerate(lines)
    )


CHECK = Check(
    code="HOOK019",
    name="exit-status-ignored",
    severity="warning",
    summary="A guard exits with 1 instead of 2.",
    why="Only exit status 2, or a decision in JSON, blocks. Any other status shows as an error, and the call "
    "goes through.",
    hint="Exit with 2 and say why on stderr.",
    bad={
        SETTINGS: hook_file(
            "PreToolUse", {"type": "command", "command": "grep -q 'rm -rf' && exit 1"}, "Bash"
        )
    },
    good={
        SETTINGS: hook_file(
            "PreToolUse", {"type": "command", "command": "grep -q 'rm -rf' && exit 2"}, "Bash"
        )
    },
    run=run,
)
