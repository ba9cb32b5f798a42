"""README.md, SETUP.md, mapping_report.md and the JSON artifacts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import to_builtins

from checkrein.compile.blueprint import Blueprint
from checkrein.compile.details import Drafted
from checkrein.compile.render import render
from checkrein.compile.sheets import ReadmeSheet, ReportSheet, SetupSheet, SlotRow
from checkrein.compile.tools import ARGUMENTS, WRITERS, unused_servers
from checkrein.compile.values import Classification, Element, Inventory, Mapping, PlanEntry
from checkrein.facts import compile as facts
from checkrein.facts.compile import CATEGORY_KEYS

MANIFEST_VERSION = "1.1.0"


def readme(b: Blueprint, inventory: Inventory) -> str:
    values = inventory.spec.values
    paths = values.get("paths")
    listed = (
        [paths] if isinstance(paths, str) else [str(one) for one in paths] if isinstance(paths, list) else []
    )
    sheet = ReadmeSheet(
        b=b,
        spec_file=inventory.spec.file,
        requirement_count=len(b.requirements) + sum(r.behavior == "deny" for r in b.permissions),
        compatibility=_constant(b, "COMPATIBILITY_NOTE"),
        paths=tuple(listed),
    )
    return render(sheet)


def _constant(b: Blueprint, name: str) -> str:
    return next((str(one.value) for one in b.constants if one.name == name), "")


def setup(b: Blueprint, inventory: Inventory) -> str:
    elements = inventory.elements
    modalities: frozenset[str] = frozenset((b.modality, *b.secondary))
    host = tuple(
        one
        for one in (
            "review_gated",
            "conversational_session",
            "realtime_media",
            "streaming",
            "event_triggered",
        )
        if one in modalities
    )
    servers = dict.fromkeys(tool.server for tool in b.tools if tool.server)
    sheet = SetupSheet(
        b=b,
        anthropic=any(one.name.startswith(("ANTHROPIC_", "CLAUDE_CODE_OAUTH")) for one in b.variables),
        credentials_file=any(file.rule.endswith("credentials") for file in inventory.files),
        helper=any(e.signal == "settings.apiKeyHelper" for e in elements),
        backend=_constant(b, "BACKEND"),
        model_id=_constant(b, "MODEL_ID"),
        model_name=_constant(b, "MODEL_NAME"),
        servers=(*servers, *(one for one in unused_servers(elements) if one not in servers)),
        modalities=modalities,
        loop_task=any(e.row == "M-40" for e in elements),
        host_modalities=host,
        slot_rows=tuple(_slots(b)),
    )
    return render(sheet)


def _slots(b: Blueprint) -> list[SlotRow]:
    rows = []
    for tool in b.slotted:
        content = ", content: str" if tool.function in WRITERS else ""
        about = f"{tool.tool}. {tool.summary} {ARGUMENTS[tool.argument]}"
        rows.append(SlotRow(tool.function, f"({tool.argument}: str{content}) -> str", about))
    rows += [SlotRow(name, "(query: str) -> str", "What is remembered; optional.") for name in b.memory]
    if b.confirms:
        rows.append(
            SlotRow("confirm_action", "(tool: str, argument: str) -> bool", "Asks a person about a call.")
        )
    return rows


def report(
    b: Blueprint,
    inventory: Inventory,
    classification: Classification,
    mappings: tuple[Mapping, ...],
    plan: tuple[PlanEntry, ...],
    mode: str,
) -> str:
    by_id = {element.element_id: element for element in inventory.elements}
    files: dict[str, list[tuple[Element, Mapping]]] = {}
    for mapping in mappings:
        target = mapping.final_target_file
        files.setdefault(target, []).append((by_id[mapping.element_id.split("-")[0]], mapping))
    counts = Counter((e.tag, e.category) for e in inventory.elements)
    contributions = Counter(e.source_file for e in inventory.elements)
    open_ends = [entry for entry in plan if entry.disposition in ("stub", "delegate_to_runtime")]
    order = " > ".join(facts.SETTINGS_ORDER)
    sheet = ReportSheet(
        c=classification,
        i=inventory,
        plan=plan,
        recap=(
            f"{len(open_ends)} things are left to a host (see SETUP.md): "
            + ", ".join(entry.target for entry in open_ends)
            if open_ends and mode == "auto"
            else ""
        ),
        scores=", ".join(f"{name} {score:g}" for name, score in classification.source_runtime_scores.items())
        or "none",
        archetype=facts.ARCHETYPES[classification.archetype],
        table=tuple(sorted((tag, category, count) for (tag, category), count in counts.items())),
        by_file=tuple((file, tuple(rows)) for file, rows in sorted(files.items(), key=lambda row: row[0])),
        calls=(*_judgments(mappings, by_id), *_arranged(b, inventory)),
        removed=tuple(entry for entry in plan if entry.disposition == "remove"),
        order=order,
        skill_order=" > ".join(facts.SKILL_ORDER),
        merge_order=(
            "Settings files read: "
            + (", ".join(inventory.notes.settings_files) or "none")
            + ". Where two set the same key, local counts before project, and project before user."
        ),
        unknown_fields=tuple(
            e.source_lines.removeprefix("frontmatter.")
            for e in inventory.elements
            if e.unknown_frontmatter_field
        ),
        contributions=tuple((file, contributions[file.path]) for file in inventory.files),
    )
    return render(sheet)


def _judgments(mappings: tuple[Mapping, ...], by_id: dict[str, Element]) -> list[tuple[str, str, str]]:
    found = []
    for mapping in mappings:
        element = by_id[mapping.element_id.split("-")[0]]
        draft = element.prose.draft
        if draft is not None:
            what = ", ".join(_drafted(draft))
            found.append((mapping.element_id, what, f"{draft.by} drafted it"))
        elif mapping.validation_kind is not None and mapping.primitive == "Requirement":
            found.append(
                (mapping.element_id, f"checked as {mapping.validation_kind}", mapping.step_2_rationale)
            )
        elif element.tag == "CONVERSE" and mapping.primitive == "parameter":
            found.append((mapping.element_id, "a parameter", "the caller asks a person before the run"))
        elif min(element.confidence.values(), default=1.0) < 0.7 and mapping.primitive != "none":
            found.append((mapping.element_id, f"{element.tag}/{element.category}", mapping.step_2_rationale))
    return found


def _arranged(b: Blueprint, inventory: Inventory) -> list[tuple[str, str, str]]:
    """How a run goes when it is not simply one step after the other."""
    if b.closing is None:
        return []
    steps = [element for element in inventory.elements if element.step is not None]
    if b.procedures:
        first = {element.place: element.element_id for element in steps}
        why = "it stands alone: a run takes it when the request calls for it"
        return [(first[one.steps[0].source], f"procedure {one.title}", why) for one in b.procedures]
    last = steps[-1].element_id
    return [(last, "pipeline.py: answer follows it", "the last step does not give an answer for a reader")]


def _drafted(draft: Drafted) -> list[str]:
    if draft.check is not None:
        return [f"checked by {draft.check}", *draft.arguments]
    fields = [f"{one.name}: {one.type}" for one in draft.fields]
    return [*(f"label {one}" for one in draft.labels), *fields]


def manifest(
    b: Blueprint, classification: Classification, plan: tuple[PlanEntry, ...], version: str
) -> dict[str, Any]:
    """melleafy.json."""
    resolved: dict[str, Any] = {}
    for key in CATEGORY_KEYS.values():
        entries = [entry for entry in plan if entry.category == key]
        listed = []
        for entry in entries:
            row: dict[str, Any] = {
                "entry_id": entry.entry_id,
                "disposition": entry.disposition,
                "target": entry.target,
            }
            if key == "c1_identity":
                row["description"] = entry.description[:200]
            listed.append(row)
        resolved[key] = {"count": len(entries), "entries": listed}
    parameters = pipeline_parameters(b)
    inner = ", ".join(
        f"{one['name']}: {one['type']}" + ("" if one["required"] else f" = {one['default']!r}")
        for one in parameters
    )
    returned = {"conversational_session": "str", "streaming": "Iterator[str]"}.get(b.shape, "SkillResult")
    made: dict[str, Any] = {
        "manifest_version": MANIFEST_VERSION,
        "format_version": facts.FORMAT_VERSION,
        "package_name": b.package,
        "melleafy_version": f"checkrein {version}",
        "target_runtime": "mellea",
        "entry_signature": f"run_pipeline({inner}) -> {returned}",
        "source_runtime": classification.source_runtime,
        "modality": classification.modality,
        "secondary_modalities": classification.secondary_modalities,
        "archetype": classification.archetype,
        "categories_resolved": resolved,
        "declared_env_vars": sorted(one.name for one in b.variables if one.name == one.name.upper()),
        "pipeline_parameters": parameters,
    }
    schedule = next((one.value for one in b.constants if one.name == "SCHEDULE_CONFIG"), None)
    if schedule is not None:
        made["schedule_config"] = schedule
    if classification.hybrid_primary is not None:
        made["hybrid_primary"] = classification.hybrid_primary
        made["hybrid_contributors"] = classification.hybrid_contributors
    return made


def pipeline_parameters(b: Blueprint) -> list[dict[str, Any]]:
    if b.shape == "conversational_session":
        return [
            {"name": "session", "type": "MelleaSession", "required": True},
            {"name": "message", "type": "str", "required": True},
        ]
    found: list[dict[str, Any]] = [{"name": "request", "type": "str", "required": True}]
    names = [one.name for one in b.parameters]
    names += ["user_answers"] if b.asks_user else []
    names += ["user_context"] if b.user_context else []
    found += [{"name": name, "type": "str", "required": False, "default": ""} for name in names]
    return found


def artifacts(
    inventory: Inventory,
    classification: Classification,
    mappings: tuple[Mapping, ...],
    plan: tuple[PlanEntry, ...],
    mode: str,
) -> dict[str, Any]:
    """The JSON of the intermediate steps, by file name."""
    version = facts.FORMAT_VERSION
    elements = [to_builtins(element) for element in inventory.elements]
    return {
        "classification.json": to_builtins(classification),
        "inventory.json": {
            "format_version": version,
            "files": [
                {key: value for key, value in to_builtins(file).items() if key not in ("text", "first_line")}
                for file in inventory.files
            ],
            "elements": elements,
        },
        "coverage_report.json": to_builtins(inventory.coverage),
        "element_mapping.json": {
            "format_version": version,
            "mappings": [to_builtins(mapping) for mapping in mappings],
        },
        "dependency_audit.json": {
            "format_version": version,
            "entries": [
                {
                    "entry_id": entry.entry_id,
                    "category": entry.category,
                    "default_disposition": entry.default_disposition,
                    "source_elements": list(entry.source_elements),
                    "subtype": entry.subtype,
                }
                for entry in plan
            ],
        },
        "dependency_plan.json": {
            "format_version": version,
            "source_runtime": classification.source_runtime,
            "generation_mode": mode,
            "user_acknowledged_stubs": mode == "ask",
            "plan": [to_builtins(entry) for entry in plan],
        },
        "element_mapping_amendments.json": {
            "format_version": version,
            "step": "2.5d",
            "generation_mode": mode,
            "amendments": [
                {
                    "element_id": element_id,
                    "field": "disposition",
                    "before": entry.default_disposition,
                    "after": entry.disposition,
                    "reason": entry.override_rationale,
                }
                for entry in plan
                if entry.disposition not in (entry.default_disposition, "remove")
                for element_id in entry.source_elements
            ],
            "removed": [
                element_id
                for entry in plan
                if entry.disposition == "remove"
                for element_id in entry.source_elements
            ],
        },
    }
