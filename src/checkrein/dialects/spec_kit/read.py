"""An extension directory -> commands, with the tokens and paths of spec-kit resolved."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import Any

from msgspec.structs import replace

from checkrein.base.files import read_text
from checkrein.base.origin import Origin
from checkrein.dialects import skills
from checkrein.dialects.codes import Log
from checkrein.dialects.spec_kit.extension_yml import MANIFEST, Entry, Manifest, parse_manifest, report
from checkrein.model.items import Command
from checkrein.model.project import Sources

_COMPATIBILITY = "Requires a spec-kit project with a .specify/ directory"
_OWN_DIRS_SKIPPED = frozenset({"commands", "specs"})
_SHARED_DIRS = ("memory", "scripts", "templates")
_SPEC_KIT_KEYS = frozenset({"scripts", "agent_scripts", "handoffs", "title"})


def read(directory: str) -> Sources:
    """The commands of the extension in `directory`. Broken parts become diagnostics, the rest still loads."""
    log = Log((os.path.realpath(directory),))
    path = os.path.join(directory, MANIFEST)
    found = read_text(path, within=log.within)
    if not found.readable:
        log.append(report("SPK001", f"{MANIFEST} {found.problem}", Origin(path, "project")))
        return Sources(diagnostics=tuple(log))
    manifest = parse_manifest(found.text, path, log)
    if manifest is None:
        return Sources(diagnostics=tuple(log))
    own = _own_directories(directory)
    commands = [
        command for entry in manifest.commands for command in _commands(directory, manifest, entry, own, log)
    ]
    return Sources(commands=tuple(commands), diagnostics=tuple(log))


def _own_directories(directory: str) -> tuple[str, ...]:
    try:
        with os.scandir(directory) as entries:
            return tuple(
                sorted(
                    entry.name
                    for entry in entries
                    if entry.is_dir() and entry.name[0] != "." and entry.name not in _OWN_DIRS_SKIPPED
                )
            )
    except OSError:
        return ()


def _commands(
    directory: str, manifest: Manifest, entry: Entry, own: tuple[str, ...], log: Log
) -> list[Command]:
    path = os.path.join(directory, *entry.file.split("/"))
    real = os.path.realpath(path)
    if not real.startswith(os.path.realpath(directory) + os.sep):
        log.append(report("SPK003", f"`{entry.file}` leads out of the extension", entry.origin))
        return []
    command = skills.read_command(path, entry.names[0], "project", log)
    if command is None:
        log.append(
            report("SPK003", f"the file `{entry.file}` of `{entry.names[0]}` can't be read", entry.origin)
        )
        return []
    script = _script(command.unknown)
    body = rewrite(command.body, manifest.id, own, script)
    metadata = {
        **({"author": manifest.author} if manifest.author else {}),
        "source": f"{manifest.id}:{entry.file}",
    }
    injected = tuple(name for name in ("metadata", "compatibility") if not getattr(command, name))
    command = replace(
        command,
        injected=injected,
        description=command.description if command.description is not None else entry.description,
        behavior=_merged(entry.behavior, command.behavior),
        agents=_merged_agents(entry.agents, command.agents),
        metadata={**metadata, **command.metadata},
        compatibility=command.compatibility or _COMPATIBILITY,
        body=body,
        unknown={key: value for key, value in command.unknown.items() if key not in _SPEC_KIT_KEYS},
        plugin=manifest.id,
    )
    return [replace(command, name=name) for name in entry.names]


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """The file wins over the manifest, key by key."""
    return {**below, **above}


def _merged_agents(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for agent, section in above.items():
        held = merged.get(agent)
        merged[agent] = (
            {**held, **section} if isinstance(held, dict) and isinstance(section, dict) else section
        )
    return merged


def _script(unknown: dict[str, Any]) -> str | None:
    scripts = unknown.get("scripts")
    if not isinstance(scripts, dict):
        return None
    chosen = scripts.get("sh") or scripts.get("ps")
    return chosen if isinstance(chosen, str) else None


def rewrite(body: str, extension: str, own: Collection[str], script: str | None) -> str:
    """Fills in tokens, and changes paths to the places where spec-kit installs.

    The writer fills in `__AGENT__`.
    """
    root = f".specify/extensions/{extension}/"
    text = body.replace("$EXTENSION_PATH/", root).replace("$EXTENSION_PATH", root.rstrip("/"))
    if script is not None:
        text = text.replace("{SCRIPT}", script)
    text = text.replace("{ARGS}", "$ARGUMENTS")
    places = {name: f".specify/{name}/" for name in _SHARED_DIRS}
    places |= {name: f"{root}{name}/" for name in own}
    if not places:
        return text
    names = "|".join(re.escape(name) for name in sorted(places, key=len, reverse=True))
    return re.sub(rf"(?<![\w./$@-])(?:\./)?({names})/(?=[\w.{{<*-])", lambda found: places[found[1]], text)


def extensions(root: str) -> Iterator[str]:
    """The directories of spec-kit extensions: the project itself, and those installed in it."""
    if os.path.isfile(os.path.join(root, MANIFEST)):
        yield root
    installed = os.path.join(root, ".specify", "extensions")
    for name in sorted(os.listdir(installed)) if os.path.isdir(installed) else ():
        if os.path.isfile(os.path.join(installed, name, MANIFEST)):
            yield os.path.join(installed, name)
