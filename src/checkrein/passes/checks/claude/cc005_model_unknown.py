"""Models that Claude Code can't use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.parts import bodies, noun

_FOREIGN = re.compile(
    r"(?i)^(?:gpt|o[1-9]\b|gemini|codex|grok|llama|mistral|deepseek|qwen|kimi|cursor|auto$)"
)


def run(subject: Subject) -> Iterator[Finding]:
    for item in bodies(subject.project):
        model = (item.model or "").strip()
        base = model.partition("[")[0].lower()
        if not model or base in claude.MODEL_ALIASES or base.startswith(("claude", "arn:")):
            continue
        meant = nearest(base, claude.MODEL_ALIASES, 0.7)
        if not (meant or _FOREIGN.match(base)):
            continue
        origin = subject.find(item.where("model"), model)
        suggestion = f"; did you mean `{meant}`" if meant else ""
        message = (
            f"`model: {model}` of the {noun(item)} `{item.name}` is not a model of Claude Code{suggestion}"
        )
        yield Finding(origin=origin, message=message)


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
