"""What is refused statically is what is refused at run time: the list of tools against a call of each."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checkrein.facts.kitchen import categories, kitchen_tools
from checkrein.passes.visibility.tool_visibility import Kitchen as State
from checkrein.passes.visibility.tool_visibility import visible_tools
from checkrein.serve.mcp.hands import Hands
from checkrein.serve.mcp.kitchen import CLOSE, OPEN
from checkrein.serve.mcp.menu import BUILTIN, MENU
from support.files import lay
from support.mcp_guests import Guest, text

Visit = Callable[..., Any]
SEEDS = (1, 2, 3)
EVERY = (*kitchen_tools(), *BUILTIN, "nothing", "Agent")
ASKING = tuple(name for name, dish in MENU.items() if dish.asks)
CALLED = tuple(name for name in EVERY if name not in (OPEN, CLOSE))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tools of the menu whose work began. The work itself is nothing."""
    began: list[str] = []

    def of(name: str) -> Callable[[Hands], dict[str, Any]]:
        def work(hands: Hands) -> dict[str, Any]:
            began.append(name)
            return {"success": True}

        return work

    for name, dish in MENU.items():
        monkeypatch.setitem(MENU, name, replace(dish, work=of(name)))
    return began


async def compare(guest: Guest, ran: list[str], state: State, denied: frozenset[str]) -> None:
    """The list is that of the pure function without what rules deny, and the calls agree with it."""
    listed = set(await guest.names())
    offered = {name for name in visible_tools(state) if name in (*MENU, OPEN, CLOSE)} - denied
    assert listed - set(BUILTIN) == offered
    ran.clear()
    for name in CALLED:
        done = await guest.call(name)
        refused = done.is_error and text(done).startswith(("Refused: ", "There is no tool "))
        assert refused is (name not in listed), (name, text(done))
    assert set(ran) == (listed & set(MENU))


def check(visit: Visit, project: Path, ran: list[str], seed: int) -> None:
    chance = random.Random(seed)
    disabled = frozenset(name for name in categories() if chance.random() < 0.3)
    denied = frozenset(name for name in (*MENU, *BUILTIN) if chance.random() < 0.1)
    worker = seed % 3 == 0
    names = ", ".join(f'"{name}"' for name in sorted(disabled))
    lay(
        project,
        {
            "checkrein.toml": f"[subsets]\ndisabled = [{names}]\n",
            ".claude/settings.json": {"permissions": {"deny": sorted(denied)}},
        },
    )
    state = State(mode="headless" if worker else "plain", disabled=disabled)

    async def talk(guest: Guest) -> None:
        await compare(guest, ran, state, denied)
        opened = await guest.call(OPEN)
        assert opened.is_error is worker
        await compare(guest, ran, state.opened(), denied)
        await guest.call(CLOSE)
        await compare(guest, ran, state, denied)

    visit(talk, worker=worker, options={"allowed": ASKING})


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_not_listed_is_refused(visit: Visit, project: Path, ran: list[str], seed: int) -> None:
    check(visit, project, ran, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 130))
def test_what_is_not_listed_is_refused_everywhere(
    visit: Visit, project: Path, ran: list[str], seed: int
) -> None:
    check(visit, project, ran, seed)
