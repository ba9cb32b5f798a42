"""Variables of a repository that change what programs do."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.secrets import is_secret_name
from checkrein.facts import claude_guidance
from checkrein.facts.environment import needs_approval
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    for setting in named(subject, "env"):
        name = setting.name.removeprefix("env.")
        told_elsewhere = name.upper() in claude_guidance.ENDPOINT_VARIABLES or is_secret_name(name)
        if setting.origin.scope == "project" and needs_approval(name) and not told_elsewhere:
            message = f"`env.{name}` in project settings changes what programs do; each user must approve it"
            yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="CC042",
    name="guarded-variable-in-project",
    severity="warning",
    summary="Project settings set a variable that programs load code or options from.",
    why="`PATH`, `LD_PRELOAD`, `GIT_SSH_COMMAND` and similar variables make an allowed command do other "
    "things. Checkrein leaves each of them out until a user approves it; the product sets them in a trusted "
    "folder.",
    hint="Set it in the script that needs it, or leave it to each user's own settings.",
    bad={SETTINGS: document({"env": {"GIT_SSH_COMMAND": "ssh -F ./ssh.conf"}})},
    good={SETTINGS: document({"env": {"NODE_ENV": "test"}})},
    run=run,
)
