"""Secrets in settings files."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.secretvalues import is_secret


def run(subject: Subject) -> Iterator[Finding]:
    for setting in subject.project.sources.settings:
        key = setting.name.rpartition(".")[2]
        if setting.name in claude.CREDENTIAL_SETTINGS:
            continue
        texts = setting.value if isinstance(setting.value, list) else [setting.value]
        if any(is_secret(key, text) for text in texts):
            shared = setting.origin.scope == "project"
            where = ", which is shared with the repository" if shared else ""
            message = f"`{setting.name}` holds what looks like a secret{where}"
            yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="CC036",
    name="secret-in-settings",
    severity="warning",
    summary="A settings file holds what looks like a secret.",
    why="People copy and commit settings files, and every tool reads them. Every command that runs gets the "
    "value.",
    hint="Keep it in the environment or in a credential helper of your user settings, and replace the "
    "secret.",
    bad={SETTINGS: document({"env": {"DEPLOY_TOKEN": "3f9c1d77a2b84e60"}})},
    good={SETTINGS: document({"env": {"DEPLOY_REGION": "eu-west-1"}})},
    run=run,
)
