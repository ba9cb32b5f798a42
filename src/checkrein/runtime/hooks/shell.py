"""Command hooks: a shell line, or a program with arguments; the event's JSON on standard input."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError
from checkrein.facts.claude_hooks import ENV_FILE_EVENTS, REMOVED_ENV_PREFIXES
from checkrein.model.items import Hook
from checkrein.runtime.hooks.output import Raw
from checkrein.runtime.hooks.ports import PluginPlace, RunsCommands, Surroundings

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel

_NEVER = frozenset({"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CLAUDE_ENV_FILE"})
_OPTION = re.compile(r"\$\{user_config\.([A-Za-z0-9_.-]+)\}")
_PLAIN = re.compile(r"[A-Za-z0-9_./@%+=:,-]*")


def run_command(
    hook: Hook,
    event: str,
    payload: dict[str, Any],
    around: Surroundings,
    spawner: RunsCommands,
    seconds: float,
    cancel: Cancel,
) -> Raw:
    from checkrein.base.wellformed import encode
    from checkrein.runtime.process.spawner import Command

    plugin = around.plugins.get(hook.plugin) if hook.plugin else None
    argv = command_line(hook, around, plugin)
    if argv is None:
        return Raw(
            failure="`${user_config.…}` works only in the form with `args`; a shell line uses "
            "$CLAUDE_PLUGIN_OPTION_…"
        )
    cwd = str(payload.get("cwd") or around.project_dir)
    command = Command(
        argv=argv,
        cwd=cwd if os.path.isdir(cwd) else around.project_dir,
        origin=hook.origin,
        purpose=f"the {event} hook `{hook.command}`",
        env=environment(event, payload, around, plugin),
        stdin=encode(payload) + b"\n",
        timeout=seconds,
    )
    try:
        done = spawner.run(command, cancel)
    except CheckreinError as error:
        return Raw(failure=error.message, untrusted=error.kind == "untrusted_origin", exit_code=None)
    refused = (f"{one.program} was refused when it started: {one.reason}" for one in done.refused)
    stderr = "\n".join(filter(None, (_text(done.stderr), *refused)))
    if done.timed_out:
        return Raw(
            failure=f"no answer within {seconds:g} s", timed_out=True, stderr=stderr, exit_code=done.exit_code
        )
    if done.cancelled:
        return Raw(cancelled=True, stderr=stderr, exit_code=done.exit_code)
    if not done.started:
        return Raw(failure=stderr or "it did not start", stderr=stderr, exit_code=done.exit_code)
    return Raw(stdout=_text(done.stdout), stderr=stderr, exit_code=done.exit_code)


def command_line(
    hook: Hook, around: Surroundings, plugin: PluginPlace | None
) -> tuple[str, ...] | str | None:
    """What to start: words for the exec form, text for bash; None when the text is not usable."""
    command = hook.command or ""
    places = {"CLAUDE_PROJECT_DIR": around.project_dir}
    if plugin is not None:
        places |= {"CLAUDE_PLUGIN_ROOT": plugin.root, "CLAUDE_PLUGIN_DATA": plugin.data}
    if hook.args is not None:
        options = plugin.options if plugin is not None else {}
        return tuple(_filled(word, places, options) for word in (command, *hook.args))
    if _OPTION.search(command):
        return None
    # Bash itself fills in a path with special characters: it has the path as a variable.
    text = _filled(command, {name: path for name, path in places.items() if _PLAIN.fullmatch(path)}, None)
    if hook.shell == "powershell":
        return ("pwsh", "-NoProfile", "-NonInteractive", "-Command", text)
    return text


def _filled(text: str, places: Mapping[str, str], options: Mapping[str, str] | None) -> str:
    for name, path in places.items():
        text = text.replace("${" + name + "}", path)
    if options is not None:
        text = _OPTION.sub(lambda found: options.get(found[1], ""), text)
    return text


def environment(
    event: str, payload: Mapping[str, Any], around: Surroundings, plugin: PluginPlace | None
) -> dict[str, str]:
    env = {
        name: value
        for name, value in around.env.items()
        if name not in _NEVER
        and not name.startswith(REMOVED_ENV_PREFIXES)
        and not name.startswith("BASH_FUNC_")
    }
    env["CLAUDE_PROJECT_DIR"] = around.project_dir
    env["CLAUDE_CODE_SESSION_ID"] = around.session_id
    env["CLAUDECODE"] = "1"
    effort = payload.get("effort")
    if isinstance(effort, dict) and effort.get("level"):
        env["CLAUDE_EFFORT"] = str(effort["level"])
    if around.remote:
        env["CLAUDE_CODE_REMOTE"] = "true"
    if event in ENV_FILE_EVENTS and around.env_file:
        os.makedirs(os.path.dirname(around.env_file), mode=0o700, exist_ok=True)
        env["CLAUDE_ENV_FILE"] = around.env_file
    if plugin is not None:
        with contextlib.suppress(OSError):
            os.makedirs(plugin.data, mode=0o700, exist_ok=True)
        env["CLAUDE_PLUGIN_ROOT"] = plugin.root
        env["CLAUDE_PLUGIN_DATA"] = plugin.data
        for key, value in plugin.options.items():
            env["CLAUDE_PLUGIN_OPTION_" + re.sub(r"\W", "_", key).upper()] = value
    return env


def _text(data: bytes) -> str:
    """Output as text. Bytes that are not UTF-8 become U+FFFD; NUL disappears."""
    return data.decode("utf-8", "replace").replace("\0", "")
