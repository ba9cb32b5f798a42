"""A plugin's parts: skills, commands, agents, hooks, servers, each under the plugin's name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.dialects import jsonfile, scan
from checkrein.dialects.claude import settings
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude
from checkrein.facts import claude_plugins as facts
from checkrein.model.items import Agent, Command, Hook, PluginProgram, Server, Setting, Skill
from checkrein.model.project import Sources

if TYPE_CHECKING:
    from checkrein.dialects.claude.manifest import Manifest


def read(
    root: str,
    *,
    marketplace: str | None = None,
    enabled: bool = True,
    parts: bool = True,
    entry: Mapping[str, Any] | None = None,
    within: Sequence[str] = (),
) -> Sources:
    """The plugin in `root` and, with `parts`, all its parts. Its links may lead to `root` and `within`."""
    from checkrein.dialects.claude import manifest as manifests

    log = Log((os.path.realpath(root), *within))
    manifest = manifests.read(root, log, entry)
    if manifest is None:
        return Sources(diagnostics=tuple(log))
    plugin = manifests.build(manifest, root, marketplace=marketplace, enabled=enabled)
    if not parts:
        return Sources(plugins=(plugin,), diagnostics=tuple(log))
    reader = _Reader(root, manifest, entry, log)
    found = Sources(
        skills=tuple(reader.skills()),
        commands=tuple(reader.commands()),
        agents=tuple(reader.agents()),
        hooks=tuple(reader.hooks()),
        servers=tuple(reader.servers()),
        settings=tuple(reader.settings()),
    )
    reader.others()
    known = replace(plugin, components=reader.components, programs=tuple(reader.programs()))
    return replace(found, plugins=(known,), diagnostics=tuple(log))


class _Reader:
    """One plugin being read. `components` collects the paths of each kind of part."""

    def __init__(self, root: str, manifest: Manifest, entry: Mapping[str, Any] | None, log: Log) -> None:
        self.root = root
        self.real_root = os.path.realpath(root)
        self.manifest = manifest
        self.name = manifest.name
        self.open = manifest.format == "agent_plugins"
        self.whole_list = entry is not None and entry.get("source") in (".", "./")
        self.log = log
        self.components: dict[str, Any] = {}

    def skills(self) -> Iterator[Skill]:
        listed = self._listed("skills")
        default = os.path.join(self.root, facts.COMPONENTS["skills"])
        has_default = os.path.isdir(default)
        if not has_default and not listed:
            file = os.path.join(self.root, claude.SKILL_FILE)
            if os.path.isfile(file) and not self.open:
                yield from self._skill(file, self.root)
            return
        roots = list(listed) if self.whole_list and listed else [*([default] if has_default else []), *listed]
        seen: set[str] = set()
        for root in roots:
            self._note("skills", root)
            file = os.path.join(root, claude.SKILL_FILE)
            if os.path.isfile(file) and root != default:
                yield from self._skill(file, root)
                continue
            for _, path, real in scan.directories(root, "plugin", self.log):
                if real in seen or not self._is_inside(real):
                    continue
                seen.add(real)
                yield from self._skill(path + os.sep + claude.SKILL_FILE, path)

    def _skill(self, file: str, directory: str) -> Iterator[Skill]:
        from checkrein.dialects import skills

        skill = skills.read_skill(file, directory, "", "plugin", self.log, plugin=self.name)
        if skill is not None:
            own = (skill.display_name or "").strip() or os.path.basename(directory)
            yield replace(skill, name=f"{self.name}:{own}")

    def commands(self) -> Iterator[Command]:
        from checkrein.dialects import skills

        if self.open:
            return
        for path, folders in self._files("commands"):
            stem = os.path.basename(path)[: -len(".md")]
            name = ":".join((self.name, *folders, stem))
            command = skills.read_command(path, name, "plugin", self.log, plugin=self.name)
            if command is not None:
                yield command

    def agents(self) -> Iterator[Agent]:
        from checkrein.dialects import agents

        if self.open:
            return
        for path, folders in self._files("agents"):
            stem = os.path.basename(path)[: -len(".md")]
            agent = agents.read(path, "plugin", self.log, plugin=self.name, fallback=stem)
            if agent is not None:
                yield replace(agent, name=":".join((self.name, *folders, agent.name)))

    def hooks(self) -> Iterator[Hook]:
        from checkrein.dialects import hooks

        if self.open:
            return
        for document, path in self._documents("hooks"):
            written: Any = document.value
            if path == "$" and "hooks" in document.value:
                written, path = document.value["hooks"], "$.hooks"
            elif path == "$":
                written = {key: value for key, value in document.value.items() if isinstance(value, list)}
            else:
                written = document.value["hooks"]
                if isinstance(written, dict) and isinstance(written.get("hooks"), dict):
                    written, path = written["hooks"], path + ".hooks"
            yield from hooks.read(
                written, document.origin, self.log, path=path, spans=document.spans, plugin=self.name
            )

    def servers(self) -> Iterator[Server]:
        from checkrein.dialects import servers

        found: list[Server] = []
        if self.open:
            from checkrein.dialects.claude.open_plugins import conforming

            document = jsonfile.read(os.path.join(self.root, facts.OPEN_MCP_FILE), "plugin", self.log)
            taken = conforming(document, self.log) if document is not None else None
            if taken is not None:
                self._note("mcpServers", taken.origin.file)
                found.extend(servers.read_document(taken, self.log, plugin=self.name))
        else:
            for document, path in self._documents("mcpServers"):
                if path == "$":
                    found.extend(servers.read_document(document, self.log, plugin=self.name))
                else:
                    entries = document.value["mcpServers"]
                    found.extend(servers.read(entries, document, path, self.log, plugin=self.name))
        for server in found:
            yield replace(server, name=f"plugin:{self.name}:{server.name}")

    def settings(self) -> Iterator[Setting]:
        if self.open:
            return
        document = jsonfile.read(os.path.join(self.root, claude.SETTINGS_FILE), "plugin", self.log)
        if document is not None:
            self._note("settings", document.origin.file)
            kept = {key: value for key, value in document.value.items() if key in facts.SETTINGS_KEYS}
            yield from settings.flatten(Document(kept, document.origin, document.spans))

    def others(self) -> None:
        """Parts that only their place identifies."""
        for key in ("workflows", "outputStyles", "themes"):
            default = os.path.join(self.root, facts.COMPONENTS[key])
            listed = self._listed(key)
            replaced = bool(listed) and key in facts.REPLACING_KEYS
            if os.path.exists(default) and not replaced:
                self._note(key, default)
            for path in listed:
                self._note(key, path)
        if os.path.isdir(os.path.join(self.root, "bin")):
            self._note("bin", os.path.join(self.root, "bin"))

    def programs(self) -> Iterator[PluginProgram]:
        """Language servers and monitors."""
        if self.open:
            return
        from checkrein.dialects.claude import manifest as manifests
        from checkrein.dialects.claude import plugin_programs

        for document, path in self._documents("lspServers"):
            entries = document.value.get("lspServers", document.value if path == "$" else None)
            yield from plugin_programs.lsp_servers(entries, document.origin, path, self.log)
        listed = self._listed("monitors")
        default = os.path.join(self.root, facts.COMPONENTS["monitors"])
        written = manifests.component(self.manifest.values, "monitors")
        for path in listed if written is not None else [default]:
            if os.path.isfile(path):
                self._note("monitors", path)
                yield from plugin_programs.monitor_file(path, self.log)
        yield from plugin_programs.monitors(written, self.manifest.document.origin, "$.monitors", self.log)

    def _files(self, key: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """(path, folders) of the Markdown files of a kind; a manifest key replaces the default directory."""
        from checkrein.dialects.claude import manifest as manifests

        listed = self._listed(key)
        written = manifests.component(self.manifest.values, key) is not None
        roots = listed if written else [os.path.join(self.root, facts.COMPONENTS[key])]
        for root in roots:
            if os.path.isfile(root):
                self._note(key, root)
                yield root, ()
            elif os.path.isdir(root):
                self._note(key, root)
                yield from scan.markdown_files(root, "plugin", self.log)

    def _documents(self, key: str) -> Iterator[tuple[Document, str]]:
        """(document, path of the part in it): the default file, then what the manifest names or holds."""
        default = os.path.join(self.root, facts.COMPONENTS[key])
        paths = [default] if os.path.lexists(default) else []
        paths += [path for path in self._listed(key) if path != default]
        for path in paths:
            document = jsonfile.read(path, "plugin", self.log)
            if document is not None:
                self._note(key, path)
                yield document, "$"
        inline = self.manifest.values.get(key)
        inlines = inline if isinstance(inline, list) else [inline]
        for number, part in enumerate(inlines):
            if isinstance(part, dict):
                self._note(key, self.manifest.document.origin.file)
                path = f"$.{key}[{number}]" if isinstance(inline, list) else f"$.{key}"
                document = self.manifest.document
                yield Document({key: part}, document.origin, document.spans), path

    def _listed(self, key: str) -> list[str]:
        """The existing paths that a manifest key names, if they stay inside the plugin."""
        from checkrein.dialects.claude import manifest as manifests

        if self.open:
            return []
        value = manifests.component(self.manifest.values, key)
        if isinstance(value, dict) and key == "commands":
            value = [part.get("source") if isinstance(part, dict) else part for part in value.values()]
        written = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        found = []
        for text in written:
            if isinstance(text, str):
                path = self._path(key, text)
                if path is not None:
                    found.append(path)
        return found

    def _path(self, key: str, text: str) -> str | None:
        place = self.manifest.document.at(f"$.{key}")
        path = os.path.normpath(os.path.join(self.root, text))
        if os.path.isabs(text) or "\0" in text or not self._is_inside(os.path.realpath(path)):
            message = f"`{text}` of `{key}` leads outside the plugin, so it is skipped"
            self.log.append(diagnose("PLUGIN003", message, place))
            return None
        if not os.path.exists(path):
            self.log.append(diagnose("PLUGIN004", f"`{text}` of `{key}` does not exist", place))
            return None
        return path

    def _is_inside(self, real: str) -> bool:
        return real == self.real_root or real.startswith(self.real_root + os.sep)

    def _note(self, key: str, path: str) -> None:
        relative = os.path.relpath(path, self.root)
        noted = self.components.setdefault(key, [])
        if relative not in noted:
            noted.append(relative)


def is_plugin(directory: str) -> bool:
    return os.path.isfile(os.path.join(directory, facts.MANIFEST_DIR, facts.MANIFEST_FILE))


def is_open_plugin(directory: str) -> bool:
    """Whether a root `plugin.json` names the Agent Plugins schema."""
    path = os.path.join(directory, facts.OPEN_MANIFEST)
    if not os.path.isfile(path):
        return False
    document = jsonfile.read(path, "plugin", Log())
    return document is not None and document.value.get("$schema") == facts.OPEN_SCHEMA


def missing(identity: str, place: Origin, *, locked: bool = False) -> Sources:
    message = f"The plugin `{identity}` is enabled but not installed; none of its parts are in effect"
    if locked:
        message = f"The locked version of the plugin `{identity}` is not installed here; no part is in effect"
    return Sources(diagnostics=(diagnose("PLUGIN002", message, place),))
