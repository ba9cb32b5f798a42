"""git commands that change a person's own repository."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import SOURCE, example
from checkrein.passes.recipes.shell_text import mutates_git

_STEPS = "show: {tool: run_cmd, with: {cmd: COMMAND, cwd: '${{ inputs.source_dir }}'}}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step, text in case.commands():
            found = mutates_git(text)
            if found is not None and case.is_in_source(step, "cwd"):
                message = f"`{step.name}` runs `{found}` in a person's own repository"
                yield Finding(origin=step.where("with.cwd"), message=message)


CHECK = Check(
    code="RCP093",
    name="git-mutation-on-source",
    severity="warning",
    summary="A command changes the repository that a person works in.",
    why="The person's branch or files change while they work there.",
    hint="Run the command in the clone.",
    bad=example(_STEPS.replace("COMMAND", "git checkout -b work"), top=SOURCE),
    good=example(_STEPS.replace("COMMAND", "git status"), top=SOURCE),
    run=run,
)
