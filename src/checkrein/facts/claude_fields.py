"""The frontmatter fields of each kind of file: name, shape, closed value set, meaning.

A shape says how to read a value: `text` takes any scalar, `flag` the usual words for yes and no, `names` and
`globs` a list or a comma string, `tools` a list or a string split outside parentheses. An `intent` is
Checkrein's own map. Other agents use the same names for other things, so another form is not a finding.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.facts import claude

Shape = Literal[
    "text", "flag", "int", "names", "words", "tools", "globs", "map", "intent", "hooks", "servers"
]


class Field(Struct, frozen=True):
    name: str
    shape: Shape
    doc: str
    values: tuple[str, ...] = ()
    required: bool = False


_NAME = Field("name", "text", "The label; users type the folder's name.")
_DESCRIPTION = Field("description", "text", "What it does and when to use it; the model chooses by it.")
_HOOKS = Field("hooks", "hooks", "Hooks that live while it is active.")
_EFFORT = Field("effort", "text", "How hard the model thinks.", claude.EFFORTS)
_MODEL = Field("model", "text", "The model: an alias, a full id, or `inherit`.")
_BEHAVIOR = Field("behavior", "intent", "Checkrein's agent-neutral intent; `checkrein deploy` translates it.")
_AGENTS = Field("agents", "intent", "Fields for one agent only; `checkrein deploy` writes them.")

STANDARD_FIELDS: tuple[Field, ...] = (
    Field("name", "text", "Lowercase words joined by `-`, equal to the folder's name.", required=True),
    Field("description", "text", "What the skill does and when to use it.", required=True),
    Field("license", "text", "A licence, or the name of a bundled file."),
    Field("compatibility", "text", "What the skill needs, in up to 500 characters."),
    Field("metadata", "map", "The author's own keys and values."),
    Field("allowed-tools", "tools", "Tools that need no approval while the skill is active."),
)

SKILL_FIELDS: tuple[Field, ...] = (
    _NAME,
    _DESCRIPTION,
    Field("when_to_use", "text", "Added to the description in the listing."),
    Field("argument-hint", "text", "Shown when a user types the name."),
    Field("arguments", "words", "Names for the arguments, by position."),
    Field("disable-model-invocation", "flag", "Only the user may invoke it."),
    Field("user-invocable", "flag", "False hides it from the `/` list and refuses a typed name."),
    Field("allowed-tools", "tools", "Approved for the turn that uses it; never a restriction."),
    Field("disallowed-tools", "tools", "Removed until the next prompt."),
    _MODEL,
    _EFFORT,
    Field("context", "text", "`fork` runs it in a subagent.", claude.SKILL_CONTEXTS),
    Field("agent", "text", "The agent that a fork runs as."),
    Field("background", "flag", "False makes a fork wait."),
    _HOOKS,
    Field("paths", "globs", "The model loads it only after it reads a matching file."),
    Field("shell", "text", "The shell of `!` commands.", claude.SHELLS),
    Field("metadata", "map", "Kept, without effect."),
    Field("license", "text", "Kept, without effect."),
    Field("compatibility", "text", "Kept, without effect."),
    _BEHAVIOR,
    _AGENTS,
    Field("categories", "names", "Checkrein's subsets that it belongs to; one that is disabled hides it."),
    Field("activate_deps", "names", "Skills and categories that a Checkrein worker gets with this skill."),
)

COMMAND_IGNORED = ("name", "paths")
COMMAND_FIELDS: tuple[Field, ...] = tuple(f for f in SKILL_FIELDS if f.name not in COMMAND_IGNORED)

AGENT_FIELDS: tuple[Field, ...] = (
    Field("name", "text", "The agent's identity.", required=True),
    Field("description", "text", "When to hand work to it.", required=True),
    Field("tools", "tools", "The only tools it has; absent means all."),
    Field("disallowedTools", "tools", "Tools it does not have."),
    _MODEL,
    Field("permissionMode", "text", "Its permission mode; it can only narrow.", claude.PERMISSION_MODES),
    Field("maxTurns", "int", "The most turns it may take."),
    Field("skills", "names", "Skills whose text it starts with."),
    Field("mcpServers", "servers", "Names of servers, or its own servers."),
    _HOOKS,
    Field("memory", "text", "Where its memory is.", claude.AGENT_MEMORY),
    Field("background", "flag", "Always runs in the background."),
    _EFFORT,
    Field("isolation", "text", "`worktree` gives it a copy of the repository.", claude.ISOLATIONS),
    Field("color", "text", "Its colour on the screen.", claude.AGENT_COLORS),
    Field("initialPrompt", "text", "The first prompt when it is the main agent."),
    _BEHAVIOR,
    _AGENTS,
)

PLUGIN_AGENT_IGNORED = ("hooks", "mcpServers", "permissionMode")

RULE_FIELDS: tuple[Field, ...] = (
    Field("paths", "globs", "A session loads the rule when it reads a matching file."),
    Field("description", "text", "Kept, without effect."),
)


def names(fields: tuple[Field, ...]) -> frozenset[str]:
    return frozenset(field.name for field in fields)
