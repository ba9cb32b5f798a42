"""`load(path)`: an agent project as one typed value. Broken files become Diagnostics, never exceptions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import read_bytes
from checkrein.base.home import home_path
from checkrein.base.origin import Origin
from checkrein.dialects.agent_skills import read as agent_skills
from checkrein.dialects.claude import read as claude
from checkrein.dialects.claude.place import chain, locate
from checkrein.dialects.codes import diagnose
from checkrein.model.project import Detection, Governance, Place, Project, SessionMode, Sources
from checkrein.model.view import View
from checkrein.passes import ownrules
from checkrein.passes.resolve import resolve

_OWN_SKILLS = os.path.join(".checkrein", "skills")
_GOVERNANCE_VARIABLES = ("CHECKREIN_SKILLS__TIER", "CHECKREIN_SUBSETS__", "CHECKREIN_PACKS__")
_GOVERNANCE_WORDS = (b"tier1", b"tier2", b"tier3", b"subsets", b"packs")


class LoadOptions(TypedDict, total=False):
    """The keywords of `load`."""

    env: Mapping[str, str] | None
    home: str | None
    managed_dir: str | None
    add_dirs: Sequence[str]
    setting_sources: Sequence[str] | None
    settings: Mapping[str, Any] | str | None
    rules: Mapping[str, Sequence[str]] | None
    agents: Mapping[str, Mapping[str, Any]] | None
    mcp_config: Sequence[Mapping[str, Any] | str]
    strict_mcp_config: bool
    plugin_dirs: Sequence[str]
    bundled_dir: str | None
    bundled: bool
    detect: bool


def load(path: str | os.PathLike[str] = ".", **given: Unpack[LoadOptions]) -> Project:
    """Read the project at `path`: a directory, or one skill, command or agent file.

    `env` replaces the process environment: HOME, CLAUDE_CONFIG_DIR and the product's switches come from it.
    The other arguments have the meaning of the product's flags of the same names. `detect` False leaves out
    what no session needs and what reads many more files: the search for the dialect, and the files of other
    agents. `bundled` brings in Checkrein's own skills; a project with rules of visibility has them anyway.
    Raises NotFoundError when `path` does not exist. The content of files never raises, and no process starts.
    """
    unknown = given.keys() - LoadOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"load() got unknown keywords: {', '.join(sorted(unknown))}")
    env = given.get("env")
    environment = os.environ if env is None else env
    located = locate(
        os.fspath(path),
        env=environment,
        home=given.get("home"),
        managed_dir=given.get("managed_dir"),
        add_dirs=given.get("add_dirs", ()),
    )
    named = given.get("setting_sources")
    place = replace(located.place, setting_sources=None if named is None else tuple(named))
    options = claude.Options(
        env=environment,
        setting_sources=place.setting_sources,
        settings=given.get("settings"),
        rules=given.get("rules") or {},
        agents=given.get("agents") or {},
        mcp_config=tuple(given.get("mcp_config", ())),
        strict_mcp_config=given.get("strict_mcp_config", False),
        plugin_dirs=tuple(given.get("plugin_dirs", ())),
        bundled_dir=given.get("bundled_dir"),
    )
    detect = given.get("detect", True)
    detection = (
        _detection(place, located.spec) if detect else Detection("unknown", {}, (), rule="not looked for")
    )
    own = claude.read(place, options)
    others = _others(place, own) if detect else {}
    sources = own + agent_skills.read(place)
    if detect:
        sources = sources + _recipes(place)
    if located.spec is not None and not (_holds(sources, located.spec) or _is_of(others, located.spec)):
        from checkrein.dialects.claude import files

        sources = sources + files.read(located.spec, files.guess(located.spec), within=place.within)
    sources = sources + _own_skills(place) + ownrules.read(place, environment)
    governance = _governance(place, environment)
    if governance is not None or given.get("bundled", False):
        sources = sources + _bundled()
    warning = () if others else _root_warning(place)
    project = resolve(place, sources + Sources(diagnostics=warning), detection, environment)
    if governance is not None or any(skill.activate_deps for skill in sources.skills):
        project = _governed(project, governance)
    return replace(project, others=others) if others else project


def load_again(place: Place, env: Mapping[str, str]) -> Project:
    """The project of a session as its files are now. What a command line added besides is not in it."""
    return load(
        place.cwd,
        env=env,
        home=place.home,
        managed_dir=place.managed_dir,
        add_dirs=place.add_dirs,
        setting_sources=place.setting_sources,
        detect=False,
    )


def session_view(
    project: Project,
    mode: SessionMode = "plain",
    *,
    target: str | None = None,
    requires_packs: Iterable[str] = (),
) -> View:
    """What a session sees. `target` is the skill that a worker runs, `requires_packs` are its recipe's.

    The modes `cook` and `headless` need a project that was loaded with `bundled=True`. Raises ConfigError
    when the configuration puts a skill into several tiers.
    """
    if project.governance is None and mode == "plain":
        return View(project)
    from checkrein.passes.visibility.session_view import governed_view, rules_for

    return governed_view(project, rules_for(project, mode, target=target, requires_packs=requires_packs))


def own_skill_dirs(place: Place) -> list[str]:
    """The `.checkrein/skills/` that exist, nearest first. `.claude/skills/` wins: every agent reads it."""
    if place.setting_sources is not None and "project" not in place.setting_sources:
        return []
    paths = (os.path.join(folder, _OWN_SKILLS) for folder in chain(place))
    return [path for path in paths if os.path.isdir(path)]


def _own_skills(place: Place) -> Sources:
    found = own_skill_dirs(place)
    if not found:
        return Sources()
    from checkrein.dialects.codes import Log

    log = Log(place.within)
    seen: set[str] = set()
    skills = tuple(skill for path in found for skill in claude.read_skills(path, "project", log, seen))
    return Sources(skills=skills, diagnostics=tuple(log))


def _recipes(place: Place) -> Sources:
    from checkrein.passes.recipes.folders import read_recipes

    return read_recipes(place)


def _bundled() -> Sources:
    from checkrein.passes.visibility.bundled_skills import bundled_skills

    return Sources(skills=bundled_skills())


def _governance(place: Place, env: Mapping[str, str]) -> Governance | None:
    """What the configuration says about visibility. Most projects pay only for a look at their files."""
    own = os.path.join(place.root, "checkrein.toml")
    files = (
        os.path.join(home_path(env), "config.toml"),
        own if os.path.isfile(own) else os.path.join(place.root, "pyproject.toml"),
        os.path.join(place.root, ".checkrein", "secrets.toml"),
    )
    texts = (read_bytes(file).data for file in files)
    if not any(word in text for text in texts for word in _GOVERNANCE_WORDS) and not any(
        name.startswith(_GOVERNANCE_VARIABLES) for name in env
    ):
        return None
    from checkrein.passes.visibility.configuration import read_governance

    return read_governance(place, env)


def _governed(project: Project, governance: Governance | None) -> Project:
    """The project with its governance, and what is wrong with that and with dependencies of skills."""
    from checkrein.passes.visibility.configuration import problems

    wrong = tuple(problems(project, governance))
    return replace(project, governance=governance, diagnostics=(*project.diagnostics, *wrong))


def _detection(place: Place, spec: str | None) -> Detection:
    from checkrein.passes.detect import detect_place

    return detect_place(place, spec)


def _others(place: Place, own: Sources) -> dict[str, Project]:
    from checkrein.passes import others

    return others.read(place, own)


def _holds(sources: Sources, spec: str) -> bool:
    items = (*sources.skills, *sources.commands, *sources.agents, *sources.instructions, *sources.recipes)
    files = [item.origin.file for item in items]
    files += [one.origin.file for one in sources.diagnostics if one.code == "RECIPE001"]
    return any(os.path.realpath(file) == spec for file in files)


def _is_of(others: Mapping[str, Project], spec: str) -> bool:
    """Whether another agent's reader has read the file."""
    kinds = ("skills", "commands", "agents", "instructions", "hooks", "rules", "servers", "diagnostics")
    held = (getattr(other.sources, kind) for other in others.values() for kind in kinds)
    return any(os.path.realpath(item.origin.file) == spec for items in held for item in items)


def _root_warning(place: Place) -> tuple[Diagnostic, ...]:
    if place.root_reason != "fallback":
        return ()
    message = "No directory above has `.claude/` or `.git/`; the workspace may be incomplete"
    return (diagnose("ROOT001", message, Origin(place.root, "project")),)
