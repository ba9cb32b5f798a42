"""`checkrein sessions search`: find a text in prompts and replies."""

from __future__ import annotations

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.sessions_list import EVERY, LIMIT, PROJECT, checked
from checkrein.protocol.session_rows import Hits, search_rows

COMMAND = Command(
    name="sessions search",
    summary="Find prompts and replies that hold a text, newest session first.",
    args=(
        Arg(name="text", required=True, metavar="TEXT", help="The text, in any case."),
        PROJECT,
        EVERY,
        LIMIT,
    ),
    payload=Hits,
    errors=("project_not_found", "empty_search"),
    exits=((0, "found"), (1, "not found, or an error"), (2, "wrong usage")),
    examples=(("checkrein sessions search 'race condition' --all", "in the sessions of all projects"),),
    details="It looks at the first 4,096 characters of each prompt and reply.",
)


def run(text: str, project: str, every: bool, limit: int) -> Outcome:
    found = search_rows(text, None if every else project, checked(limit))

    def shown() -> str:
        from checkrein.cli.sessions_text import listing

        return listing(found)

    return Outcome(data=found, text=shown, status=0 if found.hits else 1)
