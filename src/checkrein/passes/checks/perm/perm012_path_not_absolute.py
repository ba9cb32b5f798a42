"""Path rules that look absolute and are not."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.tools import PATH_FAMILIES
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document

_TOP = frozenset(
    """
    bin boot dev etc home lib media mnt opt private proc root run sbin srv sys tmp usr var Users Volumes
    """.split()  # noqa: SIM905
)


def run(subject: Subject) -> Iterator[Finding]:
    for rule in working(subject):
        spec = (rule.specifier or "").strip()
        first = spec[1:].partition("/")[0]
        if tool_of(rule) not in PATH_FAMILIES or not spec.startswith("/") or first not in _TOP:
            continue
        if "/" not in spec[1:] and rule.verdict == "allow":
            continue
        better = f"{rule.tool}(/{spec})"
        origin = subject.find(rule.origin, rule.text)
        yield Finding(
            origin=origin,
            message=f"`{rule.text}` means `{spec[1:]}` below {rule.anchor or 'the project'}, not `{spec}`",
            hint=f"Write `{better}` for the absolute path.",
            fix=edits.swap(subject, origin, rule.text, better, f"Write `{better}`", safe=False),
            severity="error" if rule.verdict == "deny" else None,
        )


CHECK = Check(
    code="PERM012",
    name="path-not-absolute",
    severity="warning",
    summary="A path rule begins with one `/` but means the root of the file system.",
    why="One `/` is the directory of the settings; only `//` is the root. The rule matches nothing, or "
    "something else.",
    hint="Write `//` for an absolute path.",
    bad={SETTINGS: document({"permissions": {"deny": ["Read(/etc/ssh/**)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Read(//etc/ssh/**)"]}})},
    run=run,
    fixable=True,
)
