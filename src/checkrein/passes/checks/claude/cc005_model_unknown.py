"""Models that Claude Code can't use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.parts import bodies, noun

_MODEL = re.compile(
    r"claude-(?:\d|opus|sonnet|haiku|fable|instant|v\d|code|mythos)[a-z0-9.@:_-]*"  # an id
    r"|(?:[a-z]{2,6}\.)?anthropic[./]claude[\w.:@-]*|arn:.+"  # of a cloud
    r"|[\w.-]+/[\w./:@-]+|\$\{?\w+\}?|\{\{.*\}\}"  # of a gateway, or a placeholder
)


def run(subject: Subject) -> Iterator[Finding]:
    for item in bodies(subject.project):
        model = (item.model or "").strip()
        base = model.partition("[")[0].strip()
        if not base or base.lower() in claude.MODEL_ALIASES or _MODEL.fullmatch(base):
            continue
        meant = nearest(base.lower(), claude.MODEL_ALIASES, 0.7) or _named_in(base)
        origin = subject.find(item.where("model"), model)
        suggestion = f"; did you mean `{meant}`" if meant else ""
        message = (
            f"`model: {model}` of the {noun(item)} `{item.name}` is not a model of Claude Code{suggestion}"
        )
        yield Finding(origin=origin, message=message)


def _named_in(text: str) -> str | None:
    """The alias that a display name holds: `sonnet` of `Claude Sonnet 4.5`."""
    words = re.findall(r"[a-z]+", text.lower())
    return next((alias for alias in claude.MODEL_ALIASES if alias in words), None)


CHECK = Check(
    code="CC005",
    name="model-unknown",
    severity="warning",
    summary="A `model` is neither an alias nor the id of a Claude model.",
    why="The request fails, or the session's model is used instead.",
    hint="Use sonnet, opus, haiku, inherit or a full model id.",
    bad={AGENT: agent("model: gpt-5")},
    good={AGENT: agent("model: sonnet")},
    run=run,
)
