"""What a person says about a step that waits, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.cli.registry import Outcome

if TYPE_CHECKING:
    from checkrein.recipes.journal import Verdict


def answered(project: str, run: str, step: str, verdict: Verdict, result: str | None) -> Outcome:
    from checkrein.cli.recipe_target import given_result
    from checkrein.recipes.database import user_name
    from checkrein.serve.recipes.house import open_house

    with open_house(project) as house:
        row = house.desk.answer(run, step, verdict, user_name(), given_result(result))
        view = house.desk.view(row.run_id)
        has_worker = bool(house.database.workers("live"))

    def text() -> str:
        said = f"{row.wait.path} of {row.run_id}: {verdict}."
        return said if has_worker else f"{said}\nNo worker runs: checkrein recipe resume {row.run_id}"

    return Outcome(data=view, text=text)
