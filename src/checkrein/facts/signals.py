"""Signals that show which runtime a project was written for.

Weights: strong 2.0, medium 1.0, weak 0.5. What `values` means depends on `test`:

    path      one of these exists in the workspace root; `*.af` and `skills/*/SKILL.md` match within a name
    all       all of these exist there
    above     one of these exists in the workspace root or any directory above it, or beside the spec
    beside    one of these exists beside the spec
    absent    none of these exists in the workspace root or above it
    location  the spec's path holds one of these
    spec      the spec's file name is one of these
    field     the spec's frontmatter has one of these fields
    value     the spec's frontmatter has the first as a field, with one of the others as its value
    only      the spec's frontmatter has no other fields than these
    matches   the spec's frontmatter field (first) matches the pattern (second)
    text      the spec's text matches the pattern
    python    a Python file of the project matches the pattern
    json      the JSON file (first) has the dotted key (second), with one of the others as its value if given
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.facts import agent_skills

STRONG, MEDIUM, WEAK = 2.0, 1.0, 0.5
HYBRID_THRESHOLD = 1.0
TIE_ORDER = (
    "agent_skills_std",
    "claude_code",
    "openclaw",
    "crewai",
    "langgraph",
    "autogen",
    "letta",
    "openai_agents_sdk",
    "smolagents",
)

Test = Literal[
    "path",
    "all",
    "above",
    "beside",
    "absent",
    "location",
    "spec",
    "field",
    "value",
    "only",
    "matches",
    "text",
    "python",
    "json",
]


class SignalFact(Struct, frozen=True):
    id: str
    dialect: str
    weight: float
    test: Test
    values: tuple[str, ...]
    evidence: str


def _facts(
    dialect: str, prefix: str, rows: list[tuple[float, Test, tuple[str, ...], str]]
) -> tuple[SignalFact, ...]:
    return tuple(
        SignalFact(f"{prefix}-{number:02}", dialect, weight, test, values, evidence)
        for number, (weight, test, values, evidence) in enumerate(rows, 1)
    )


CLAUDE = _facts(
    "claude_code",
    "DET",
    [
        (STRONG, "above", (".claude/",), "a `.claude/` directory"),
        (STRONG, "field", ("disable-model-invocation",), "frontmatter `disable-model-invocation`"),
        (STRONG, "field", ("user-invocable",), "frontmatter `user-invocable`"),
        (STRONG, "value", ("context", "fork"), "frontmatter `context: fork`"),
        (STRONG, "field", ("agent",), "frontmatter `agent`"),
        (STRONG, "field", ("hooks",), "frontmatter `hooks`"),
        (STRONG, "field", ("paths",), "frontmatter `paths`"),
        (MEDIUM, "value", ("shell", "bash", "powershell"), "frontmatter `shell`"),
        (MEDIUM, "field", ("argument-hint", "arguments"), "frontmatter `argument-hint` or `arguments`"),
        (MEDIUM, "field", ("model",), "frontmatter `model`"),
        (MEDIUM, "field", ("effort",), "frontmatter `effort`"),
        (
            STRONG,
            "location",
            ("/.claude/skills/", "/.claude/commands/", "/.claude/agents/"),
            "the spec is under `.claude/`",
        ),
        (STRONG, "above", (".claude/settings.json",), "`.claude/settings.json`"),
        (MEDIUM, "above", (".mcp.json",), "`.mcp.json`"),
        (
            MEDIUM,
            "above",
            (".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"),
            "a manifest in `.claude-plugin/`",
        ),
        (MEDIUM, "above", ("CLAUDE.md",), "`CLAUDE.md`"),
    ],
)
# Fields and places that no plain Agent Skills project has. One of them makes a skill a Claude Code skill.
EXTENSIONS = frozenset(fact.id for fact in CLAUDE[:13])

_STANDARD = (*agent_skills.FIELDS, "when_to_use")

AGENT_SKILLS = _facts(
    "agent_skills_std",
    "AS",
    [
        (STRONG, "spec", agent_skills.SKILL_FILES, "the spec is a SKILL.md"),
        (STRONG, "matches", ("name", agent_skills.NAME.pattern), "frontmatter `name` in the standard's form"),
        (STRONG, "field", ("description",), "frontmatter `description`"),
        (STRONG, "only", _STANDARD, "only fields of the standard"),
        (
            MEDIUM,
            "beside",
            ("scripts/", "references/", "reference/", "assets/"),
            "scripts, references or assets",
        ),
        (MEDIUM, "absent", (".claude/",), "no `.claude/`"),
        (MEDIUM, "absent", (".mcp.json",), "no `.mcp.json`"),
        (
            MEDIUM,
            "absent",
            ("SOUL.md", "crew.py", "langgraph.json", "letta.config.yaml"),
            "no other runtime's files",
        ),
        (MEDIUM, "path", (".agents/skills/",), "`.agents/skills/`"),
        (MEDIUM, "path", ("skills/*/SKILL.md",), "a collection of skills"),
    ],
)

_OPENCLAW = _facts(
    "openclaw",
    "OC",
    [
        (STRONG, "path", ("SOUL.md",), "`SOUL.md`"),
        (STRONG, "path", ("IDENTITY.md",), "`IDENTITY.md`"),
        (MEDIUM, "path", ("AGENTS.md",), "`AGENTS.md`"),
        (STRONG, "path", ("HEARTBEAT.md",), "`HEARTBEAT.md`"),
        (STRONG, "path", ("BOOTSTRAP.md",), "`BOOTSTRAP.md`"),
        (STRONG, "all", ("MEMORY.md", "memory/"), "`MEMORY.md` and `memory/`"),
        (STRONG, "path", ("memory-wiki/entities/", "memory-wiki/concepts/"), "`memory-wiki/`"),
        (STRONG, "json", ("openclaw.json", "agents.defaults.heartbeat"), "a heartbeat in `openclaw.json`"),
        (MEDIUM, "all", ("TOOLS.md", "USER.md", "AGENTS.md"), "`TOOLS.md`, `USER.md` and `AGENTS.md`"),
    ],
)

_LETTA = _facts(
    "letta",
    "LT",
    [
        (STRONG, "path", ("*.af",), "an `.af` file"),
        (STRONG, "path", ("letta.config.yaml",), "`letta.config.yaml`"),
        (MEDIUM, "python", (r"\barchival_memory_(insert|search)\b",), "archival memory calls"),
        (STRONG, "python", (r"\benable_sleeptime\b",), "`enable_sleeptime`"),
        (MEDIUM, "python", (r"\brequest_heartbeat\b",), "`request_heartbeat`"),
        (STRONG, "python", (r"\b(memgpt_agent|letta_v1_agent)\b",), "a Letta agent type"),
        (
            MEDIUM,
            "python",
            (r"\bLETTA_(PG_URI|SERVER_PASSWORD|ENCRYPTION_KEY)\b",),
            "Letta's environment variables",
        ),
    ],
)

_CREWAI = _facts(
    "crewai",
    "CR",
    [
        (
            STRONG,
            "all",
            ("config/agents.yaml", "config/tasks.yaml"),
            "`config/agents.yaml` and `config/tasks.yaml`",
        ),
        (STRONG, "python", (r"^\s*@(CrewBase|agent|task|crew)\b",), "CrewAI decorators"),
        (STRONG, "python", (r"^\s*from crewai\b",), "`from crewai import`"),
        (STRONG, "python", (r"^\s*@(start|listen|router)\(",), "CrewAI flow decorators"),
        (MEDIUM, "path", (".crewai/",), "`.crewai/`"),
        (MEDIUM, "python", (r"@crewai_event_bus\.on\b",), "CrewAI events"),
        (WEAK, "python", (r"\bMCPServerAdapter\b",), "`MCPServerAdapter`"),
    ],
)

_LANGGRAPH = _facts(
    "langgraph",
    "LG",
    [
        (STRONG, "path", ("langgraph.json",), "`langgraph.json`"),
        (
            STRONG,
            "python",
            (r"^\s*from langgraph\.graph import\b.*\bStateGraph\b",),
            "`StateGraph` is imported",
        ),
        (STRONG, "python", (r"Annotated\[.*\badd_messages\b",), "`add_messages`"),
        (STRONG, "python", (r"\bStateGraph\(",), "`StateGraph(...)`"),
        (MEDIUM, "python", (r"\b(checkpointer|MemorySaver)\b",), "a checkpointer"),
        (MEDIUM, "python", (r"^\s*from langgraph\.types import\b.*\binterrupt\b",), "interrupts"),
        (MEDIUM, "python", (r"\bCommand\(\s*goto=",), "`Command(goto=...)`"),
        (MEDIUM, "python", (r"\bBaseStore\b",), "a store"),
        (WEAK, "python", (r"\blanggraph\.prebuilt\b",), "`langgraph.prebuilt`"),
    ],
)

_AUTOGEN = _facts(
    "autogen",
    "AG",
    [
        (STRONG, "python", (r"^\s*(from|import) autogen(_agentchat)?\b",), "AutoGen is imported"),
        (MEDIUM, "python", (r"\bOAI_CONFIG_LIST\b",), "`OAI_CONFIG_LIST`"),
        (MEDIUM, "python", (r"\b(AssistantAgent|UserProxyAgent)\(",), "AutoGen agents"),
    ],
)

_OPENAI_AGENTS = _facts(
    "openai_agents_sdk",
    "OA",
    [
        (STRONG, "python", (r"\bRunner\.run(_sync|_streamed)?\(",), "`Runner.run`"),
        (MEDIUM, "python", (r"^\s*@function_tool\b",), "`@function_tool`"),
        (MEDIUM, "python", (r"\bhandoffs=\[",), "handoffs"),
        (WEAK, "python", (r"^\s*from agents import\b",), "`from agents import`"),
    ],
)

_SMOLAGENTS = _facts(
    "smolagents",
    "SM",
    [
        (STRONG, "python", (r"\b(CodeAgent|ToolCallingAgent)\(",), "smolagents agents"),
        (MEDIUM, "python", (r"^\s*from smolagents\b",), "`from smolagents import`"),
        (MEDIUM, "python", (r"\badditional_authorized_imports\b",), "`additional_authorized_imports`"),
        (WEAK, "python", (r"\bHfApiModel\(",), "`HfApiModel`"),
    ],
)

SIGNALS: tuple[SignalFact, ...] = (
    *AGENT_SKILLS,
    *CLAUDE,
    *_OPENCLAW,
    *_CREWAI,
    *_LANGGRAPH,
    *_AUTOGEN,
    *_LETTA,
    *_OPENAI_AGENTS,
    *_SMOLAGENTS,
)

# A skill that the compiler wrote itself says nothing about the project.
GENERATED_MARK = "auto-generated by Melleafy"
GENERATED_LINES = 30
