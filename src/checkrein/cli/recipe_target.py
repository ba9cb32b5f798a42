"""What the commands on runs of recipes share: arguments, inputs, the rights of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.cli.registry import Arg

if TYPE_CHECKING:
    from checkrein.runtime.session.options import Options

RUN_ARG = Arg(name="run_id", required=True, metavar="RUN", help="The run, or the beginning of its name.")
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
RUN_ERRORS = ("project_not_found", "run_not_found", "config_invalid", "database_unreachable")
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


def given_result(text: str | None) -> dict[str, object]:
    import msgspec

    from checkrein.base.errors import UsageError

    if text is None:
        return {}
    try:
        found = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError("--result is not a JSON object.", hint="""Write --result '{"key": "value"}'.""")
    return found
