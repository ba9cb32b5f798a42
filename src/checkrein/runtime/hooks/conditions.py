"""The `if` of hooks in a session, judged where the session is now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from checkrein.policy.values import Call, Context


def rule_matcher(context: Callable[[], Context]) -> Callable[[str, str, Mapping[str, Any]], bool]:
    """A function of rule, tool and input."""

    def matches(text: str, tool: str, input: Mapping[str, Any]) -> bool:
        from checkrein.policy.hooks import concerns

        return concerns(text, Call(tool, input), context())

    return matches
