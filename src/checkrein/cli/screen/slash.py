"""The commands of the screen: each has a function of its own, or is a command of the command line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from checkrein.base.errors import CheckreinError

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit

Rest = Literal["any", "none"]


class SlashCommand(Struct, frozen=True, kw_only=True):
    """`work` names a function `module:name` that takes the cockpit and what follows the name; `argv` is a
    command of the command line, which gets what follows as its words. With `rest` none, the session takes the
    command when something follows. `idle`: only between turns."""

    summary: str
    hint: str = ""
    work: str = ""
    argv: tuple[str, ...] = ()
    with_words: tuple[str, ...] = ()
    rest: Rest = "any"
    idle: bool = False
    hidden: bool = False


def _listed(summary: str, *argv: str, hint: str = "", with_words: tuple[str, ...] = ()) -> SlashCommand:
    """`with_words` is the command when words follow."""
    return SlashCommand(summary=summary, hint=hint, argv=argv, with_words=with_words)


def _own(summary: str, work: str, hint: str = "", *, idle: bool = False) -> SlashCommand:
    return SlashCommand(summary=summary, hint=hint, work=work, idle=idle)


COMMANDS: dict[str, SlashCommand] = {
    "help": _own("The commands and the keys.", "session_views:show_help"),
    "keys": _own("The keys, and how to change them.", "session_views:show_keys"),
    "status": _own("The session: model, mode, directory, trust, what it costs.", "session_views:show_status"),
    "cost": _own("What the session has used, by model and by agent.", "session_views:show_cost"),
    "context": _own("What fills the context window.", "session_views:show_context"),
    "todos": _own("The to-do list.", "session_views:show_todos"),
    "agents": _own("The agents at work, and those that the project has.", "session_views:show_agents"),
    "diff": _own("What has changed in the repository.", "session_views:show_diff", "[path]"),
    "tasks": _own("Work in the background: look at it, stop it.", "pickers:pick_task"),
    "model": SlashCommand(summary="Choose the model.", hint="[name]", work="pickers:pick_model", rest="none"),
    "effort": _own("Choose how much the model thinks.", "pickers:pick_effort", "[effort]"),
    "mode": _own("Choose the permission mode.", "pickers:pick_mode", "[mode]"),
    "resume": _own("Go on with an earlier session.", "pickers:pick_session", "[session]"),
    "fork": _own("Go on in a copy of this session.", "pickers:fork_session", idle=True),
    "rename": _own("Give the session a title.", "pickers:rename_session", "<title>", idle=True),
    "rewind": _own(
        "Go back to before a prompt: files, conversation, or both.", "pickers:pick_prompt", idle=True
    ),
    "theme": _own("Choose the colours.", "pickers:pick_theme", "[dark|light|none]"),
    "history": _own("Search earlier prompts.", "pickers:pick_history"),
    "paste-image": _own("Attach the image on the clipboard.", "pickers:paste_image"),
    "trust": _listed("What the project would run; trust it.", "trust", with_words=("trust",)),
    "doctor": _listed("What is there, what is missing, and how to get it.", "doctor"),
    "permissions": _listed(
        "The rules with file and line, or why a call is judged as it is.",
        "show",
        "permissions",
        hint="[call]",
        with_words=("why",),
    ),
    "hooks": _listed("The hooks of the project.", "show", "hooks"),
    "skills": _listed("The skills of the project.", "show", "skills"),
    "memory": _listed("The instruction files that the model reads.", "show", "memory"),
    "mcp": _listed("The MCP servers, and how they are.", "mcp", "list", hint="[verb]", with_words=("mcp",)),
    "plugin": _listed("The plugins.", "plugin", "list", hint="[verb]", with_words=("plugin",)),
    "check": _listed("What is wrong with the project.", "check"),
    "why": _listed("Explain a call, a path, a name or a key.", "why", "--prompt", with_words=("why",)),
    "sessions": _listed("The sessions of this directory.", "sessions", "list", with_words=("sessions",)),
    "init": _listed("Write a first CLAUDE.md and settings.", "init", with_words=("init",)),
    "export": _own("Write the session to a file: .md, .html or .jsonl.", "session_files:export", "[file]"),
    "copy": _own("Copy the last reply to the clipboard.", "session_files:copy_reply"),
    "editor": SlashCommand(summary="Write the prompt in $EDITOR.", work="pickers:open_editor"),
    "transcript": SlashCommand(summary="The whole transcript.", work="pickers:open_transcript"),
    "exit": _own("Leave.", "pickers:leave"),
    "quit": SlashCommand(summary="Leave.", work="pickers:leave", hidden=True),
}


def takes(text: str) -> bool:
    """Whether a typed text is a command of the screen."""
    name, _, rest = text[1:].partition(" ")
    found = COMMANDS.get(name.strip()) if text.startswith("/") else None
    return found is not None and not (found.rest == "none" and rest.strip())


def carry_out(cockpit: Cockpit, name: str, rest: str) -> None:
    """Do it in a thread of its own, or between turns in that of the session."""
    command = COMMANDS[name]

    def work(*_: object) -> None:
        try:
            _work(command, cockpit)(rest)
        except CheckreinError as error:
            cockpit.tell(error.message, "bad")
            if error.hint:
                cockpit.tell(error.hint)

    if command.idle:
        assert cockpit.conductor is not None
        if cockpit.board is not None and cockpit.board.busy:
            cockpit.tell(f"/{name} waits for the end of the turn.")
        cockpit.conductor.put(work)
    else:
        threading.Thread(target=work, name=f"checkrein-{name}", daemon=True).start()


def _work(command: SlashCommand, cockpit: Cockpit) -> Callable[[str], object]:
    if command.work:
        module, _, name = command.work.partition(":")
        work = getattr(import_module(f"checkrein.cli.screen.{module}"), name)
        return lambda rest: work(cockpit, rest)
    from checkrein.cli.screen.command_line import say_outcome

    def run(rest: str) -> None:
        say_outcome(cockpit, words_of(command, rest))

    return run


def words_of(command: SlashCommand, rest: str) -> Sequence[str]:
    from shlex import split

    if not rest:
        return command.argv
    try:
        words = split(rest)
    except ValueError:
        words = [rest]
    if command.with_words == ("why",):
        words = [rest]
    return (*(command.with_words or command.argv), *words)
