"""The page on hooks lists what the code knows."""

from __future__ import annotations

from pathlib import Path

from checkrein.facts.claude_hooks import FEEDBACK_EVENTS, HANDLERS, HOOK_EVENTS, HookEvent

PAGE = Path(__file__).parents[4] / "docs" / "hooks.md"


def row(event: HookEvent) -> str:
    matcher = f"`{event.matcher}`" if event.matcher else ""
    handlers = "all" if event.handlers == HANDLERS else ", ".join(event.handlers)
    blocks = "yes" if event.blocks else "tells the model" if event.name in FEEDBACK_EVENTS else "no"
    return f"| {event.name} | {matcher} | {handlers} | {blocks} |"


def test_every_event_has_its_row() -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    assert [row(event) for event in HOOK_EVENTS.values() if row(event) not in lines] == []
