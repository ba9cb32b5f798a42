"""`checkrein plugin validate`: what is wrong with a plugin or a marketplace before anybody installs it."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import require

_FAMILIES = ("PL", "MARKET", "JSON", "FM", "FILE", "AS", "AGENT", "HOOK", "SERVER", "DIA003")


class Payload(Struct, frozen=True, omit_defaults=True):
    """`valid` is false with an error; with --strict, with any finding that is not only information."""

    valid: bool
    findings: tuple[Diagnostic, ...] = ()


COMMAND = Command(
    name="plugin validate",
    summary="Check a plugin or a marketplace.",
    args=(
        Arg(name="path", default=".", metavar="DIR", help="The directory of the plugin or marketplace."),
        Arg(name="strict", flags=("--strict",), type="bool", help="Warnings count as errors."),
    ),
    payload=Payload,
    errors=("project_not_found",),
    exits=((0, "valid"), (1, "not valid, or an error"), (2, "wrong usage")),
    examples=(("checkrein plugin validate ./plugins/formatter --strict", "before a release"),),
)


def run(path: str, strict: bool) -> Outcome:
    from checkrein.passes.survey.report import Choice, make_report
    from checkrein.passes.survey.survey import targets

    require(path)
    found: list[Diagnostic] = []
    for target in targets([path]):
        found += make_report(target, Choice(select=_FAMILIES))[0].found
    bad = {"error", "warning"} if strict else {"error"}
    payload = Payload(not any(one.severity in bad for one in found), tuple(found))

    def text() -> str:
        from checkrein.cli import paint

        lines = [
            f"{paint.place_column(one.origin)}: {one.severity} {one.code} {one.message}" for one in found
        ]
        return "\n".join((*lines, "Valid." if payload.valid else "Not valid."))

    return Outcome(data=payload, text=text, status=0 if payload.valid else 1)
