"""The agents that deploy can write for: what each accepts, where, in which form. Rows of `agents.toml`.

A surface that a row does not name is a concept that the agent lacks (or that we know nothing about). What a
project has of it becomes a loss.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from checkrein.base.jsonc import Comments
from checkrein.facts.behavior import OTHERS

CommandShape = Literal["skill", "markdown", "toml", "recipe"]
ToolShape = Literal["comma", "list", "permission", "sandbox", "readonly"]


class CommandForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a command goes. `companion` is a file that starts it; `folder` writes `ns:x` as `ns/x`."""

    form: CommandShape
    dir: str
    extension: str = ".md"
    separator: Literal["-", "."] = "."
    folder: bool = False
    inject_name: bool = False
    companion: str | None = None
    fields: tuple[str, ...] = ("description",)

    @property
    def places(self) -> tuple[str, ...]:
        """Where a command of this form is read; one that is a skill has no place of its own."""
        if self.form == "skill":
            return ()
        return (self.companion or f"{self.dir}/{{name}}{self.extension}",)


class SkillForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The directory of Agent Skills. `policy` is the file of a skill that withholds it from the model."""

    dir: str
    policy: str | None = None


class BodyForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent replaces in a body.

    `whole` means all arguments; `positions` is the number of the first argument, None where single
    arguments are not replaced; `shell` and `file` are the forms of injected output and attached files;
    `variables` are Claude Code's `${CLAUDE_…}`, `names` its named arguments.
    """

    whole: str = "$ARGUMENTS"
    positions: int | None = None
    shell: str | None = None
    file: str | None = None
    variables: bool = False
    names: bool = False


class AgentForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A subagent definition. `fields` maps our fields to theirs; `tools` is its form of a list of tools."""

    path: str
    fields: dict[str, str]
    tools: ToolShape
    format: Literal["markdown", "toml", "json"] = "markdown"
    name_key: str = "name"
    body_key: str = ""
    fixed: dict[str, Any] = {}


class InstructionForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Always-on text goes to `file` (in the directory of its source), rules for some paths to `rules`.

    `nested` replaces `file` below the root. Without `rules`, a rule becomes a section of `file`.
    `imports` says that the agent expands `@path` too. `native` are files of other agents that it reads by
    itself: paths from the root, where `*` is a name.
    """

    file: str
    nested: str | None = None
    rules: str | None = None
    scoped: Literal["claude", "copilot", "cursor", "windsurf", "kiro"] | None = None
    rule_limit: int | None = None
    imports: bool = False
    native: tuple[str, ...] = ()


class HookForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`project_dir` is what a command has there in place of `$CLAUDE_PROJECT_DIR`; empty: the same."""

    file: str
    shape: str
    events: dict[str, str]
    types: tuple[str, ...]
    matcher: bool = True
    timeout: str = "timeout"
    timeout_unit: Literal["s", "ms"] = "s"
    project_dir: str = ""


class DocumentForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON or TOML file that holds servers or rules; `shape` names its form.

    `native` are files of other agents that this agent reads by itself; where there is one of them, it does
    not read `file`. `env` is how this file refers to a variable, if not as the agent's others do.
    """

    file: str
    shape: str
    comments: Comments = "none"
    native: tuple[str, ...] = ()
    env: str | None = None


RuleSubject = Literal["tool", "command", "file", "host", "server", "mcp_tool", "skill", "agent"]


class RuleForm(DocumentForm, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Permission rules. `verdicts` and `subjects` are what the agent's rules can say.

    `subjects` are what a rule may be about: a whole tool, a shell command, a file, a host, an MCP server or
    one of its tools, a skill, a subagent. `condition` says when the agent reads the rules, if not always.
    """

    verdicts: tuple[Literal["allow", "ask", "deny"], ...] = ("allow", "ask", "deny")
    subjects: tuple[RuleSubject, ...] = get_args(RuleSubject)
    condition: str = ""


class Files(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an agent's files of each kind lie, relative to the project; the first is where one is written.

    `{name}` stands for the name of an item. An instruction file without a folder counts in every directory,
    a hidden one only in the root.
    """

    skill: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()
    instruction: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        """Every place once, kind by kind."""
        kinds = (getattr(self, kind) for kind in self.__struct_fields__)
        return tuple(dict.fromkeys(place for places in kinds for place in places))

    def __add__(self, other: Files) -> Files:
        """The places of both, each once."""
        fields = self.__struct_fields__
        return Files(**{f: tuple(dict.fromkeys((*getattr(self, f), *getattr(other, f)))) for f in fields})


class Target(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent. `env` is how its files refer to an environment variable, empty where they can't.

    `models` maps our names of models to its own: `*` is any other name of Claude, `?` another maker's.
    `reads` are the directories and files of other agents that it reads by itself; `home` says that it reads
    only from the user's home, where deploy does not write. `also` are places that it reads and that deploy
    does not write. `more_servers` are further files for the same servers, of its other programs.
    """

    key: str
    label: str
    dialect: str = "generic"
    aliases: tuple[str, ...] = ()
    spec_kit: bool = True
    home: bool = False
    reads: tuple[str, ...] = ()
    also: Files = Files()
    command: CommandForm | None = None
    skills: SkillForm | None = None
    skill_fields: tuple[str, ...] = ()
    body: BodyForm = BodyForm()
    body_limit: int | None = None
    models: dict[str, str] = {}
    efforts: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    mcp_tool: str | None = None
    mcp_server: str | None = None
    env: str = ""
    agents: AgentForm | None = None
    instructions: InstructionForm | None = None
    hooks: HookForm | None = None
    servers: DocumentForm | None = None
    more_servers: tuple[DocumentForm, ...] = ()
    rules: RuleForm | None = None

    @property
    def skill_dir(self) -> str | None:
        if self.skills is not None:
            return self.skills.dir
        return self.command.dir if self.command is not None and self.command.form == "skill" else None

    @property
    def files(self) -> Files:
        """Where the agent's files lie: those that the forms name, then those of `also`."""
        skill_dir, memory = self.skill_dir, self.instructions
        policy = None if self.skills is None else self.skills.policy
        own = Files(
            skill=() if skill_dir is None else (f"{skill_dir}/{{name}}/SKILL.md",),
            policy=() if policy is None else (f"{skill_dir}/{{name}}/{policy}",),
            command=() if self.command is None else self.command.places,
            agent=() if self.agents is None else (self.agents.path,),
            rule=() if memory is None or memory.rules is None else (memory.rules,),
            instruction=() if memory is None else tuple(filter(None, (memory.file, memory.nested))),
            hooks=() if self.hooks is None else (self.hooks.file,),
            servers=tuple(form.file for form in (self.servers, *self.more_servers) if form is not None),
            permissions=() if self.rules is None else (self.rules.file,),
        )
        return own + self.also


DEPLOYED = ".checkrein/deploy.json"
"""The file in a project that says what deploy wrote there."""


@cache
def targets() -> dict[str, Target]:
    """Every agent by key, in the order of the file."""
    text = (Path(__file__).parent / "agents.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)
    assert OTHERS not in rows
    return {key: msgspec.convert({"key": key, **row}, Target) for key, row in rows.items()}


@cache
def comments_in(path: str) -> Comments:
    """What the agents that read a file accept beside JSON."""
    rows = targets().values()
    forms = (form for row in rows for form in (row.servers, *row.more_servers, row.rules) if form is not None)
    return next((form.comments for form in forms if form.file == path), "none")


@cache
def _names() -> dict[str, str]:
    return {name: key for key, row in targets().items() for name in (key, *row.aliases)}


def find_target(name: str) -> Target | None:
    """The agent with this key or alias."""
    key = _names().get(name)
    return None if key is None else targets()[key]


def target_names() -> tuple[str, ...]:
    """Keys and aliases, for messages and completion."""
    return tuple(_names())
