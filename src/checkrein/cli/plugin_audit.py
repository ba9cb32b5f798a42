"""`checkrein plugin audit`: does the project still do only what checkrein.lock says?"""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.runtime.plugins.plugin_audit import AuditFinding


class Payload(Struct, frozen=True):
    findings: tuple[AuditFinding, ...]
    lock_written: bool


COMMAND = Command(
    name="plugin audit",
    summary="Compare plugins and skills with checkrein.lock; fail on a gain that nobody locked.",
    details="It reads files only: nothing is fetched, nothing runs. Skills of the project count once "
    "--write-skills has put them into the lock.",
    args=(
        PROJECT_ARG,
        Arg(
            name="write_skills",
            flags=("--write-skills",),
            type="bool",
            help="Accept what the project's own skills can do now, and write it into the lock.",
        ),
    ),
    payload=Payload,
    errors=("project_not_found", "lock_broken", "lock_unwritable"),
    exits=((0, "as the lock says"), (1, "findings, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein plugin audit", "in CI, after `checkrein plugin install --frozen`"),
        ("checkrein plugin audit --write-skills", "lock what the skills can do"),
    ),
)


def run(project: str, write_skills: bool) -> Outcome:
    import os

    from checkrein.passes.load import load
    from checkrein.runtime.plugins.package_cache import PackageCache
    from checkrein.runtime.plugins.plugin_audit import audit, lock_skills

    require(project)
    loaded = load(project, detect=False)
    written = write_skills and lock_skills(loaded)
    payload = Payload(audit(loaded, PackageCache(os.environ)), written)

    def text() -> str:
        from checkrein.cli import plugin_text

        return plugin_text.audit(payload)

    return Outcome(data=payload, text=text, status=1 if payload.findings else 0)
