"""From the arguments of `checkrein run` to a project and the options of a session."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import UsageError
from checkrein.cli.target import require
from checkrein.model.rule import split_rule_list

if TYPE_CHECKING:
    from checkrein.model.project import Project
    from checkrein.model.view import View
    from checkrein.protocol.handshake import Greeting
    from checkrein.runtime.session.options import Options, Thinking
    from checkrein.runtime.store import SessionKind

Values = dict[str, Any]
_SOURCES = ("user", "project", "local")
_SETTINGS_BYTES = 2 << 20
_UNREADABLE = ("FILE001", "FILE002", "JSON001")
_UNUSABLE = (*_UNREADABLE, "SERVER001")


def project_of(values: Values, greeting: Greeting | None = None) -> View:
    """The project as the arguments want it, with what a host brings in."""
    from checkrein.passes.load import load, session_view

    require(values["project"])
    sources = values["setting_sources"]
    mode = values.get("session_mode", "plain")
    project = load(
        values["project"],
        add_dirs=values["add_dir"],
        setting_sources=_sources(sources),
        settings=_settings(values["settings"]),
        agents=_agents(values["agents"], greeting),
        mcp_config=values["mcp_config"],
        strict_mcp_config=values["strict_mcp_config"],
        plugin_dirs=values["plugin_dir"],
        bundled=mode != "plain",
        detect=False,
    )
    if values["mcp_config"]:
        from checkrein.runtime.mcp.scopes import require_open

        require_open(project.place)
        _check_servers(project)
    view = session_view(project, mode)
    if greeting is not None and greeting.skills is not None:
        view = view.narrow(skills=greeting.skills)
    if values["no_commands"]:
        view = view.narrow(skills=(), commands=())
    return view.narrow(skills=(), commands=(), agents=(), servers=()) if values["bare"] else view


def _check_servers(project: Project) -> None:
    """Who names servers for one run gets them, or learns why not."""
    usable = any(server.origin.scope == "cli" for server in project.sources.servers)
    for found in project.sources.diagnostics:
        if found.origin.scope == "cli" and found.code in (_UNREADABLE if usable else _UNUSABLE):
            raise UsageError(f"--mcp-config: {found.message}.", hint=found.hint)


def session_options(values: Values) -> Options:
    from checkrein.runtime.session.budget import Budget
    from checkrein.runtime.session.options import Options

    mode = "bypassPermissions" if values["skip_permissions"] else values["permission_mode"]
    sources = values["setting_sources"]
    return Options(
        mode="default" if mode == "manual" else mode,
        allowed=tuple(_rules(values["allowed_tools"])),
        disallowed=tuple(_rules(values["disallowed_tools"])),
        tools=tuple(_split(values["tools"])) if values["tools"] else None,
        system_prompt=_text_or_file(values, "system_prompt"),
        append_system_prompt=_text_or_file(values, "append_system_prompt"),
        fallback_models=tuple(_split((values["fallback_model"] or "",))),
        thinking=_thinking(values),
        thinking_display=values["thinking_display"],
        betas=tuple(_split(values["betas"])),
        task_budget=_at_least(values, "task_budget", 1),
        effort=values["effort"],
        budget=Budget(
            requests=_at_least(values, "max_turns", 0),
            usd=_at_least(values, "max_budget_usd", 0),
            seconds=_at_least(values, "max_seconds", 0),
        ),
        schema=_json(values["json_schema"], "--json-schema") if values["json_schema"] else None,
        partial=values["partial"] or (values["output_format"] == "text" and not values["print_"]),
        persist=not values["no_persist"],
        session_id=values["session_id"],
        resume=values["resume"] or None,
        continue_=values["continue_"] or values["resume"] == "",
        resume_at=values["resume_at"],
        drops_turn=values["drops_turn"],
        mirror=values["session_mirror"],
        prompt_tool=values["prompt_tool"] if values["prompt_tool"] != "stdio" else None,
        fork=values["fork_session"],
        title=values["name"],
        kind=_kind(values),
        trust=values["trust"] or "project" in (_sources(sources) or ()),
        allow_bypass=values["allow_skip"] or mode == "bypassPermissions",
        bare=values["bare"],
        commands=not values["no_commands"],
        setup="init" if values["init"] else "maintenance" if values["maintenance"] else None,
        agent=values["agent"] or None,
        sandbox=values["sandbox"],
        record=values["record"],
    )


def _kind(values: Values) -> SessionKind:
    if values["input_format"] == "stream-json":
        return "sdk"
    return "print" if values["print_"] else "interactive"


def _thinking(values: Values) -> Thinking:
    """The mode wins over the number of tokens, a flag over the environment."""
    if values["thinking"] in ("adaptive", "disabled"):
        return values["thinking"]  # type: ignore[no-any-return]  # the parser has checked it
    tokens = values["max_thinking_tokens"]
    if tokens is None:
        said = os.environ.get("MAX_THINKING_TOKENS", "")
        tokens = int(said) if said.isdigit() else None
    return "disabled" if tokens == 0 else tokens


def _rules(values: tuple[str, ...]) -> list[str]:
    return [rule for value in values for rule in split_rule_list(value)]


def _split(values: tuple[str, ...]) -> list[str]:
    return [part for value in values for part in value.replace(",", " ").split()]


def _sources(value: str | None) -> list[str] | None:
    """Parse `user,project`. An empty text means no source, None the default."""
    if value is None:
        return None
    sources = [name.strip() for name in value.split(",") if name.strip()]
    strange = [name for name in sources if name not in _SOURCES]
    if strange:
        hint = f"Use {', '.join(_SOURCES)}, separated by commas."
        raise UsageError(f"--setting-sources does not know {strange[0]!r}.", hint=hint)
    return sources


def _settings(value: str | None) -> dict[str, Any] | str | None:
    if value is None:
        return None
    if value.lstrip().startswith("{"):
        return _json(value, "--settings")
    try:
        found = os.stat(value)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--settings {value} can't be read: {_reason(error)}.", hint="Name a file, or write JSON."
        ) from error
    if not stat.S_ISREG(found.st_mode) or found.st_size > _SETTINGS_BYTES:
        raise UsageError(f"--settings {value} is not a file of at most {_SETTINGS_BYTES >> 20} MiB.")
    return value


def _agents(text: str | None, greeting: Greeting | None) -> dict[str, Any] | None:
    agents = _json(text, "--agents") if text else {}
    if greeting is not None:
        agents = {**agents, **greeting.agents}
    if not agents:
        return None
    from checkrein.passes.agents.given_agents import mistake

    wrong = mistake(agents)
    if wrong is not None:
        raise UsageError(f"--agents: {wrong}")
    return agents


def _at_least(values: Values, name: str, least: float) -> Any:
    value = values[name]
    if value is not None and not value >= least:
        raise UsageError(f"--{name.replace('_', '-')} must be at least {least:g}, not {value:g}.")
    return value


def _json(text: str, flag: str) -> dict[str, Any]:
    import json

    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{flag} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError(f"{flag} must be a JSON object.")
    return value


def _text_or_file(values: Values, name: str) -> str | None:
    text: str | None = values[name]
    file: str | None = values[f"{name}_file"]
    if file is None:
        return text
    if text is not None and name == "system_prompt":
        raise UsageError("--system-prompt and --system-prompt-file can't be used together.")
    try:
        with open(file, encoding="utf-8") as handle:
            content = handle.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} can't be read: {_reason(error)}.") from error
    return f"{text}\n{content}" if text else content


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
