"""The executable surface of a project: everything in it that runs, or that widens what may run.

One walk over the source items makes two things that must never differ: the list of what needs trust,
and the sources without it. Deny and ask rules, instructions and skill texts are not part of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.files import beneath, read_text
from checkrein.base.origin import Origin, Span
from checkrein.dialects.claude.place import chain
from checkrein.model.items import Agent, Command, Hook, Item, Plugin, Server, Setting, Skill
from checkrein.model.project import Place, Sources
from checkrein.model.rule import Rule
from checkrein.policy.trust import Kind, SurfaceItem
from checkrein.runtime.trust.ownership import IsProject, project_content

_PLACES = frozenset({"origin", "spans", "unknown"})
_WITH_RECIPES = (".checkrein", ".autoskillit")
"""Without one of these folders nothing that knows recipes is imported."""
I = TypeVar("I", Skill, Command)  # noqa: E741


class Surface(Struct, frozen=True):
    """`kept` are the sources without the surface; `hooks` are the settings hooks that they leave out."""

    items: tuple[SurfaceItem, ...]
    kept: Sources
    hooks: tuple[Hook, ...] = ()

    @property
    def digest(self) -> str:
        """Equal for two surfaces that do the same; independent of order and line numbers."""
        return hashlib.sha256("\n".join(sorted({item.digest for item in self.items})).encode()).hexdigest()


def surface(place: Place, sources: Sources) -> Surface:
    walk = _Walk(place, sources)
    hooks = walk.without(sources.hooks, walk.hook)
    kept = replace(
        sources,
        plugins=tuple(walk.plugin(plugin) for plugin in sources.plugins),
        hooks=hooks,
        servers=walk.without(sources.servers, walk.server),
        rules=tuple(rule for rule in sources.rules if not walk.rule(rule)),
        settings=tuple(setting for setting in sources.settings if not walk.setting(setting)),
        skills=tuple(walk.invocable(skill) for skill in sources.skills),
        commands=tuple(walk.invocable(command) for command in sources.commands),
        agents=tuple(walk.agent(agent) for agent in sources.agents),
    )
    walk.configured()
    walk.workspaces()
    walk.add_scripts()
    left_out = (hook for hook in sources.hooks if hook not in hooks or walk.is_switched(hook.origin))
    return Surface(tuple(walk.items), kept, tuple(left_out))


T = TypeVar("T", Hook, Server)


class _Walk:
    def __init__(self, place: Place, sources: Sources) -> None:
        self.place = place
        self.is_project: IsProject = project_content(place)
        self.plugin_roots = {plugin.name: plugin.root for plugin in sources.plugins}
        self.items: list[SurfaceItem] = []
        self.switched: list[str] = []
        self.real = cache(os.path.realpath)

    def without(self, items: Iterable[T], note: Any) -> tuple[T, ...]:
        kept = []
        for item in items:
            if self.is_project(item.origin):
                note(item)
            else:
                kept.append(item)
        return tuple(kept)

    def add(
        self,
        kind: Kind,
        label: str,
        origin: Origin,
        content: Any,
        commands: Iterable[str] = (),
        plugin: str | None = None,
    ) -> None:
        from checkrein.runtime.trust.scripts import named_files

        file = os.path.relpath(origin.file, self.place.root)
        data = msgspec.json.encode((kind, file, content), enc_hook=str, order="deterministic")
        root = self.plugin_roots.get(plugin) if plugin else None
        files = named_files(commands, self.place, root, self.real)
        self.items.append(SurfaceItem(kind, label, origin, hashlib.sha256(data).hexdigest(), files))

    def hook(self, hook: Hook) -> None:
        from checkrein.base.secrets import redact_text

        what = " ".join((hook.command, *(hook.args or ()))) if hook.command else hook.url or hook.prompt or ""
        what = what or f"{hook.server}: {hook.tool}"
        matcher = f" ({hook.matcher})" if hook.matcher else ""
        label = f"{hook.name}{matcher}: {redact_text(what)}"
        self.add(
            "hook", label, hook.origin, _content(hook), _texts(hook.command, *(hook.args or ())), hook.plugin
        )

    def server(self, server: Server) -> None:
        from checkrein.base.secrets import redact_text

        what = " ".join((server.command, *server.args)) if server.command else server.url or ""
        commands = _texts(server.command, *server.args, server.headers_helper)
        label = f"{server.name}: {redact_text(what)}"
        self.add("server", label, server.origin, _content(server), commands, server.plugin)

    def plugin(self, plugin: Plugin) -> Plugin:
        """A plugin that the project switches on is off without trust, wherever its files are."""
        switch = plugin.switch
        if switch is None or not plugin.enabled or not self.is_project(switch):
            return plugin
        self.add("plugin", plugin.identity, switch, (plugin.identity, plugin.hash, plugin.entry))
        self.switched.append(plugin.root)
        return replace(plugin, enabled=False)

    def is_switched(self, origin: Origin) -> bool:
        """Whether something belongs to such a plugin."""
        return origin.scope == "plugin" and any(beneath(origin.file, root) for root in self.switched)

    def configured(self) -> None:
        """The commands in the project's own configuration, which the kitchen's tools run."""
        if not _may_have_commands(self.place.root):
            return
        from pathlib import Path

        from checkrein.base.config import load_config
        from checkrein.facts.config import KEYS
        from checkrein.facts.trust import COMMAND_KEYS

        nowhere = Path(self.place.root, ".checkrein", "no-home")
        config = load_config(
            (key for key in KEYS if key.name in COMMAND_KEYS), Path(self.place.root), nowhere, {}
        )
        for name, found in config.values.items():
            if found.layer == "project" and found.origin is not None and found.value:
                self.add(
                    "helper", f"{name}: {found.value}", found.origin, (name, found.value), _texts(found.value)
                )

    def workspaces(self) -> None:
        """The repositories that recipes of the project clone and push to: as the user, and with the hooks of
        a repository on this machine. A session loads no recipes, so they are read here, and few are."""
        if not any(
            os.path.isdir(os.path.join(at, name)) for at in chain(self.place) for name in _WITH_RECIPES
        ):
            return
        from checkrein.passes.recipes.folders import recipe_folders

        for folder in recipe_folders(self.place):
            for file in _files_with(folder, "workspace"):
                self._workspace(file)

    def _workspace(self, file: str) -> None:
        from checkrein.base.secrets import redact_url
        from checkrein.dialects.codes import Log
        from checkrein.dialects.recipe.read import read_file

        recipe = read_file(file, "project", Log(self.place.within))
        if recipe is not None and recipe.workspace:
            label = f"{recipe.name}: {redact_url(recipe.workspace)}"
            self.add("workspace", label, recipe.where("workspace"), recipe.workspace)

    def rule(self, rule: Rule) -> bool:
        if rule.verdict != "allow" or not self.is_project(rule.origin):
            return False
        self.add("allow rule", rule.text, rule.origin, rule.text)
        return True

    def setting(self, setting: Setting) -> bool:
        from checkrein.base.secrets import redact, redact_text
        from checkrein.facts.trust import HELPER_KEYS, ITEM_KEYS

        if self.is_switched(setting.origin):
            return True
        if not self.is_project(setting.origin):
            return False
        key, value = setting.name, setting.value
        if _under(key, ITEM_KEYS):
            return True
        shown = redact(value, key.rpartition(".")[2])
        if _under(key, ("env",)):
            self.add("env", f"{key[4:]}={shown}", setting.origin, (key, value))
        elif _under(key, HELPER_KEYS):
            label = f"{key}: {redact_text(str(value))}"
            self.add("helper", label, setting.origin, (key, value), _texts(value))
        elif _under(key, ("permissions.additionalDirectories",)):
            self.add("directory", str(value), setting.origin, value)
        elif _widens(key, value):
            self.add("setting", f"{key}: {shown}", setting.origin, (key, value))
        else:
            return False
        return True

    def invocable(self, item: I) -> I:
        from checkrein.base.secrets import redact_text
        from checkrein.runtime.skills.template import pieces

        if not self.is_project(item.origin):
            return item
        for hook in item.hooks:
            self.hook(hook)
        if item.allowed_tools:
            label = f"{item.name}: {', '.join(item.allowed_tools)}"
            self.add("allowed tools", label, item.where("allowed-tools"), item.allowed_tools)
        for piece in pieces(item.body):
            if not piece.command:
                continue
            command = piece.text.strip()
            origin = item.origin.at(Span(item.body_line + piece.line - 1), "body")
            self.add(
                "shell line", f"{item.name}: {redact_text(command)}", origin, command, (command,), item.plugin
            )
        return replace(item, hooks=(), allowed_tools=())

    def agent(self, agent: Agent) -> Agent:
        if not self.is_project(agent.origin):
            return agent
        for hook in agent.hooks:
            self.hook(hook)
        for server in agent.servers:
            self.server(server)
        if agent.memory is not None:
            label = f"the memory of the agent {agent.name} ({agent.memory})"
            self.add("directory", label, agent.where("memory"), (agent.name, agent.memory))
        return replace(agent, hooks=(), servers=())

    def add_scripts(self) -> None:
        """Each file that a command names, once, as its own item."""
        named = {file: item.origin for item in reversed(self.items) for file in item.files}
        for file in sorted(named):
            shown = os.path.relpath(file, self.place.root)
            origin = Origin(file, named[file].scope)
            self.items.append(
                SurfaceItem("script", shown, origin, script_digest(file, self.place.root), (file,))
            )


def _files_with(folder: str, word: str) -> list[str]:
    """The YAML files below that may have this word. An escape can hide it from a look at the text."""
    every = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    texts = ((path, read_text(path, within=())) for path in every if path.endswith((".yaml", ".yml")))
    return sorted(
        path for path, found in texts if found.problem is not None or word in found.text or "\\" in found.text
    )


def _may_have_commands(root: str) -> bool:
    """A quick look at the text of the project's own configuration. An escape can hide a name from it."""
    for name in ("checkrein.toml", "pyproject.toml"):
        path = os.path.join(root, name)
        if os.path.isfile(path):
            from checkrein.facts.trust import COMMAND_KEYS

            found = read_text(path, within=())
            words = ("\\", *(key.partition(".")[0] for key in COMMAND_KEYS))
            return found.problem is not None or any(word in found.text for word in words)
    return False


def script_digest(file: str, root: str) -> str:
    from checkrein.runtime.trust.scripts import fingerprint

    text = f"script\0{os.path.relpath(file, root)}\0{fingerprint(file, root)}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _content(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__struct_fields__ if name not in _PLACES}


def _texts(*values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _under(key: str, prefixes: Iterable[str]) -> bool:
    return any(key == prefix or key.startswith((f"{prefix}.", f'{prefix}["')) for prefix in prefixes)


def _widens(key: str, value: Any) -> bool:
    from checkrein.facts.trust import WIDENING_KEYS

    for name, values in WIDENING_KEYS.items():
        if _under(key, (name,)):
            return values is None or value in values
    return False
