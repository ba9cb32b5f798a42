"""The compilation of a spec to a package: tags, categories, dispositions, modalities, and their results.

A tag says what kind of work an element is, a category what it depends on, a disposition what compile does.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

Tag = Literal[
    "EXTRACT",
    "CLASSIFY",
    "GENERATE",
    "VALIDATE_OUTPUT",
    "VALIDATE_DOMAIN",
    "TRANSFORM",
    "QUERY",
    "DECIDE",
    "ORCHESTRATE",
    "CONVERSE",
    "REMEDIATE",
    "SCHEMA",
    "CONFIG",
    "TOOL_TEMPLATE",
    "DETERMINISTIC",
    "TOOL_INPUT",
    "NO_DECOMPOSE",
]
TAGS: tuple[Tag, ...] = get_args(Tag)

Category = Literal["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "—"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

CATEGORY_KEYS: dict[Category, str] = {
    "C1": "c1_identity",
    "C2": "c2_operating_rules",
    "C3": "c3_user_facts",
    "C4": "c4_short_term_state",
    "C5": "c5_long_term_memory",
    "C6": "c6_tools",
    "C7": "c7_credentials",
    "C8": "c8_runtime_environment",
    "C9": "c9_scheduling",
}
CATEGORY_TITLES: dict[Category, str] = {
    "C1": "Identity",
    "C2": "Operating rules",
    "C3": "Facts",
    "C4": "Short-term state",
    "C5": "Long-term memory",
    "C6": "Tools",
    "C7": "Credentials",
    "C8": "Runtime environment",
    "C9": "Scheduling and events",
    "—": "Everything else",
}

# A tag may have only these categories; tags that are not here may have any.
ONLY: dict[Tag, frozenset[str]] = {
    "SCHEMA": frozenset({"—"}),
    "TOOL_TEMPLATE": frozenset({"C6"}),
    "NO_DECOMPOSE": frozenset({"—"}),
    "CONFIG": frozenset(CATEGORIES) - {"C4", "C5", "C9"},
}

Disposition = Literal[
    "bundle",
    "real_impl",
    "stub",
    "mock",
    "delegate_to_runtime",
    "external_input",
    "load_from_disk",
    "remove",
]
DISPOSITIONS: tuple[Disposition, ...] = get_args(Disposition)

DEFAULT_DISPOSITION: dict[Category, Disposition] = {
    "C1": "bundle",
    "C2": "bundle",
    "C3": "bundle",
    "C4": "delegate_to_runtime",
    "C5": "delegate_to_runtime",
    "C6": "stub",
    "C7": "external_input",
    "C8": "bundle",
    "C9": "delegate_to_runtime",
}

Modality = Literal[
    "synchronous_oneshot",
    "streaming",
    "conversational_session",
    "review_gated",
    "scheduled",
    "event_triggered",
    "heartbeat",
    "realtime_media",
]
MODALITIES: tuple[Modality, ...] = get_args(Modality)
# Modalities with their own shape. The others run as one shot, and SETUP.md says what the host does.
OWN_SHAPE: tuple[Modality, ...] = ("synchronous_oneshot", "streaming", "conversational_session")

Archetype = Literal["A", "B", "C", "D1", "D2", "E"]
ARCHETYPES: dict[Archetype, str] = {
    "A": "Analysis",
    "B": "Generation",
    "C": "Diagnosis",
    "D1": "Integration",
    "D2": "Orchestration",
    "E": "Knowledge",
}
Shape = Literal["Sequential", "One-shot"]
Variant = Literal["P0", "P2", "P3", "P4"]
VARIANTS: dict[Variant, str] = {
    "P0": "No tools",
    "P2": "Pipeline calls tools (deterministic)",
    "P3": "Pipeline calls tools (LLM-directed)",
    "P4": "Tools provide input",
}

Level = Literal["full", "inventory"]
DIALECTS: dict[str, tuple[Level, str]] = {
    "agent_skills_std": ("full", "Skills of the open standard."),
    "claude_code": ("full", "Skills, commands and subagents with their settings, servers and instructions."),
    "openclaw": (
        "inventory",
        "Workspace files by role; heartbeat and memory are delegated, channels are not mapped.",
    ),
    "letta": (
        "inventory",
        "One agent file: blocks, tools, environment names; messages and archives are left out.",
    ),
    "crewai": (
        "inventory",
        "Agents and tasks of the YAML files; delegation and hierarchical processes are not mapped.",
    ),
    "langgraph": (
        "inventory",
        "Nodes in source order as steps; edges, checkpointers and stores are only listed.",
    ),
    "autogen": ("inventory", "Agents with their messages; group chats and handoffs are not mapped."),
    "openai_agents_sdk": (
        "inventory",
        "Agents with their instructions; handoffs and guardrails are only listed.",
    ),
    "smolagents": ("inventory", "Agents with their instructions and imports; tools are only listed."),
    "hybrid": ("inventory", "The first contributor leads; what the others add is appended."),
}

Primitive = Literal[
    "@generative",
    "m.instruct",
    "m.chat",
    "Requirement",
    "BaseModel",
    "Final",
    "function",
    "while_loop",
    "parameter",
    "loader_call",
    "stub",
    "none",
    "bundle",
    "orchestrate",
    "requirement",
    "delegate",
    "real_impl",
]


class TagTarget(Struct, frozen=True):
    """The result for an element of the spec's text that no row of the dialect names."""

    primitive: Primitive
    file: str
    meaning: str


TAG_TARGETS: dict[Tag, TagTarget] = {
    "EXTRACT": TagTarget("@generative", "slots.py", "take facts out of the input"),
    "CLASSIFY": TagTarget("@generative", "slots.py", "choose one of a set"),
    "GENERATE": TagTarget("m.instruct", "pipeline.py", "write something new"),
    "VALIDATE_OUTPUT": TagTarget("Requirement", "requirements.py", "a check of the agent's own output"),
    "VALIDATE_DOMAIN": TagTarget("m.instruct", "pipeline.py", "a check of something outside, with a verdict"),
    "TRANSFORM": TagTarget("m.instruct", "pipeline.py", "change the form of something"),
    "QUERY": TagTarget("m.instruct", "pipeline.py", "ask a question of something"),
    "DECIDE": TagTarget("m.instruct", "pipeline.py", "a choice between ways to go on"),
    "ORCHESTRATE": TagTarget("orchestrate", "pipeline.py", "a step that does or coordinates work"),
    "CONVERSE": TagTarget("parameter", "pipeline.py", "something a person is asked"),
    "REMEDIATE": TagTarget("while_loop", "pipeline.py", "fix and check again, a bounded number of times"),
    "SCHEMA": TagTarget("BaseModel", "schemas.py", "the shape of an input or output"),
    "CONFIG": TagTarget("bundle", "config.py", "text or values the agent carries"),
    "TOOL_TEMPLATE": TagTarget("stub", "constrained_slots.py", "a tool or a command to run"),
    "DETERMINISTIC": TagTarget("bundle", "config.py", "a lookup or a template that plain code applies"),
    "TOOL_INPUT": TagTarget("parameter", "pipeline.py", "a value that comes from outside"),
    "NO_DECOMPOSE": TagTarget("none", "", "nothing to compile: links, credits, decoration"),
}

CATEGORY_MEANINGS: dict[Category, str] = {
    "C1": "who the agent is: purpose, role, tone, what never changes",
    "C2": "how it works: directives, conditions, rules, approvals",
    "C3": "what it knows: facts, explanations, samples, tables",
    "C6": "tools and commands",
    "C7": "credentials",
    "C8": "what must be installed or available",
    "—": "nothing",
}
"""The categories that text of a body may have."""
STEP_TAGS: dict[Tag, tuple[Category, ...]] = dict.fromkeys(
    (
        "EXTRACT",
        "CLASSIFY",
        "GENERATE",
        "VALIDATE_DOMAIN",
        "TRANSFORM",
        "QUERY",
        "DECIDE",
        "ORCHESTRATE",
        "CONVERSE",
        "REMEDIATE",
        "DETERMINISTIC",
    ),
    ("C2",),
)
TEXT_TAGS: dict[Tag, tuple[Category, ...]] = {
    "CONFIG": ("C1", "C2", "C3", "C8"),
    "VALIDATE_OUTPUT": ("C2",),
    "CONVERSE": ("C2",),
    "DETERMINISTIC": ("C3",),
    "TOOL_TEMPLATE": ("C6",),
    "NO_DECOMPOSE": ("—",),
}
"""The tags a model may choose for a step, and for other text: a step stays a step."""
LOW_CONFIDENCE = 0.7
"""Below this, only the mood of a sentence supports a tag, and compile may ask a model."""

FORMAT_VERSION = "1.1"
COVERAGE = 0.95
MAX_REMEDIATION = 3
MAX_ATTEMPTS = 2
MAX_TOOL_ROUNDS = 8
STEPS_BEFORE = 4
"""How many results before it a step gets in full."""
IMPORT_DEPTH = 5
SUMMARY_CHARS = 120
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_WORKSPACE_BYTES = 50 * 1024 * 1024
COMPANIONS = ("scripts", "references", "reference", "assets")
SEEN_ONLY = ("evals", "eval-viewer", "agents", "shared")
OWN_FILES = ("SKILL.md", "skill.md", "spec.md", "LICENSE", "LICENSE.txt", "LICENSE.md", "pyproject.toml")
"""Files beside a spec that the package never carries as companions."""
RUNNERS: dict[str, str] = {
    ".py": "python",
    ".sh": "bash",
    ".bash": "bash",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".ts": "npx tsx",
    ".rb": "ruby",
    ".pl": "perl",
    ".ps1": "pwsh",
}
"""The program for a script, by the script's ending. The package starts no script; its host does."""
PROSE = (".md", ".mdx", ".txt", ".rst")
DATA = (".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv", ".tsv", ".xml")
REFERENCE_CHARS = 24_000
"""How much reference text every step gets; references that the step names are extra."""
DEFAULT_BACKEND = "ollama"
DEFAULT_MODEL = "granite4:micro"
MELLEA = "mellea>=0.8,<0.9"
SETTINGS_ORDER = ("managed", "command line", "local", "project", "user")
SKILL_ORDER = ("managed", "user", "project", "plugin")

EXITS: tuple[tuple[int, str], ...] = (
    (0, "written, or up to date"),
    (1, "stale, refused, or failed"),
    (2, "wrong usage"),
)
KINDS: dict[str, tuple[int, str]] = {
    "spec_not_found": (1, "the spec does not exist or can't be read"),
    "classification_halt": (1, "the spec's axes contradict each other"),
    "plugin_not_found": (1, "`--plugin` does not name a plugin, or the plugin has no such part"),
    "element_not_found": (1, "`--explain` does not name an element"),
    "usage": (2, "an argument is wrong"),
    "runtime_unknown": (2, "`--source-runtime` does not name a dialect"),
    "terminal_missing": (2, "`--dependencies=ask` has no terminal to ask on"),
    "override_unknown": (2, "a saved decision is about something that the spec does not have"),
    "override_invalid": (2, "the entry does not allow a saved decision"),
    "overrides_unreadable": (2, "the file of `config:PATH` can't be read"),
    "overrides_invalid": (2, "the file of `config:PATH` holds no decisions"),
    "output_conflict": (3, "the output directory holds edited or foreign files, or links"),
    "strict_halt": (10, "`--dependencies=strict` met a stub or a delegate"),
    "lint_failed": (11, "the package does not pass its lints; nothing was written"),
    "smoke_failed": (12, "`--smoke` ran the package's tests, and they fail"),
    "smoke_unavailable": (12, "`--smoke` could not run them: no interpreter, or it lacks a module"),
}
"""Error kinds and the codes of the original's documents: `error.details.code` in the envelope."""
