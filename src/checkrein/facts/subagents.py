"""Subagents: their limits, the tools they lose, and the variables that change either."""

from __future__ import annotations

from collections.abc import Mapping

AGENT_TOOL = "Agent"
EXPLORE = "Explore"
PLAN = "Plan"
COORDINATOR = "coordinator"
"""Our agent for a main conversation that leads others. It has all tools, for they have no more than it."""
FORK = "fork"
"""What a call names to continue the conversation itself in a child. It is not a type of agent."""

READING_TOOLS = ("Read", "Grep", "Glob", "Bash", "WebFetch", "WebSearch")
"""The tools of the built-in agents that change nothing. The rules of the parent judge their Bash."""

MEMORY_TOOLS = ("Read", "Write", "Edit")
"""An agent with a memory has these, to keep it."""

WITHOUT: tuple[str, ...] = (
    "AskUserQuestion",
    "EndConversation",
    "EnterPlanMode",
    "ExitPlanMode",
    "ScheduleWakeup",
    "TaskOutput",
    "WaitForMcpServers",
    "Workflow",
)
"""Tools that a subagent never has. A fork keeps them, and ExitPlanMode stays in the mode plan."""

IN_BACKGROUND: tuple[str, ...] = (
    "Read",
    "Grep",
    "Glob",
    "Bash",
    "PowerShell",
    "Edit",
    "Write",
    "NotebookEdit",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "Skill",
    "ToolSearch",
    "EnterWorktree",
    "ExitWorktree",
    "Monitor",
    "TaskStop",
    "SendMessage",
    "Artifact",
)
"""The built-in tools that a subagent in the background keeps. It keeps all tools of servers too."""

OF_TEAMMATES: tuple[str, ...] = (
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "CronCreate",
    "CronDelete",
    "CronList",
)
"""What a teammate keeps besides."""

DEPTH = 3
"""Layers of subagents below the main conversation."""
RUNNING = 20
"""Subagents that run at once."""
PARALLEL = 10
"""Calls of one reply that run at once: of tools that only read, and of subagents."""
REPORT_CHARS = 32_000
MOST_REPORT_CHARS = 160_000
STALL_MS = 600_000
"""How long a subagent in the background may show no sign of life."""
PREFIX_STAGGER_MS = 5_000
"""How long siblings wait for the first one's prefix to be in the cache."""
PRINT_WAIT_MS = 600_000
"""How long a run with `-p` waits for the subagents in its background."""

ENV_MODEL = "CLAUDE_CODE_SUBAGENT_MODEL"
ENV_DEPTH = "CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH"
ENV_RUNNING = "CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS"
ENV_PARALLEL = "CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY"
ENV_REPORT_CHARS = "TASK_MAX_OUTPUT_LENGTH"
ENV_STALL_MS = "CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS"
ENV_PREFIX_STAGGER_MS = "CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS"
ENV_PRINT_WAIT_MS = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS"
ENV_NO_BACKGROUND = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"
ENV_FORK = "CLAUDE_CODE_FORK_SUBAGENT"
ENV_TEAMS = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"
ENV_NO_EXPLORE_PLAN = "CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS"
ENV_NO_BUILTIN = "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS"
"""Without effect in an interactive session."""

VARIABLES: tuple[tuple[str, int | None, str], ...] = (
    (ENV_MODEL, None, "the model of every subagent, whatever the call or the definition says"),
    (
        ENV_DEPTH,
        DEPTH,
        "layers of subagents below the main conversation; 1 means that no subagent has others",
    ),
    (ENV_RUNNING, RUNNING, "subagents that run at once; a call above it fails"),
    (ENV_PARALLEL, PARALLEL, "calls of one reply that run at once: those that only read, and subagents"),
    (
        ENV_REPORT_CHARS,
        REPORT_CHARS,
        f"characters of a report, at most {MOST_REPORT_CHARS:,}; a file has all",
    ),
    (ENV_STALL_MS, STALL_MS, "milliseconds without a sign of life, after which one in the background ends"),
    (ENV_PREFIX_STAGGER_MS, PREFIX_STAGGER_MS, "milliseconds that siblings wait for the first one's prefix"),
    (ENV_PRINT_WAIT_MS, PRINT_WAIT_MS, "milliseconds that `-p` waits for its subagents in the background"),
    (ENV_NO_BACKGROUND, None, "`1`: nothing runs in the background"),
    (ENV_FORK, None, "`1`: the conversation may fork; `0`: it may not, not even at a terminal"),
    (ENV_NO_EXPLORE_PLAN, None, "`1`: no Explore and no Plan"),
    (ENV_NO_BUILTIN, None, "`1`: no built-in agent, in sessions that are not interactive"),
)
"""Each variable with its default and what it does, as the page of agents lists them."""

_YES = ("1", "true", "yes", "on")


def is_on(env: Mapping[str, str], variable: str) -> bool:
    return env.get(variable, "").strip().lower() in _YES


def limit(env: Mapping[str, str], variable: str, default: int, most: int | None = None) -> int:
    """The number that a variable sets: whole, at least 1, at most `most`. Anything else is the default."""
    written = env.get(variable, "").strip()
    found = int(written) if written.isascii() and written.isdigit() else 0
    if found < 1:
        return default
    return found if most is None else min(found, most)
