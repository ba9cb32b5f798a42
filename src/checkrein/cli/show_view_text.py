"""The text of `checkrein show --view`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from checkrein.base.harmless import one_line
from checkrein.cli import paint
from checkrein.passes.visibility.outlook import state_of

if TYPE_CHECKING:
    from checkrein.cli.show import Payload
    from checkrein.passes.visibility.sights import Sight

_MEANINGS = {
    "plain": "a session that somebody starts as usual",
    "cook": "a session of `checkrein cook`",
    "headless": "a worker",
}


def view(payload: Payload) -> str:
    meaning = _MEANINGS[payload.view or "plain"]
    lines = [f"{paint.bold(f'view {payload.view}')}  {paint.dim(f'what {meaning} sees')}"]
    if not payload.sights:
        lines.append("  no skills")
    widest = min(36, max((paint.cells(one_line(one.name)) for one in payload.sights), default=0))
    lines += [_line(one, widest) for one in payload.sights]
    states = Counter(state_of(one) for one in payload.sights)
    lines += ["", ", ".join(f"{number} {state}" for state, number in states.items())] if states else []
    return "\n".join(lines)


def _line(sight: Sight, widest: int) -> str:
    sign = "-" if not sight.is_visible else "~" if sight.is_quiet else "+"
    place = f"  {paint.place(sight.origin)}" if sight.origin is not None else ""
    tags = f" [{', '.join(map(one_line, sight.categories))}]" if sight.categories else ""
    name = paint.pad(one_line(sight.name), widest)
    text = f"  {sign} {name}  tier {sight.tier}{tags}: {one_line(sight.reason)}"
    return text + paint.dim(place) if sight.is_visible else paint.dim(text + place)
