"""Invoke a skill or a command: make its text for the model, and find what it changes for the turn."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import PolicyError
from checkrein.base.origin import BOUND_SCOPES
from checkrein.facts.claude import SYNCED_SKILLS
from checkrein.model.items import Command, Hook, Invocable, Plugin, Skill
from checkrein.model.project import Project
from checkrein.model.rule import Rule, parse_rule
from checkrein.passes.agents.child_terms import is_file_model

if TYPE_CHECKING:
    from checkrein.runtime.skills.template import Piece

_VARIABLE = re.compile(r"\$\{([A-Za-z_][\w.-]*)\}")
_ULTRATHINK = re.compile(r"\bultrathink\b", re.IGNORECASE)
OPTION = "user_config."
"""The prefix for the name of a plugin's option, among its variables."""
DISABLED_SHELL = "[shell command execution disabled by policy]"


class Invocation(Struct, frozen=True, kw_only=True):
    """`text` is what the model gets, `attached` the files and notes that come with it. `allow`, `disallow`,
    `model` and `effort` hold until the turn ends, `hooks` for the session."""

    name: str
    text: str
    args: str
    item: Invocable
    allow: tuple[Rule, ...] = ()
    disallow: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    model: str | None = None
    effort: str | None = None
    attached: tuple[str, ...] = ()


class InvocationRefusedError(PolicyError):
    default_kind = "skill_refused"


RunShell = Callable[[str, Invocable], str]
"""Runs a `!` command through the gate and returns its output. Raises InvocationRefusedError when the gate
refuses the command or it fails."""


def invoke(
    item: Invocable,
    raw: str,
    variables: Mapping[str, str],
    run_shell: RunShell,
    *,
    shell_enabled: bool = True,
) -> Invocation:
    """Raises InvocationRefusedError when the gate refuses a command of the body or it fails."""
    from checkrein.runtime.skills.template import arguments, render

    if is_synced(item):
        shell_enabled = False
    known = {**variables, **_own_variables(item)}

    def run(piece: Piece, command: str) -> str:
        return run_shell(command, item) if shell_enabled else DISABLED_SHELL

    given = arguments(raw, item.arguments)
    text = render(item.body, given, known, run)
    return Invocation(
        name=item.name,
        text=_deep(text.strip("\n")),
        args=raw,
        item=item,
        allow=pre_approvals(item, known),
        disallow=item.disallowed_tools,
        hooks=item.hooks,
        model=_model(item),
        effort=item.effort,
    )


def _model(item: Invocable) -> str | None:
    """None leaves the session's. A file that plays a model is the user's choice alone."""
    name = item.model
    if name is None or name == "inherit" or (item.origin.scope in BOUND_SCOPES and is_file_model(name)):
        return None
    return name


def _deep(text: str) -> str:
    """`ultrathink` in a body asks for deeper reasoning. Words do that here, so the request keeps its form."""
    return f"{text}\n\nThink this through in depth before you act." if _ULTRATHINK.search(text) else text


def _own_variables(item: Invocable) -> dict[str, str]:
    if isinstance(item, Skill):
        return {"CLAUDE_SKILL_DIR": item.directory}
    return {"CLAUDE_SKILL_DIR": os.path.dirname(item.origin.file)} if isinstance(item, Command) else {}


def is_synced(item: Invocable) -> bool:
    """Whether a skill came from the user's account elsewhere. Such a skill runs nothing here."""
    folder = os.path.basename(os.path.dirname(item.directory)) if isinstance(item, Skill) else ""
    return item.origin.scope == "user" and folder.lower() == SYNCED_SKILLS


def enabled_plugins(project: Project) -> list[Plugin]:
    """Items of a plugin carry the plugin's own name, for any marketplace."""
    return [found.item for found in project.plugins.values() if found.item.enabled]


def plugin_variables(plugin: Plugin, project: Project) -> dict[str, str]:
    """The plugin's directory, its data directory, and the user's values for options that are not secret.

    A project's own files can't set the options."""
    key = f"{plugin.name}@{plugin.marketplace}" if plugin.marketplace else plugin.name
    data = os.path.join(project.place.config_dir, "plugins", "data", re.sub(r"[^\w-]", "-", key))
    values = {"CLAUDE_PLUGIN_ROOT": plugin.root, "CLAUDE_PLUGIN_DATA": data}
    for name, option in plugin.user_config.items():
        declared = option if isinstance(option, dict) else {}
        value = _option(project, key, name)
        value = declared.get("default") if value is None else value
        if value is not None and not declared.get("sensitive"):
            values[f"{OPTION}{name}"] = str(value)
    return values


def _option(project: Project, plugin: str, name: str) -> object:
    effective = project.settings.get(f"pluginConfigs.{plugin}.options.{name}")
    for candidate in effective.candidates if effective else ():
        if candidate.item.origin.scope not in ("project", "local"):
            value: object = candidate.item.value
            return value
    return None


def pre_approvals(item: Invocable, variables: Mapping[str, str]) -> tuple[Rule, ...]:
    """The allow rules of `allowed-tools`, with variables replaced in Bash rules. Arguments are not replaced:
    `Bash($ARGUMENTS)` would approve anything a user types. A rule that becomes empty is dropped."""
    origin = item.where("allowed-tools")
    known = {**variables, **_own_variables(item)}
    rules = []
    for text in item.allowed_tools:
        written = parse_rule(text, "allow", origin)
        filled = _VARIABLE.sub(lambda found: known.get(found[1], found[0]), text)
        rule = parse_rule(filled, "allow", origin) if text.startswith("Bash(") else written
        if rule.specifier is not None or written.specifier is None:
            rules.append(rule)
    return tuple(rules)


def command_blocks(invocation: Invocation) -> tuple[str, str]:
    """The two texts for a typed `/name args`: the header, and the body."""
    header = (
        f"<command-message>{invocation.name}</command-message>\n"
        f"<command-name>/{invocation.name}</command-name>\n"
        f"<command-args>{invocation.args}</command-args>"
    )
    return header, invocation.text
