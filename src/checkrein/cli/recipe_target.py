"""What the commands on runs of recipes share: arguments, the plan of a recipe, the rights of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.cli.registry import Arg

if TYPE_CHECKING:
    from checkrein.model.recipe_plan import Plan
    from checkrein.runtime.session.options import Options

RUN_ARG = Arg(name="run", required=True, metavar="RUN", help="The run, or the beginning of its name.")
STEP_ARG = Arg(name="step", required=True, metavar="STEP", help="The step that waits, as `status` names it.")
NOTE_ARG = Arg(
    name="result",
    flags=("--result",),
    metavar="JSON",
    help="An object that stands for the result of the step.",
)
RIGHTS_ARGS = (
    Arg(
        name="permission_mode",
        flags=("--permission-mode",),
        metavar="MODE",
        help="The permission mode of the steps.",
    ),
    Arg(name="allow", flags=("--allow",), multiple=True, metavar="RULE", help="Allow calls by a rule."),
    Arg(name="deny", flags=("--deny",), multiple=True, metavar="RULE", help="Deny calls by a rule."),
    Arg(name="trust", flags=("--trust",), type="bool", help="Trust the project while this command runs."),
)
RUN_ERRORS = ("project_not_found", "run_not_found", "config_invalid")
RUN_EXITS = (
    (0, "the run is done, or waits for somebody"),
    (1, "it failed, or could not start"),
    (2, "wrong usage"),
)


def rights(mode: str | None, allow: tuple[str, ...], deny: tuple[str, ...], trust: bool) -> Options:
    from checkrein.model.rule import split_rule_list
    from checkrein.runtime.session.options import Options

    return Options(
        mode=mode,
        allowed=tuple(rule for text in allow for rule in split_rule_list(text)),
        disallowed=tuple(rule for text in deny for rule in split_rule_list(text)),
        trust=trust,
        kind="sdk",
    )


def plan_of(name: str, project: str, inputs: tuple[str, ...]) -> Plan:
    """The plan of a recipe of the project, or of a file. Raises what forbids to run it."""
    import os

    from checkrein.base.errors import NotFoundError, RunError, UsageError
    from checkrein.base.nearest import did_you_mean
    from checkrein.passes.load import load
    from checkrein.passes.recipes.library import library_of
    from checkrein.passes.recipes.plan import plan
    from checkrein.passes.recipes.surroundings import surroundings_of

    files = (os.path.abspath(name),) if os.path.isfile(name) else ()
    library = library_of(load(project, bundled=True), *files)
    found = next(
        (one.item for one in library.recipes.values() if files and one.item.origin.file == files[0]),
        library.recipe(name),
    )
    if found is None:
        raise NotFoundError(
            f"There is no recipe {name!r}.{did_you_mean(name, library.recipes)}",
            kind="recipe_not_found",
            hint="Recipes are in .checkrein/recipes; a path names a file.",
        )
    given = dict[str, str]()
    for one in inputs:
        key, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--input {one!r} has no value.", hint="Write --input name=value.")
        given[key] = value
    made = plan(found, library, given, surroundings_of(library.project))
    if isinstance(made, tuple):
        error = RunError(
            f"{name} can't run: {made[0].message}" + (f" ({len(made)} errors)" if len(made) > 1 else ""),
            kind="recipe_invalid",
            hint=made[0].hint or "`checkrein check` shows all findings.",
            origin=made[0].origin,
        )
        error.details["diagnostics"] = [f"{one.origin}: {one.message}" for one in made]
        raise error
    return made


def given_result(text: str | None) -> dict[str, object]:
    import json

    from checkrein.base.errors import UsageError

    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UsageError("--result is not a JSON object.", hint="""Write --result '{"key": "value"}'.""")
    return found
