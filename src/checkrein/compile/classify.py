"""Step 0: runtime, modality, tools, archetype, shape. Order matters: later axes look at earlier ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from checkrein.compile import signals
from checkrein.compile.details import ModalityDetails, ScheduleDetails, ToolDetails
from checkrein.compile.program.gates import read_gates
from checkrein.compile.program.outline import read_outline
from checkrein.compile.values import Classification, Element, Inventory, Spec
from checkrein.facts import compile as facts
from checkrein.facts.compile import Archetype, Modality, Shape, Variant
from checkrein.facts.compile_words import ARCHETYPE_WORDS
from checkrein.passes.detect import decide

_HOOK_ROWS = ("M-15", "M-30", "M-37")
_RUN = (ModalityDetails, ScheduleDetails, ToolDetails)
_EXPLICIT = {str(name): name for name in facts.MODALITIES}


def classify(inventory: Inventory, runtime: str | None = None) -> Classification:
    """All five axes of a spec. `runtime` is what the user named with --source-runtime."""
    spec, elements = inventory.spec, inventory.elements
    warnings: list[str] = []
    modality, secondary, confidence = modalities(spec, elements)
    unknown = [name for name in _written(spec) if name not in _EXPLICIT]
    if unknown:
        warnings.append(f"`modality`: {', '.join(unknown)} is not known; use one of {', '.join(_EXPLICIT)}")
    if modality == "scheduled" and "review_gated" in secondary:
        warnings.append("scheduled and review_gated rarely fit together: look at it by hand")
    variant = tool_variant(elements)
    archetype, certainty = archetype_of(spec, elements, variant)
    steps = sum(element.step is not None for element in elements)
    shape = shape_of(archetype, steps)
    halt = contradiction(archetype, variant, (modality, *secondary))
    if shape == "Sequential" and steps <= 1:
        warnings.append("sequential with at most one step")
    if modality == "realtime_media" and archetype in ("A", "B"):
        warnings.append("realtime media with an analysis or a generation")
    detection = spec.detection
    hybrid = detection.dialect == "hybrid"
    if hybrid and runtime is None:
        warnings.append(f"signals of several runtimes: {', '.join(detection.contributors)}")
    if runtime is not None and not hybrid and (found := decide(detection.signals)).dialect == "hybrid":
        dropped = [name for name in found.contributors if name != runtime]
        warnings.append(f"--source-runtime {runtime} leaves out {', '.join(dropped)}")
    if hybrid and len(detection.contributors) > 2:
        warnings.append("more than two runtimes contribute")
    if detection.dialect in ("autogen", "openai_agents_sdk", "smolagents"):
        warnings.append(f"{detection.dialect} is supported at inventory level only")
    by_dialect: dict[str, list[str]] = {}
    for signal in detection.signals:
        by_dialect.setdefault(signal.dialect, []).append(signal.id)
    return Classification(
        format_version=facts.FORMAT_VERSION,
        archetype=archetype,
        archetype_confidence=certainty,
        shape=shape,
        shape_phase_count=max(1, steps),
        tool_involvement=facts.VARIANTS[variant],
        tool_involvement_variant=variant,
        source_runtime=detection.dialect,
        source_runtime_override=runtime,
        source_runtime_scores=detection.scores,
        source_runtime_signals=by_dialect,
        hybrid_threshold_triggered=hybrid and runtime is None,
        hybrid_primary=detection.contributors[0] if hybrid and detection.contributors else None,
        hybrid_contributors=list(detection.contributors) if hybrid else [],
        modality=modality,
        modality_confidence=confidence,
        secondary_modalities=secondary,
        warnings=warnings,
        halt=halt,
    )


def contradiction(archetype: Archetype, variant: Variant, modalities: Collection[Modality]) -> str | None:
    """Why one spec can't have these axes; None when it can."""
    if archetype == "D1" and variant == "P0":
        return "compile needs a tool for an integration, and the spec has none"
    if {"heartbeat", "synchronous_oneshot"} <= set(modalities):
        return "heartbeat and synchronous_oneshot exclude each other; keep one of them"
    return None


def _written(spec: Spec) -> list[str]:
    """The modalities of the frontmatter, the primary one first."""
    value = spec.values.get("modality")
    return [str(one) for one in value] if isinstance(value, list) else [str(value)] if value else []


def modalities(spec: Spec, elements: tuple[Element, ...]) -> tuple[Modality, list[Modality], float]:
    """Primary, secondaries and confidence: first what the spec states, then what the text implies."""
    body = spec.body
    secondary: list[Modality] = []
    if any(element.row in _HOOK_ROWS for element in elements):
        secondary.append("event_triggered")
    modes = {element.content_full for element in elements if element.row == "M-32"}
    asked = any(element.row == "M-27" for element in elements)
    if "plan" in modes or asked or read_gates(read_outline(body, spec.body_line)):
        secondary.append("review_gated")
    written = [_EXPLICIT[name] for name in _written(spec) if name in _EXPLICIT]
    found = [element.details.modality for element in elements if isinstance(element.details, _RUN)]
    named = [*written, *(_EXPLICIT[name] for name in found if name in _EXPLICIT)]
    explicit = named[0] if named else None
    streams = signals.STREAM.search(body) is not None
    converses = signals.RESUME.search(body) is not None or signals.FORK.search(body) is not None
    primary: Modality
    if explicit is not None:
        primary = explicit
    elif any(element.row == "M-40" for element in elements):
        primary = "scheduled"
    elif converses:
        primary = "conversational_session"
    elif streams:
        primary = "streaming"
    else:
        primary = "synchronous_oneshot"
    if streams and primary != "streaming":
        secondary.append("streaming")
    secondary += named
    if "heartbeat" in written and signals.PRINT.search(body):
        secondary.append("synchronous_oneshot")
    certain = explicit is not None or primary != "synchronous_oneshot" or signals.PRINT.search(body)
    return primary, [one for one in dict.fromkeys(secondary) if one != primary], 1.0 if certain else 0.8


def tool_variant(elements: tuple[Element, ...]) -> Variant:
    """P0 without tools; P3 when the model chooses calls; P4 when tools only supply the input."""
    if any(element.category == "C6" for element in elements):
        return "P3"
    if any(element.tag == "TOOL_INPUT" and element.category in ("C4", "C5") for element in elements):
        return "P4"
    return "P0"


def archetype_of(spec: Spec, elements: tuple[Element, ...], variant: Variant) -> tuple[Archetype, float]:
    """Words of the description weigh three times those of the body; tags of the elements are added."""
    scores: dict[Archetype, float] = dict.fromkeys(facts.ARCHETYPES, 0.0)
    head = f"{spec.name} {spec.description}"
    length = max(1.0, len(spec.body) / 2000)
    for text, weight in ((head, 3.0), (spec.body, 1 / length)):
        said = Counter(match.lastgroup for match in ARCHETYPE_WORDS.finditer(text.lower()))
        for archetype in facts.ARCHETYPES:
            scores[archetype] += weight * said[archetype]
    tags = Counter(element.tag for element in elements if element.step is not None)
    steps = sum(tags.values())
    if steps:
        checking = tags["EXTRACT"] + tags["CLASSIFY"] + tags["VALIDATE_DOMAIN"]
        scores["A"] += 3 * checking / steps
        scores["B"] += 3 * tags["GENERATE"] / steps
        scores["D2"] += 2 * tags["ORCHESTRATE"] / steps
    else:
        scores["E"] += 3
    servers = [element for element in elements if element.row in ("M-10", "M-31", "M-33")]
    if variant != "P0" and servers and steps <= 3:
        scores["D1"] += 4
    ranked = sorted(scores, key=lambda one: -scores[one])
    total = sum(scores.values())
    return ranked[0], round(scores[ranked[0]] / total, 2) if total else 0.5


def shape_of(archetype: Archetype, steps: int) -> Shape:
    if steps >= 3 or (archetype in ("A", "B", "C") and steps == 2):
        return "Sequential"
    return "One-shot"
