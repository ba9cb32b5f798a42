"""Claude Code's files -> source items, in the order of the search: nearest and highest first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import COMMAND_LINE, Origin, Scope
from checkrein.dialects import jsonfile, scan
from checkrein.dialects.claude import installed, instructions, memory_excludes, settings
from checkrein.dialects.claude.place import chain, project_paths, state_file
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude
from checkrein.model.items import Agent, Command, Credential, Server, Skill, SwitchedOff
from checkrein.model.project import Place, Sources


class Options(Struct, frozen=True, kw_only=True):
    """What the command line, the SDK or a test adds to what the files say."""

    env: Mapping[str, str]
    setting_sources: tuple[str, ...] | None = None
    settings: Mapping[str, Any] | str | None = None
    rules: Mapping[str, Sequence[str]] = {}
    agents: Mapping[str, Mapping[str, Any]] = {}
    mcp_config: tuple[Mapping[str, Any] | str, ...] = ()
    strict_mcp_config: bool = False
    plugin_dirs: tuple[str, ...] = ()
    bundled_dir: str | None = None

    def reads(self, source: str) -> bool:
        return self.setting_sources is None or source in self.setting_sources


def read(place: Place, options: Options) -> Sources:
    log = Log(place.within)
    files = settings.read_files(place, log, sources=options.setting_sources, given=options.settings)
    state = jsonfile.read(state_file(place), "user", log)
    approved = _project_state(state, place).get("hasClaudeMdExternalIncludesApproved") is True
    excludes = [
        pattern
        for file in files
        if isinstance(file.value.get("claudeMdExcludes"), list)
        for pattern in file.value["claudeMdExcludes"]
        if isinstance(pattern, str)
    ]
    plugin_folders = installed.in_skills_directories(place)
    found_skills, found_commands = _invocables(place, options, plugin_folders, log)
    brought = installed.read(
        place, files, env=options.env, plugin_dirs=options.plugin_dirs, skills_dirs=plugin_folders
    )
    own = Sources(
        skills=tuple(found_skills),
        commands=tuple(found_commands),
        agents=tuple(_agents(place, options, log)),
        hooks=tuple(hook for file in files for hook in settings.file_hooks(file, log)),
        rules=(
            *settings.given_rules(options.rules, place),
            *(rule for file in files for rule in settings.rules(file, place, log)),
        ),
        servers=tuple(_servers(place, options, files, state, log)),
        instructions=instructions.read(
            place,
            log,
            env=options.env,
            sources=options.setting_sources,
            managed_text=settings.managed_memory(files),
            excluded=memory_excludes.matcher(excludes),
            approved=approved,
        ),
        settings=tuple(item for file in files for item in settings.flatten(file)),
        credentials=tuple(_credentials(place, options, files)),
        switched_off=() if state is None else tuple(_switched_off(state, project_paths(place))),
        diagnostics=tuple(log),
    )
    return own + brought


def _roots(place: Place, options: Options, kind: str) -> list[tuple[str, Scope]]:
    """The directories of a kind, highest precedence first; each real directory once."""
    roots: list[tuple[str, Scope]] = []
    policy_off = kind == "skills" and options.env.get(claude.ENV_NO_POLICY_SKILLS) == "1"
    if place.managed_dir is not None and not policy_off:
        roots.append((os.path.join(place.managed_dir, claude.CONFIG_DIR, kind), "managed"))
    if options.reads("user"):
        roots.append((os.path.join(place.config_dir, kind), "user"))
    if options.reads("project"):
        for directory in (*chain(place), *place.add_dirs):
            roots.append((os.path.join(directory, claude.CONFIG_DIR, kind), "project"))
    if options.bundled_dir is not None:
        roots.append((os.path.join(options.bundled_dir, kind), "bundled"))
    seen: set[str] = set()
    unique = []
    for root, scope in roots:
        if not os.path.isdir(root):
            continue
        real = os.path.realpath(root)
        if real not in seen:
            unique.append((root, scope))
            seen.add(real)
    return unique


def _invocables(
    place: Place, options: Options, plugin_folders: Sequence[str], log: Log
) -> tuple[list[Skill], list[Command]]:
    found_skills: list[Skill] = []
    found_commands: list[Command] = []
    seen = {os.path.realpath(folder) for folder in plugin_folders}
    for root, scope in _roots(place, options, "skills"):
        found_skills.extend(read_skills(root, scope, log, seen))
    for root, scope in _roots(place, options, "commands"):
        found_commands.extend(read_commands(root, scope, log))
    return found_skills, found_commands


def read_skills(root: str, scope: Scope, log: Log, seen: set[str]) -> list[Skill]:
    """The skills in a `skills/` directory. `seen` holds the real directories read before."""
    from checkrein.dialects import skills

    found = []
    synced: str | None = None
    for name, path, real in scan.directories(root, scope, log):
        if name.lower() == claude.SYNCED_SKILLS and scope == "user":
            synced = path
            continue
        if real in seen:
            continue
        seen.add(real)
        file = path + os.sep + claude.SKILL_FILE
        skill = skills.read_skill(file, path, name, scope, log)
        if skill is not None:
            found.append(skill)
        else:
            _explain_missing(path, file, scope, log)
    if synced is not None:
        found.extend(read_skills(synced, scope, log, seen))
    return found


def _explain_missing(directory: str, file: str, scope: Scope, log: Log) -> None:
    """Say why a directory among the skills is not a skill, if its content looks like one."""
    if os.path.lexists(file):
        return
    for entry in scan.listing(directory, scope, log):
        if entry.name.lower() == claude.SKILL_FILE.lower():
            message = f"Claude Code does not read {entry.name}; the file must be named {claude.SKILL_FILE}"
            log.append(diagnose("FILE006", message, Origin(entry.path, scope)))
        elif scan.is_dir(entry):
            deeper = os.path.join(entry.path, claude.SKILL_FILE)
            if os.path.isfile(deeper):
                message = f"The skill `{entry.name}` is one folder too deep and is not loaded"
                log.append(diagnose("FILE007", message, Origin(deeper, scope)))


def read_commands(root: str, scope: Scope, log: Log) -> list[Command]:
    from checkrein.dialects import skills

    found = []
    for path, folders in scan.markdown_files(root, scope, log):
        stem = os.path.basename(path)[: -len(".md")]
        command = skills.read_command(path, ":".join((*folders, stem)), scope, log)
        if command is not None:
            found.append(command)
    return found


def _agents(place: Place, options: Options, log: Log) -> list[Agent]:
    """With `--strict-mcp-config` an agent has no servers of its own."""
    found = [_given_agent(name, entry, log) for name, entry in options.agents.items()]
    for root, scope in _roots(place, options, "agents"):
        found += read_agents(root, scope, log)
    strict = options.strict_mcp_config
    return [replace(one, servers=()) if strict and one.servers else one for one in found if one is not None]


def read_agents(root: str, scope: Scope, log: Log) -> list[Agent]:
    """The agents below an `agents/` directory, however deep."""
    found = (_agent(path, scope, log) for path, _ in scan.markdown_files(root, scope, log))
    return [agent for agent in found if agent is not None]


def _given_agent(name: str, entry: Mapping[str, Any], log: Log) -> Agent | None:
    from checkrein.base.jsonpos import join
    from checkrein.dialects import agents

    return agents.from_json(name, entry, Origin(COMMAND_LINE, "cli", field=join("$", name)), log)


def _agent(path: str, scope: Scope, log: Log) -> Agent | None:
    from checkrein.dialects import agents

    return agents.read(path, scope, log)


def _servers(
    place: Place, options: Options, files: Sequence[Document], state: Document | None, log: Log
) -> list[Server]:
    found: list[Server] = []
    if place.managed_dir is not None:
        managed = jsonfile.read(os.path.join(place.managed_dir, claude.MANAGED_MCP_FILE), "managed", log)
        if managed is not None:
            found.extend(_servers_in(managed, log))
    for given in options.mcp_config:
        document = _given_servers(given, place, log)
        if document is not None:
            found.extend(_servers_in(document, log))
    if options.strict_mcp_config:
        return found
    if state is not None and options.reads("local"):
        found.extend(_state_servers(state, project_paths(place), log))
    if options.reads("project"):
        for directory in dict.fromkeys((place.cwd, place.root)):
            project = jsonfile.read(os.path.join(directory, claude.MCP_FILE), "project", log)
            if project is not None:
                found.extend(_servers_in(project, log))
    for file in files:
        found.extend(settings.file_servers(file, log))
    if state is not None and options.reads("user") and "mcpServers" in state.value:
        from checkrein.dialects import servers

        found.extend(servers.read(state.value["mcpServers"], state, "$.mcpServers", log))
    return found


def _servers_in(document: Document, log: Log) -> tuple[Server, ...]:
    from checkrein.dialects import servers

    return servers.read_document(document, log)


def _given_servers(given: Mapping[str, Any] | str, place: Place, log: Log) -> Document | None:
    if not isinstance(given, str):
        return Document(dict(given), Origin(COMMAND_LINE, "cli"))
    if given.lstrip().startswith("{"):
        return jsonfile.parse(given, Origin(COMMAND_LINE, "cli"), log)
    path = os.path.realpath(os.path.join(place.cwd, os.path.expanduser(given)))
    return jsonfile.read(path, "cli", log, optional=False)


def _project_state(state: Document | None, place: Place) -> Mapping[str, Any]:
    projects = state.value.get("projects") if state else None
    if isinstance(projects, dict):
        for path in project_paths(place):
            entry = projects.get(path)
            if isinstance(entry, dict):
                return entry
    return {}


def _state_servers(state: Document, paths: Sequence[str], log: Log) -> list[Server]:
    """The local servers: those in the user's state file for this project."""
    from checkrein.base.jsonpos import join
    from checkrein.dialects import servers

    projects = state.value.get("projects")
    if not isinstance(projects, dict):
        return []
    local = Document(state.value, Origin(state.origin.file, "local"), state.spans)
    for path in paths:
        entry = projects.get(path)
        if isinstance(entry, dict) and entry.get("mcpServers"):
            at = join("$.projects", path) + ".mcpServers"
            return list(servers.read(entry["mcpServers"], local, at, log))
    return []


def _switched_off(state: Document, paths: Sequence[str]) -> Iterator[SwitchedOff]:
    """The servers that the user switched off for this project, whatever setting sources count."""
    from checkrein.base.jsonpos import join

    projects = state.value.get("projects")
    known = projects if isinstance(projects, dict) else {}
    for path in paths:
        entry = known.get(path)
        names = entry.get("disabledMcpServers") if isinstance(entry, dict) else None
        if isinstance(names, list) and names:
            at = join("$.projects", path) + ".disabledMcpServers"
            for index, name in enumerate(names):
                if isinstance(name, str):
                    place = join(at, index)
                    origin = Origin(state.origin.file, "local").at(state.spans.get(place), place)
                    yield SwitchedOff(name, origin)
            return


def _credentials(place: Place, options: Options, files: Sequence[Document]) -> list[Credential]:
    """Where credentials may be. It opens no files, runs no helpers and reads no variables."""

    from checkrein.base.jsonpos import join

    path = os.path.join(place.config_dir, claude.CREDENTIALS_FILE)
    found = [Credential(claude.CREDENTIALS_FILE, Origin(path, "user"), os.path.lexists(path))]
    for file in files:
        for key in claude.CREDENTIAL_SETTINGS:
            if key in file.value:
                found.append(Credential(key, file.at(join("$", key)), True))
    for name in claude.CREDENTIAL_ENV:
        found.append(Credential(name, Origin("<environment>", "user", field=name), name in options.env))
    return found
