"""Step 2.5: what happens with everything the package depends on, and who decided it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import PolicyError, UsageError
from checkrein.base.files import read_text
from checkrein.base.nearest import did_you_mean
from checkrein.compile.details import ServerDetails, ToolDetails
from checkrein.compile.values import Decider, Element, Mapping, PlanEntry
from checkrein.facts.compile import CATEGORY_KEYS, DEFAULT_DISPOSITION, DISPOSITIONS, Category, Disposition
from checkrein.facts.compile_rows import ROWS

Mode = Literal["auto", "ask", "strict", "config"]

# What an entry may become besides its default. The user can't change deny rules.
CHOICES: dict[Category, tuple[Disposition, ...]] = {
    "C1": ("bundle", "load_from_disk", "remove"),
    "C2": ("bundle", "load_from_disk", "remove"),
    "C3": ("bundle", "load_from_disk", "external_input", "remove"),
    "C4": ("delegate_to_runtime", "stub", "remove"),
    "C5": ("delegate_to_runtime", "stub", "remove"),
    "C6": ("stub", "real_impl", "mock", "delegate_to_runtime", "remove"),
    "C7": ("external_input", "remove"),
    "C8": ("bundle", "remove"),
    "C9": ("delegate_to_runtime", "remove"),
}
_FIXED = ("requirements.py:OPERATING_REQUIREMENTS", "constrained_slots.py:confirm_action")
_FROM_DISK = ("PREFIX_TEXT", "OPERATING_RULES", "KNOWLEDGE")


class Override(Struct, frozen=True):
    """A decision that stays valid when lines move: its key is the entry's signal."""

    signal: str
    disposition: Disposition
    override_rationale: str = ""


class Question(Struct, frozen=True):
    """What `ask` puts before a person."""

    entry: PlanEntry
    sources: tuple[str, ...]
    choices: tuple[Disposition, ...]


Ask = Callable[[Question], Disposition]


def audit(elements: Iterable[Element], mappings: Sequence[Mapping]) -> tuple[PlanEntry, ...]:
    """One entry per dependency, with its default. Elements of one target share an entry."""
    by_id = {element.element_id: element for element in elements}
    grouped: dict[tuple[str, str], list[tuple[Element, Mapping]]] = {}
    for mapping in mappings:
        element = by_id[mapping.element_id.split("-")[0]]
        if element.category == "—" or mapping.primitive == "none" or element.step is not None:
            continue
        grouped.setdefault(
            (element.category, f"{mapping.final_target_file}:{mapping.target_symbol}"), []
        ).append((element, mapping))
    entries = []
    for number, ((category, target), members) in enumerate(grouped.items(), 1):
        element, mapping = members[0]
        disposition, decider = _default(element, mapping)
        entries.append(
            PlanEntry(
                entry_id=f"dep_{number:03}",
                category=CATEGORY_KEYS[element.category],
                disposition=disposition,
                source_of_decision=decider,
                source_elements=tuple(dict.fromkeys(one.element_id for one, _ in members)),
                target=target,
                signal=f"{category}:{target}",
                default_disposition=disposition,
                subtype=_subtype(element) if element.category == "C6" else None,
                description=element.content_summary if len(members) == 1 else f"{len(members)} elements",
            )
        )
    return tuple(entries)


def _default(element: Element, mapping: Mapping) -> tuple[Disposition, Decider]:
    if mapping.primitive == "real_impl":
        return "real_impl", "dialect"
    if mapping.primitive == "loader_call":
        return "load_from_disk", "dialect"
    row = ROWS.get(element.row or "")
    if row is not None and row.outcome in DISPOSITIONS:
        return row.outcome, "dialect"
    if element.tag in ("CONVERSE", "TOOL_INPUT") and element.category in ("C2", "C3"):
        return "external_input", "auto"
    return DEFAULT_DISPOSITION[element.category], "auto"


def _subtype(element: Element) -> str:
    tool = element.details.tool if isinstance(element.details, ToolDetails) else ""
    if isinstance(element.details, ServerDetails) or tool.startswith("mcp__"):
        return "mcp"
    return "http" if tool == "WebFetch" else "abstract"


def choices(entry: PlanEntry) -> tuple[Disposition, ...]:
    category: Category = next(code for code, key in CATEGORY_KEYS.items() if key == entry.category)
    if entry.target in _FIXED:
        return (entry.default_disposition,)
    offered = list(CHOICES[category])
    symbol = entry.target.rsplit(":", 1)[-1]
    if symbol not in _FROM_DISK and "load_from_disk" in offered:
        offered.remove("load_from_disk")
    if (
        symbol != "KNOWLEDGE"
        and "external_input" in offered
        and entry.default_disposition != "external_input"
    ):
        offered.remove("external_input")
    if "real_impl" in offered and entry.default_disposition != "real_impl":
        offered.remove("real_impl")
    return tuple(dict.fromkeys((entry.default_disposition, *offered)))


def decide(
    entries: tuple[PlanEntry, ...],
    mode: Mode,
    *,
    overrides: Sequence[Override] = (),
    ask: Ask | None = None,
    sources: dict[str, tuple[str, ...]] | None = None,
) -> tuple[PlanEntry, ...]:
    """The plan. Raises PolicyError where `strict` would need a host, UsageError on a bad override."""
    known = {entry.signal: entry for entry in entries} | {entry.entry_id: entry for entry in entries}
    chosen: dict[str, PlanEntry] = {entry.signal: entry for entry in entries}
    for override in overrides:
        entry = known.get(override.signal)
        if entry is None:
            raise UsageError(
                f"The decisions name {override.signal!r}, which this spec does not have."
                f"{did_you_mean(override.signal, [one.signal for one in entries])}",
                kind="override_unknown",
            )
        chosen[entry.signal] = _override(entry, override.disposition, "config", override.override_rationale)
    if mode == "ask" and ask is not None:
        for entry in entries:
            offered = choices(entry)
            if len(offered) < 2 or entry.source_of_decision == "config":
                continue
            answer = ask(Question(entry, (sources or {}).get(entry.entry_id, ()), offered))
            if answer != entry.disposition:
                chosen[entry.signal] = _override(entry, answer, "user", "chosen when asked")
    plan = tuple(chosen[entry.signal] for entry in entries)
    if mode == "strict":
        open_ends = [entry for entry in plan if entry.disposition in ("stub", "delegate_to_runtime")]
        if open_ends:
            raise PolicyError(
                f"{len(open_ends)} things need a host: {', '.join(entry.target for entry in open_ends[:5])}.",
                kind="strict_halt",
                hint="Decide on them with --dependencies=ask or config:PATH, or leave `strict` out.",
            )
    return plan


def _override(entry: PlanEntry, disposition: Disposition, who: Decider, why: str) -> PlanEntry:
    offered = choices(entry)
    if disposition not in offered:
        raise UsageError(
            f"{entry.target} can't become {disposition!r}; it can be: {', '.join(offered)}.",
            kind="override_invalid",
        )
    if disposition == entry.default_disposition:
        return entry
    return replace(
        entry, disposition=disposition, source_of_decision=who, override_rationale=why or "no reason given"
    )


def read_overrides(path: str) -> tuple[Override, ...]:
    """Decisions of `config:PATH`: a file of overrides, or the plan of an earlier compile."""
    import json

    loaded = read_text(path)
    if not loaded.readable:
        raise UsageError(f"{path} {loaded.problem}.", kind="overrides_unreadable")
    try:
        value: Any = json.loads(loaded.text)
        rows = value["overrides"] if "overrides" in value else _decided(value["plan"])
        found = []
        for row in rows:
            disposition = row["disposition"]
            if disposition not in DISPOSITIONS:
                raise ValueError(f"{disposition!r} is not a disposition")
            signal = str(row.get("signal") or row["entry_id"])
            found.append(Override(signal, disposition, str(row.get("override_rationale", ""))))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} holds no decisions: {error}.",
            kind="overrides_invalid",
            hint='Write {"overrides": [{"signal": "…", "disposition": "…", "override_rationale": "…"}]}.',
        ) from error
    return tuple(found)


def _decided(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["source_of_decision"] in ("user", "config")]
