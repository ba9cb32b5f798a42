"""A team as the tools of a teammate know it."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.teams.mate import Mate
from checkrein.runtime.teams.team import Team
from checkrein.runtime.tools.delegate import Errand
from checkrein.runtime.tools.port import Aside, ToolContext, ToolFailure, ToolOutput


class TeamSide:
    """Implements `tools.delegate.Delegate` for a teammate: it speaks, and starts nobody."""

    def __init__(self, team: Team, mate: Mate) -> None:
        self._team = team
        self._mate = mate

    def start(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise ToolFailure("A teammate can't start agents. Ask the lead.")

    def run_skill(self, errand: Errand, aside: Aside) -> ToolOutput:
        raise ToolFailure(f"The skill {errand.skill} runs in an agent, and a teammate can't start one.")

    def send(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        return self._team.send(self._mate, input)

    def listing(self) -> ToolOutput:
        return self._team.listing()

    def standing(self) -> str:
        return str(self._team.listing().content)

    def output(self, input: dict[str, Any], context: ToolContext) -> ToolOutput | None:
        return None

    def stop(self, input: dict[str, Any], context: ToolContext) -> ToolOutput | None:
        return None

    def let_go(self) -> bool:
        return False

    def halt(self, name: str) -> bool:
        return False
