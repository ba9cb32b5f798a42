"""The commands that are part of Checkrein."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.llm.port import Cancel
from checkrein.runtime.session.events import Event
from checkrein.runtime.turn.directories import add_directory
from checkrein.runtime.turn.prompt_outcome import Prompted

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

Work = Callable[["Conversation", str, Cancel], Generator[Event, None, Prompted]]


class BuiltinCommand(Struct, frozen=True):
    """A command of the project with the same name comes before one that `yields`. `summary` and `hint` are
    for people: what it does, and what may follow its name."""

    work: Work
    summary: str
    hint: str = ""
    yields: bool = False


def _compact(conversation: Conversation, rest: str, cancel: Cancel) -> Generator[Event, None, Prompted]:
    yield from ()
    return Prompted(compact=rest)


def _add_dir(conversation: Conversation, rest: str, cancel: Cancel) -> Generator[Event, None, Prompted]:
    return Prompted(answer=(yield from add_directory(conversation, rest, "slash_command", cancel)))


def _loop(conversation: Conversation, rest: str, cancel: Cancel) -> Generator[Event, None, Prompted]:
    from checkrein.runtime.turn.loop_command import begin_loop

    return (yield from begin_loop(conversation, rest))


def _clear(conversation: Conversation, rest: str, cancel: Cancel) -> Generator[Event, None, Prompted]:
    from checkrein.runtime.turn.clear import clear

    return (yield from clear(conversation, cancel))


def _context(conversation: Conversation, rest: str, cancel: Cancel) -> Generator[Event, None, Prompted]:
    from checkrein.runtime.context.occupancy import as_text, context_usage

    yield from ()
    return Prompted(answer=as_text(context_usage(conversation)))


def _model(conversation: Conversation, rest: str, cancel: Cancel) -> Generator[Event, None, Prompted]:
    if not rest:
        return Prompted(answer=f"The model is {conversation.state.model}.")
    conversation.services.choose(rest)
    conversation.control.set_model(rest)
    yield from conversation.take_changes()
    return Prompted(answer=f"The model is {conversation.state.model} from now on.")


def _config(conversation: Conversation, rest: str, cancel: Cancel) -> Generator[Event, None, Prompted]:
    from checkrein.runtime.turn.config_command import configure

    return Prompted(answer=(yield from configure(conversation, rest)))


def _reload_plugins(
    conversation: Conversation, rest: str, cancel: Cancel
) -> Generator[Event, None, Prompted]:
    from checkrein.runtime.turn.plugin_changes import told

    yield from ()
    return Prompted(answer=told(conversation, forced=rest.strip() == "--force"))


COMMANDS = {
    "compact": BuiltinCommand(_compact, "Summarise the conversation so far.", "[focus]"),
    "clear": BuiltinCommand(_clear, "Begin another conversation; this one stays in its transcript."),
    "context": BuiltinCommand(_context, "Show what fills the context window."),
    "model": BuiltinCommand(_model, "Show the model, or use another one.", "[name]"),
    "config": BuiltinCommand(_config, "Show what the session goes by, or change it.", "[key=value]"),
    "add-dir": BuiltinCommand(_add_dir, "Add a working directory.", "<path>"),
    "reload-plugins": BuiltinCommand(_reload_plugins, "Say which plugins have changed.", "[--force]"),
    "loop": BuiltinCommand(_loop, "Repeat a prompt.", "[interval] [prompt]", yields=True),
}


def find_builtin(conversation: Conversation, prompt: str) -> BuiltinCommand | None:
    """The command that a prompt begins with."""
    if not conversation.options.commands:
        return None
    word = prompt.strip().partition(" ")[0]
    name = word[1:]
    found = COMMANDS.get(name) if word.startswith("/") else None
    if found is not None and found.yields and conversation.skills.invoker.find(name) is not None:
        return None
    return found
