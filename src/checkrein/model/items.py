"""Source items: what one file of one scope says, before anything is resolved.

Every item carries the Origin of its file (or of its entry in a JSON file) in `origin` and the place of each
field in `spans`; `where(field)` gives a field's Origin. `unknown` keeps fields that the dialect does not
know, as written.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from checkrein.base.origin import Origin, Span
from checkrein.model.rule import Rule

Kind = Literal[
    "skill", "command", "agent", "hook", "rule", "server", "instruction", "plugin", "setting", "marketplace"
]


class Item(Struct, frozen=True, kw_only=True, tag_field="item", tag=str.lower):
    name: str
    origin: Origin
    spans: dict[str, Span] = {}
    unknown: dict[str, Any] = {}

    def where(self, field: str) -> Origin:
        """The Origin of one field, or the item's own if the file does not have the field."""
        span = self.spans.get(field)
        if span is None:
            return self.origin
        return self.origin.at(span, f"{self.origin.field or 'frontmatter'}.{field}")


class Hook(Item, frozen=True, kw_only=True):
    """One handler of one matcher group. `name` is the event. `position` orders the hooks of one file."""

    type: str
    matcher: str | None = None
    command: str | None = None
    args: tuple[str, ...] | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    allowed_env: tuple[str, ...] = ()
    prompt: str | None = None
    model: str | None = None
    server: str | None = None
    tool: str | None = None
    input: dict[str, Any] = {}
    condition: str | None = None
    timeout: float | None = None
    status_message: str | None = None
    shell: str | None = None
    once: bool = False
    run_async: bool = False
    async_rewake: bool = False
    continue_on_block: bool = False
    fail_closed: bool = False
    plugin: str | None = None

    @property
    def event(self) -> str:
        return self.name


class Invocable(Item, frozen=True, kw_only=True):
    """What skills and commands share: they are one thing in two places.

    `injected` are fields that a reader filled in and the file does not have.
    """

    description: str | None = None
    when_to_use: str | None = None
    display_name: str | None = None
    argument_hint: str | None = None
    arguments: tuple[str, ...] = ()
    model_invocable: bool = True
    user_invocable: bool = True
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    effort: str | None = None
    context: str | None = None
    agent: str | None = None
    background: bool | None = None
    hooks: tuple[Hook, ...] = ()
    paths: tuple[str, ...] = ()
    shell: str | None = None
    metadata: dict[str, Any] = {}
    license: str | None = None
    compatibility: str | None = None
    behavior: dict[str, Any] = {}
    agents: dict[str, Any] = {}
    categories: tuple[str, ...] = ()
    activate_deps: tuple[str, ...] = ()
    body: str = ""
    body_line: int = 1
    has_frontmatter: bool = True
    injected: tuple[str, ...] = ()
    plugin: str | None = None

    @property
    def summary(self) -> str:
        """The description, or else the body's first paragraph."""
        if self.description is not None:
            return self.description
        paragraph: list[str] = []
        for line in self.body.splitlines():
            text = line.strip()
            if text and not text.startswith("#"):
                paragraph.append(text)
            elif paragraph:
                break
        return " ".join(paragraph)


class Skill(Invocable, frozen=True, kw_only=True):
    """A directory with a SKILL.md. `name` is what the user types; `directory` is the skill's root."""

    directory: str


class Command(Invocable, frozen=True, kw_only=True):
    """A Markdown file under `commands/`; its name joins folder and stem: `ns:inner`."""


class Agent(Item, frozen=True, kw_only=True):
    """A subagent definition. `tools` None means all tools."""

    description: str | None = None
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    permission_mode: str | None = None
    max_turns: int | None = None
    skills: tuple[str, ...] = ()
    server_names: tuple[str, ...] = ()
    servers: tuple[Server, ...] = ()
    hooks: tuple[Hook, ...] = ()
    memory: str | None = None
    background: bool | None = None
    effort: str | None = None
    isolation: str | None = None
    color: str | None = None
    initial_prompt: str | None = None
    behavior: dict[str, Any] = {}
    agents: dict[str, Any] = {}
    body: str = ""
    body_line: int = 1
    plugin: str | None = None


class Server(Item, frozen=True, kw_only=True):
    """An MCP server entry. `env` and `headers` may hold secrets: output redacts them."""

    transport: str = "stdio"
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str | None = None
    headers: dict[str, str] = {}
    headers_helper: str | None = None
    oauth: dict[str, Any] = {}
    timeout_ms: int | None = None
    always_load: bool = False
    cwd: str | None = None
    plugin: str | None = None
    problem: str | None = None


InstructionKind = Literal["memory", "local", "rule", "agents_md", "import"]


class Import(Struct, frozen=True):
    """An `@path` in an instruction file. `target` is None when it leads nowhere; `skipped` says why."""

    text: str
    span: Span
    target: str | None = None
    skipped: str | None = None


class Instruction(Item, frozen=True, kw_only=True):
    """A memory file. `text` is what enters the context (block comments removed), `name` its path."""

    kind: InstructionKind
    text: str
    paths: tuple[str, ...] = ()
    imports: tuple[Import, ...] = ()
    imported_by: str | None = None
    lazy: bool = False
    size: int = 0


class Setting(Item, frozen=True, kw_only=True):
    """One leaf of one settings file. `name` is the dotted key; each list element is a separate setting."""

    value: Any
    element: bool = False
    sensitive: bool = False


class Plugin(Item, frozen=True, kw_only=True):
    """A plugin manifest (or a directory that acts as one)."""

    root: str
    version: str | None = None
    description: str | None = None
    author: dict[str, Any] = {}
    homepage: str | None = None
    repository: str | None = None
    license: str | None = None
    keywords: tuple[str, ...] = ()
    dependencies: tuple[Any, ...] = ()
    user_config: dict[str, Any] = {}
    components: dict[str, Any] = {}
    format: Literal["claude", "agent_plugins", "none"] = "claude"
    marketplace: str | None = None
    enabled: bool = True


class PluginEntry(Item, frozen=True, kw_only=True):
    """One entry of a marketplace; `source_kind` is one of the documented source kinds."""

    source_kind: str
    source: dict[str, Any]
    version: str | None = None
    description: str | None = None
    strict: bool = True


class Marketplace(Item, frozen=True, kw_only=True):
    owner: dict[str, Any] = {}
    entries: tuple[PluginEntry, ...] = ()
    description: str | None = None


class Credential(Struct, frozen=True):
    """A place that may hold credentials. Checkrein knows only that it exists, and never opens or runs it."""

    name: str
    origin: Origin
    exists: bool


class SwitchedOff(Struct, frozen=True):
    """A server that the user switched off for this project, by its name."""

    name: str
    origin: Origin


AnyItem = Skill | Command | Agent | Hook | Rule | Server | Instruction | Plugin | Setting | Marketplace
