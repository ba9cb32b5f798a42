"""Steps 1a and 1b: the files of a spec and the elements in them, general ones first."""

from __future__ import annotations

import os
from collections.abc import Collection

from checkrein.base.files import read_text
from checkrein.base.secrets import looks_secret
from checkrein.compile import companions, coverage, foreign, references, settings, signals, sources, workspace
from checkrein.compile.body import split_body
from checkrein.compile.details import HookDetails
from checkrein.compile.elements import cleaned, from_piece, numbered, prose
from checkrein.compile.fields import frontmatter_elements
from checkrein.compile.models import shaped
from checkrein.compile.scope import WorkspaceScope, default_scope
from checkrein.compile.sources import ReadFile
from checkrein.compile.values import Element, Inventory, Notes, SourceFile, SourceName, Spec, scalar
from checkrein.dialects.claude.settings import undotted
from checkrein.dialects.codes import Log
from checkrein.facts import claude
from checkrein.facts import claude_plugins as plugin_facts
from checkrein.facts.claude_fields import PLUGIN_AGENT_IGNORED
from checkrein.facts.compile_rows import DEFERRED
from checkrein.facts.compile_words import DELIVERS
from checkrein.model.items import Instruction


def take_inventory(
    spec: Spec, scopes: Collection[str] = ("project",), around: WorkspaceScope | None = None
) -> Inventory:
    """Everything that compile may use for the package. `scopes` may add `local` and `user`; `around` says how
    far from the spec it may be."""
    collector = _Collector(spec, scopes, around or default_scope(spec))
    hybrid = spec.detection.dialect == "hybrid"
    contributors = spec.detection.contributors if hybrid else (spec.detection.dialect,)
    for foreign_part in dict.fromkeys(name in foreign.READERS for name in contributors):
        known = {element.signal for element in collector.elements}
        before = len(collector.elements)
        if foreign_part:
            collector.foreign()
        else:
            collector.native()
        collector.keep_new(before, known)
    return collector.result()


class _Collector:
    def __init__(self, spec: Spec, scopes: Collection[str], around: WorkspaceScope) -> None:
        self.spec = spec
        self.around = around
        self.scopes = scopes
        self.files: list[SourceFile] = []
        self.elements: list[Element] = []
        self.warnings: list[str] = []
        self.log = Log(spec.place.within, spec.diagnostics)
        self.config_dir = workspace.config_dir(spec)
        self.notes: dict[str, list[str]] = {}
        self.local_settings = False
        self.decoded: list[str] = []
        if spec.place.root_reason == "fallback":
            self.warnings.append(
                "there is no `.claude/` or `.git` above the spec; the workspace may be incomplete"
            )

    def note(self, kind: str, text: str) -> None:
        listed = self.notes.setdefault(kind, [])
        if text not in listed:
            listed.append(text)

    def keep(self, found: ReadFile, role: str, rule: str, source: SourceName = "project") -> str:
        """The file in the inventory, and its name there."""
        name = self.name(found.path)
        self.files.append(SourceFile(path=name, role=role, rule=rule, source=source))
        self.decoded += sources.decoded(found.items)
        return name

    def name(self, path: str) -> str:
        real = os.path.realpath(path)
        home = self.spec.place.home + os.sep
        if real.startswith(home) and not real.startswith(self.spec.workspace + os.sep):
            return "~/" + workspace.relative(real, self.spec.place.home)
        return workspace.relative(real, self.spec.workspace)

    def native(self) -> None:
        """Skills, commands and agents of Claude Code or the open standard, with what belongs to them."""
        user = "user" in self.scopes
        items = sources.read_instructions(self.spec, self.log, user=user, scope=self.around)
        self.warnings += sources.refused_imports(items, self.name)
        body = next((at for at, item in enumerate(items) if item.name == self.spec.path), len(items))
        self.instructions(items[:body])
        if os.path.isfile(self.spec.path):
            self.primary(items[body + 1 :])
        if self.around == "skill":
            for name in workspace.around(self.spec):
                self.note("skipped_scopes", f"{name} is outside the skill; `--workspace-scope repo` adds it")
        else:
            self.settings()
            self.servers()
            self.plugins()
        self.environment()
        self.others()

    def keep_new(self, before: int, known: Collection[str]) -> None:
        """When two runtimes say the same, the first one counts."""
        for element in [one for one in self.elements[before:] if one.signal and one.signal in known]:
            self.elements.remove(element)
            place = f"{element.source_file} {element.source_lines}"
            self.warnings.append(f"{place} says what {self.spec.detection.contributors[0]} says already")

    def instructions(self, items: tuple[Instruction, ...]) -> None:
        for item in items:
            if item.imported_by is not None:
                self._imported(item, "M-24")
                continue
            name = self.name(item.name)
            source = _source(item)
            role, row = ("C3 user facts", "M-25") if source == "user" else ("C1 identity", "M-23")
            self.files.append(
                SourceFile(
                    path=name, role=role, rule="claude_code:2b:claude_md", source=source, text=item.text
                )
            )
            self.note("instructions", name)
            self.elements += prose(split_body(item.text), name, source, row=row)
        managed = os.path.join(self.spec.place.managed_dir or "", claude.MEMORY_FILE)
        if self.spec.place.managed_dir and os.path.isfile(managed):
            self.note("provenance", "a managed CLAUDE.md exists; it was not read")
        user = os.path.join(self.spec.place.config_dir, claude.MEMORY_FILE)
        if "user" not in self.scopes and os.path.isfile(user):
            self.note("skipped_scopes", "the user's CLAUDE.md exists; `--scope user` adds it")

    def _imported(self, item: Instruction, row: str) -> None:
        source = _source(item)
        name, importer = self.name(item.name), self.name(item.imported_by or "")
        self.files.append(
            SourceFile(
                path=name,
                role=f"C1/C2/C3 inline import from {importer}",
                rule="claude_code:2f:import",
                source=source,
                imported_by=importer,
                text=item.text,
            )
        )
        self.elements += prose(split_body(item.text), name, source, row=row)

    def primary(self, imported: tuple[Instruction, ...]) -> None:
        spec = self.spec
        self.files.append(
            SourceFile(
                path=spec.file,
                role="primary spec: C1, C2, C6",
                rule="claude_code:2a:spec",
                text=spec.body,
                first_line=spec.body_line,
            )
        )
        self.elements += frontmatter_elements(spec)
        rule = "claude_code:4:body"
        purpose = f"{spec.name.replace('-', ' ')}. {spec.description.split('. Use ', 1)[0][:300]}"
        delivers = DELIVERS.search(purpose) is not None
        for piece in shaped(split_body(spec.body, spec.body_line, delivers=delivers)):
            self.elements.append(from_piece(piece, spec.file, rule, row="M-21" if piece.step else None))
        for item in imported:
            self._imported(item, "M-22")
        for copy in workspace.other_copies(spec):
            self.note("provenance", f"another copy of this spec exists ({copy}); it was not read")
        if spec.kind == "agent":
            self.note("deferred", DEFERRED["8-1"])

    def settings(self) -> None:
        seen: dict[str, str] = {}
        for source in sources.SETTING_SOURCES:
            path = sources.settings_path(self.spec, source, self.log)
            if path is None:
                continue
            if source == "local":
                self.local_settings = True
            if source not in self.scopes:
                file = os.path.basename(path)
                self.note("skipped_scopes", f"{file} of scope {source} exists; `--scope {source}` adds it")
                continue
            found = sources.read_settings(self.spec, path, source, self.log)
            if found is None:
                continue
            name = self.keep(found, "C2, C6, C7, C9", "claude_code:2c:settings_json", source)
            self.note("settings_files", f"{name} ({source})")
            for setting in found.items.settings:
                key, *below = undotted(setting.name)
                if below or setting.element or isinstance(setting.value, dict | list):
                    continue
                if key in seen:
                    self.note("overridden", f"`{key}` of {seen[key]} is overridden by {name}")
                seen[key] = name
            elements = tuple(settings.settings_elements(found.items, name, source))
            self.elements += elements
            if any(element.signal == "settings.apiKeyHelper" for element in elements):
                self.note("deferred", DEFERRED["8-9"])
                self.note("not_reproduced", "`apiKeyHelper` in settings; see SETUP.md §2")
        hooks = sources.read_hooks(self.config_dir, self.log) if self.config_dir is not None else None
        if hooks is not None:
            name = self.keep(hooks, "C9, C2", "claude_code:2c:hooks_json")
            self.elements += settings.hook_elements(hooks.items.hooks, name, "project", "M-30")

    def servers(self) -> None:
        found = sources.read_servers(self.spec, self.log)
        if found is None:
            return
        name = self.keep(found, "C6 tools", "claude_code:2d:mcp_json")
        known = {element.signal for element in self.elements}
        for server in found.items.servers:
            element = settings.server_element(server, name, "project", "M-33")
            if element.signal in known:
                self.note("overridden", f"{element.content_summary} of {name} is overridden by the settings")
            else:
                self.elements.append(element)

    def plugins(self) -> None:
        manifest_dir = next(
            (
                path
                for directory in (self.spec.directory, self.spec.workspace)
                if os.path.isdir(path := os.path.join(directory, plugin_facts.MANIFEST_DIR))
            ),
            None,
        )
        if manifest_dir is None:
            return
        manifest = sources.read_plugin(manifest_dir, self.log)
        if manifest is not None:
            name = self.keep(manifest, "C8 runtime environment", "claude_code:2e:plugin_json")
            if not manifest.items.plugins:
                why = "; ".join(one.message for one in manifest.items.diagnostics if one.code == "PLUGIN001")
                self.warnings.append(f"{name} was left out: {why}")
            for plugin in manifest.items.plugins:
                self.elements += settings.plugin_elements(plugin, name)
            self.note("deferred", DEFERRED["8-2"])
        if os.path.isfile(os.path.join(manifest_dir, plugin_facts.MARKETPLACE_FILE)):
            self.note(
                "not_reproduced",
                "`.claude-plugin/marketplace.json`: compile does not write a marketplace bundle",
            )
            self.note("deferred", DEFERRED["8-3"])
        if self.spec.kind == "agent":
            self.note(
                "not_reproduced",
                "plugin agents may not use hooks, mcpServers or permissionMode; the product ignores them",
            )
            used = [field for field in PLUGIN_AGENT_IGNORED if field in self.spec.values]
            if used:
                self.warnings.append(
                    f"this plugin agent sets {', '.join(used)}, which plugin agents may not use"
                )

    def environment(self) -> None:
        known = {element.signal for element in self.elements if element.row == "M-29"}
        alone = self.around == "skill"
        for directory in dict.fromkeys((self.spec.directory, *(() if alone else (self.spec.workspace,)))):
            for file in (".env", ".env.example"):
                path = os.path.join(directory, file)
                if not os.path.isfile(path):
                    continue
                name = self.name(path)
                self.files.append(
                    SourceFile(
                        path=name, role="C7 credentials, names only", rule="claude_code:6g:env", source=".env"
                    )
                )
                for line, variable in settings.env_names(read_text(path, within=self.log.within).text):
                    element = settings.env_element(variable, name, str(line), ".env")
                    if element.signal in known:
                        self.note("overridden", f"{variable} of {name}: the one in settings.json counts")
                        continue
                    known.add(element.signal)
                    self.elements.append(element)
        credentials = os.path.join(self.spec.place.config_dir, claude.CREDENTIALS_FILE)
        if "user" in self.scopes and os.path.exists(credentials):
            self.files.append(
                SourceFile(
                    path=f"~/.claude/{claude.CREDENTIALS_FILE}",
                    role="C7 credentials, existence only",
                    rule="claude_code:2g:credentials",
                    source="user",
                    read=False,
                )
            )

    def others(self) -> None:
        """Agents, skills and commands beside the spec: the report names them, compile does not use them."""
        if self.config_dir is None:
            return
        for folder, role in (("agents", "subagent"), ("skills", "skill"), ("commands", "command")):
            base = os.path.join(self.config_dir, folder)
            for path in workspace.markdown_specs(base, folder):
                if os.path.realpath(path) == self.spec.path:
                    continue
                name = self.name(path)
                self.files.append(
                    SourceFile(
                        path=name,
                        role=f"other {role}, existence only",
                        rule=f"claude_code:2c:{folder}",
                        read=False,
                    )
                )
                if folder == "agents":
                    self.note("provenance", f"cross-skill reference: subagent {name}")
                    self.note("deferred", DEFERRED["8-1"])
                    if sources.lists_servers(path, self.log.within):
                        self.note(
                            "provenance", f"{name} lists MCP servers of its own; recorded, not enforced"
                        )
                if (
                    folder == "skills"
                    and self.spec.kind == "command"
                    and workspace.stem(path) == workspace.stem(self.spec.path)
                ):
                    self.note("provenance", f"{name} has the same name; the skill wins over this command")

    def foreign(self) -> None:
        found = foreign.read(self.spec)
        self.files += found.files
        self.elements += found.elements
        self.warnings += found.warnings
        for text in found.unmapped:
            self.note("unmapped", text)

    def _is_suspicious(self) -> bool:
        """Whether any source holds what looks like a secret; this looks at decoded values."""
        texts = [scalar(self.spec.values), self.spec.body, self.spec.name, *self.decoded]
        texts += [file.text for file in self.files if file.text is not self.spec.body]
        texts += [element.content_full for element in self.elements] if not self.files else []
        return any(element.sensitive for element in self.elements) or any(map(looks_secret, texts))

    def _beside(self) -> tuple[tuple[str, bytes], ...]:
        spec = self.spec
        found = companions.read_companions(spec.directory, spec.body, self.warnings)
        base = os.path.dirname(spec.file)
        added = references.beside(base, found, self.elements, spec.body)
        self.files += added.files
        self.elements += added.elements
        self.warnings += added.warnings
        for folder in companions.seen_only(spec.directory):
            name = f"{base}/{folder}" if base else folder
            self.files.append(
                SourceFile(
                    path=f"{name}/", role="existence only", rule="agent_skills_std:2b:other", read=False
                )
            )
        return tuple((one.path, one.data) for one in found)

    def result(self) -> Inventory:
        spec = self.spec
        copied = self._beside() if spec.kind == "skill" else ()
        extra, notes = signals.find(spec, self.elements)
        self.elements += extra
        for kind, texts in notes.items():
            for text in texts:
                self.note(kind, text)
        if not self.elements:
            self.elements.append(
                cleaned(
                    Element(
                        source_file=spec.file,
                        source_lines="1",
                        tag="NO_DECOMPOSE",
                        category="—",
                        content_summary="The spec says nothing",
                        signal="empty",
                    )
                )
            )
            self.warnings.append("the spec says nothing that compile can use")
        elements = numbered(self.elements)
        for element in elements:
            if isinstance(element.details, HookDetails):
                self.note("hooks", f"{element.details.event} ({element.place})")
        collected = {kind: tuple(texts) for kind, texts in self.notes.items()}
        return Inventory(
            spec=spec,
            files=tuple(self.files),
            elements=elements,
            coverage=coverage.measure(spec, elements),
            notes=Notes(
                warnings=tuple(dict.fromkeys(self.warnings)), local_settings=self.local_settings, **collected
            ),
            companions=copied,
            suspicious=self._is_suspicious(),
            license_text=companions.read_license(spec.directory) if spec.kind == "skill" else None,
            diagnostics=tuple(self.log),
        )


def _source(item: Instruction) -> SourceName:
    return "user" if item.origin.scope == "user" else "project"
