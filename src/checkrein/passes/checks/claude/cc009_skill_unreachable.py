"""Skills that neither a person nor the model can use."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.model.items import Command, Skill
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import bodies, field, in_effect


def run(subject: Subject) -> Iterator[Finding]:
    overrides = subject.project.setting("skillOverrides", {})
    for item in in_effect(subject.project):
        if not item.user_invocable and not item.model_invocable:
            if _is_read(item, subject):
                continue
            origin = field(item, "user-invocable")
            message = f"`{item.name}` is hidden from the user and from the model; nothing can use it"
            yield Finding(origin=origin, message=message)
            continue
        override = overrides.get(item.name) if isinstance(overrides, dict) and not item.plugin else None
        if override == "user-invocable-only" and not item.user_invocable:
            message = f"`skillOverrides` hides `{item.name}` from the model, and its own file from the user"
            yield Finding(origin=field(item, "user-invocable"), message=message)


def _is_read(item: Skill | Command, subject: Subject) -> bool:
    """Whether another text tells the model to read the skill's file."""
    file = "/".join(item.origin.file.replace(os.sep, "/").split("/")[-2:])
    return any(file in other.body for other in bodies(subject.project) if other is not item)


CHECK = Check(
    code="CC009",
    name="skill-unreachable",
    severity="warning",
    summary="A skill is hidden from both the user and the model.",
    why="`disable-model-invocation: true` leaves it to people, `user-invocable: false` to the model. With "
    "both, nothing can use it.",
    hint="Remove one of the two fields.",
    bad={SKILL: skill("disable-model-invocation: true", "user-invocable: false")},
    good={SKILL: skill("disable-model-invocation: true")},
    run=run,
)
