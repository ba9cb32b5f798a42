"""The capability surface of a plugin or a skill: everything that it can do without another question."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import reduce

from checkrein.model.items import Hook, Invocable, Plugin, Server, Skill
from checkrein.model.plugins import Capabilities
from checkrein.model.project import Sources
from checkrein.runtime.plugins import script_reach


def of_plugin(plugin: Plugin, parts: Sources) -> Capabilities:
    """`parts` are the source items of this plugin alone."""
    from checkrein.base.secrets import redact_text

    invocables = (*parts.skills, *parts.commands)
    hooks = (*parts.hooks, *(hook for item in invocables for hook in item.hooks))
    lines = tuple(program.command for program in plugin.programs if program.kind == "monitor")
    own = Capabilities(
        executables=_lines(_names(os.path.join(plugin.root, "bin"))),
        lsp=_lines(_program(one.name, one.command) for one in plugin.programs if one.kind == "lsp"),
        monitors=_lines(_program(one.name, one.command) for one in plugin.programs if one.kind == "monitor"),
        settings=_lines(f"{one.name}: {redact_text(str(one.value))}" for one in parts.settings),
    )
    found = (own, _shell(lines), _hooks(hooks), _servers(parts.servers), _invocables(invocables))
    started = (
        *(" ".join((hook.command or "", *(hook.args or ()))) for hook in hooks),
        *(
            " ".join((server.command or "", *server.args, server.headers_helper or ""))
            for server in parts.servers
        ),
        *(program.command for program in plugin.programs),
        *_own_lines(invocables),
    )
    return _joined((*found, script_reach.of_tree(plugin.root, "\n".join(started))))


def of_skill(skill: Skill) -> Capabilities:
    started = (
        *(" ".join((hook.command or "", *(hook.args or ()))) for hook in skill.hooks),
        *_own_lines((skill,)),
    )
    scripts = script_reach.of_tree(skill.directory, "\n".join(started))
    return _joined((_hooks(skill.hooks), _invocables((skill,)), scripts))


def _hooks(hooks: Iterable[Hook]) -> Capabilities:
    from checkrein.base.secrets import redact_text

    found = Capabilities()
    for hook in hooks:
        words = " ".join((hook.command or "", *(hook.args or ()))).strip()
        what = words or hook.url or hook.prompt or f"{hook.server}/{hook.tool}"
        matcher = f"({hook.matcher})" if hook.matcher else ""
        line = f"{hook.name}{matcher} {hook.type}: {redact_text(what)}"
        found = found.joined(Capabilities(hooks=(line,), hosts=script_reach.hosts(what)))
        if hook.command and hook.args is None:
            found = found.joined(script_reach.of_shell(hook.command, f"hook {hook.name}{matcher}"))
        elif hook.command:
            found = found.joined(Capabilities(programs=(os.path.basename(hook.command),)))
    return found


def _servers(servers: Iterable[Server]) -> Capabilities:
    from checkrein.base.secrets import redact_url, redact_words

    found = Capabilities()
    for server in servers:
        words = " ".join((server.command or "", *redact_words(server.args))).strip()
        line = f"{server.name}: {words or redact_url(server.url or '')}"
        helper = server.headers_helper
        found = found.joined(
            Capabilities(
                servers=(line, *((f"{server.name} headers: {helper}",) if helper else ())),
                hosts=script_reach.hosts(" ".join((server.url or "", words))),
                programs=(os.path.basename(server.command),) if server.command else (),
            )
        )
    return found


def _invocables(items: Iterable[Invocable]) -> Capabilities:
    found = Capabilities()
    for item in items:
        tools = Capabilities(tools=_lines(item.allowed_tools))
        found = _joined((found, tools, _shell(_own_lines((item,)))))
    return found


def _own_lines(items: Iterable[Invocable]) -> list[str]:
    """The shell lines that run when a skill or command is loaded."""
    from checkrein.runtime.skills.template import pieces

    return [piece.text.strip() for item in items for piece in pieces(item.body) if piece.command]


def _shell(lines: Iterable[str]) -> Capabilities:
    return _joined(Capabilities(commands=(line,)).joined(script_reach.of_shell(line, line)) for line in lines)


def _program(name: str, command: str) -> str:
    return f"{name}: {command}"


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _lines(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(lines)))


def _joined(parts: Iterable[Capabilities]) -> Capabilities:
    return reduce(Capabilities.joined, parts, Capabilities())
