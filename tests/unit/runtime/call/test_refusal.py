from __future__ import annotations

import pytest

from checkrein.policy.values import Decision
from checkrein.runtime.call.refusal import Judgement, refusal


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("no rule allows it", "Refused: no rule allows it."),
        ("Nobody answered.", "Refused: Nobody answered."),
        ("Wait...", "Refused: Wait..."),
        ("Why?", "Refused: Why?"),
    ],
)
def test_a_refusal_ends_with_one_full_stop(reason: str, text: str) -> None:
    decision = Decision(verdict="ask", reason="")
    assert (
        refusal(Judgement(allowed=False, input={}, decision=decision, by="asker", reason=reason), "/p")
        == text
    )
