"""The Markdown of the reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrein.protocol.machine.payloads import Bootstrapped
    from checkrein.protocol.machine.reports import Manifest, ParityAudit, Rows, Subsystems, Summary


def bootstrapped(done: Bootstrapped) -> str:
    setup = done.setup
    lines = [
        "# Runtime Session",
        "",
        f"Prompt: {done.prompt}",
        f"Session: {done.session_id}",
        "",
        "## Setup",
        f"- Python: {setup.python_version} ({setup.implementation})",
        f"- Platform: {setup.platform_name}",
        f"- Test command: {setup.test_command}",
        "",
        "## Startup Steps",
        *(f"- {stage.title} [{stage.status}]" for stage in done.stages),
        "",
        "## Routed Matches",
        *(f"- [{match.kind}] {match.name} ({match.score})" for match in done.routed_matches),
        "",
        "## Execution",
        *(f"- {line}" for line in (*done.command_execution_messages, *done.tool_execution_messages)),
        "",
        "## Turn",
        done.turn.output,
        f"stop_reason={done.turn.stop_reason}",
        f"Persisted session: {done.persisted_session_path}",
    ]
    return "\n".join(lines)


def summary(found: Summary) -> str:
    lines = ["# Summary", "", f"- Root: {found.root}", f"- Dialect: {found.dialect}"]
    lines += [f"- {name.capitalize()}: {count}" for name, count in found.counts.items()]
    lines += [f"- Tools: {found.tools}", f"- Sessions: {found.sessions}", f"- Trusted: {found.trusted}"]
    lines += [f"- Problems ({severity}): {count}" for severity, count in found.problems.items()]
    return "\n".join(lines)


def manifest(found: Manifest) -> str:
    lines = [
        "# Manifest",
        "",
        f"Checkrein {found.version}; schema versions {', '.join(found.schema_versions)} "
        f"(deprecated: {', '.join(found.deprecated_versions)})",
        "",
        *_table(("verb", "surface", "what it does"), ((v.verb, v.surface, v.summary) for v in found.verbs)),
        "",
        *_table(
            ("error kind", "class", "action"), ((k.kind, k.error_class, k.action) for k in found.error_kinds)
        ),
    ]
    return "\n".join(lines)


def parity(found: ParityAudit) -> str:
    head = "agrees" if found.agrees else "DISAGREES"
    rows = ((row.verb, row.surface, row.problem or "ok") for row in found.rows)
    more = [f"- not classified: {verb}" for verb in found.unclassified]
    return "\n".join(["# Parity Audit", "", head, "", *_table(("verb", "surface", "state"), rows), *more])


def subsystems(found: Subsystems) -> str:
    return "\n".join(f"{row.name}\t{row.modules}\t{row.responsibility}" for row in found.subsystems)


def rows(title: str, found: Rows) -> str:
    lines = [f"{title} entries: {found.total}", ""]
    return "\n".join([*lines, *(f"- {row.name} ({row.source_hint})" for row in found.entries)])


def _table(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(row)} |" for row in body]
