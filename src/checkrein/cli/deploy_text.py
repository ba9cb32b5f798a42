"""The text of `checkrein deploy` and `checkrein import`."""

from __future__ import annotations

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.harmless import indented, one_line
from checkrein.cli.deploy import Agent, Payload
from checkrein.cli.import_ import Payload as Imported
from checkrein.dialects.generic.written import is_guard

_SIGNS = {
    "create": "+",
    "update": "~",
    "delete": "-",
    "edited": "!",
    "foreign": "!",
    "source": "=",
}
_DONE = {"create": "written", "update": "updated", "delete": "deleted"}
_WOULD = {"create": "to write", "update": "to update", "delete": "to delete"}
_MOST_LOSSES = 40


def answer(payload: Payload) -> str:
    if payload.diff:
        return payload.diff.rstrip("\n")
    lines = [
        f"{_SIGNS[step.action]} {step.path}{_for(step.targets)}"
        for step in payload.steps
        if step.action in _SIGNS and step.action != "source"
    ]
    if payload.losses:
        lines += ["", *_losses(payload.losses, payload.root)]
    lines += _variables(payload.variables)
    words = _DONE if payload.applied else _WOULD
    counts = [f"{payload.counts[action]} {words[action]}" for action in words if payload.counts.get(action)]
    same = payload.counts.get("unchanged", 0)
    if same:
        counts.append(f"{same} unchanged")
    stuck = payload.counts.get("edited", 0) + payload.counts.get("foreign", 0)
    if stuck:
        counts.append(f"{stuck} left as they are")
    total = f"{', '.join(counts)}." if counts else ""
    lines += ["", " ".join(part for part in (total, payload.note) if part) or "Nothing to do."]
    return "\n".join(lines).strip("\n")


def _losses(losses: tuple[Diagnostic, ...], root: str) -> list[str]:
    """Deny and ask rules that do not hold come first, and all of them; the rest by rank, up to a number."""
    rank = {"error": 0, "warning": 1, "info": 2}
    guards = [loss for loss in losses if is_guard(loss)]
    others = sorted(
        (loss for loss in losses if not is_guard(loss)),
        key=lambda loss: (rank[loss.severity], loss.origin.file, loss.origin.line or 0),
    )
    lines = [
        f"{one_line(str(loss.origin).removeprefix(root + '/'))}: {loss.severity} {loss.code} "
        + indented(loss.message)
        for loss in (*guards, *others[:_MOST_LOSSES])
    ]
    if len(others) > _MOST_LOSSES:
        lines.append(f"and {len(others) - _MOST_LOSSES} more; --output-format json lists all")
    if guards:
        number = "1 guard does" if len(guards) == 1 else f"{len(guards)} guards do"
        lines += ["", f"{number} not hold there (DEP016). `--strict` makes that an error."]
    return lines


def _variables(variables: dict[str, str]) -> list[str]:
    if not variables:
        return []
    lines = [f"  {name}  {one_line(whose)}" for name, whose in variables.items()]
    return ["", "Set these variables where the agents run; the secrets themselves were not written:", *lines]


def _for(targets: tuple[str, ...]) -> str:
    return f"  ({', '.join(targets)})" if targets else ""


def imported(payload: Imported) -> str:
    found = ", ".join(f"{number} {kind}" for kind, number in payload.counts.items()) or "nothing"
    lines = [f"Found {found} of {payload.agent}.", ""]
    lines += [f"{_SIGNS[step.action]} {step.path}" for step in payload.steps if step.action in _SIGNS]
    if payload.losses:
        lines += ["", *_losses(payload.losses, payload.root)]
    return "\n".join(lines)


def agents(rows: tuple[Agent, ...]) -> str:
    width = max(len(row.name) for row in rows)
    label = max(len(row.label) for row in rows)
    return "\n".join(
        f"{row.name.ljust(width)}  {row.label.ljust(label)}  {row.commands or '-'}"
        + (f"  + {', '.join(row.takes)}" if row.takes else "")
        for row in rows
    )
