"""`/config`: what a session goes by, and how to change it. Settings files stay as they are."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError
from checkrein.base.nearest import did_you_mean
from checkrein.facts.claude import EFFORTS
from checkrein.runtime.context import styles
from checkrein.runtime.session.events import Event

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

_ON = frozenset({"true", "on", "adaptive"})
_OFF = frozenset({"false", "off", "disabled", "0"})
KEYS = {
    "model": "the model",
    "effort": f"how much it thinks: {', '.join(EFFORTS)}",
    "thinking": "true, false, or a number of tokens",
    "outputStyle": "an output style, or default",
}


def configure(conversation: Conversation, rest: str) -> Generator[Event, None, str]:
    """Answer `/config`, or carry out each `key=value` after it until one does not fit."""
    if not rest:
        return "\n".join(f"{key}={_now(conversation, key)}" for key in KEYS)
    said: list[str] = []
    for word in rest.split():
        key, _, value = word.partition("=")
        if key not in KEYS or not value:
            wanted = did_you_mean(key, KEYS) if value else " Write key=value."
            return "\n".join((*said, f"/config can't take {word!r}.{wanted} Keys: {', '.join(KEYS)}."))
        try:
            yield from _set(conversation, key, value)
        except CheckreinError as error:
            return "\n".join((*said, f"{key} stays {_now(conversation, key)}: {error.message}"))
        said.append(f"{key}={_now(conversation, key)}")
    return "\n".join(said)


def _now(conversation: Conversation, key: str) -> str:
    match key:
        case "model":
            return conversation.state.model
        case "effort":
            return conversation.effort or "default"
        case "thinking":
            return str(conversation.backdrop.prompt.thinking or "default")
    return conversation.backdrop.prompt.style or styles.chosen(conversation.view.project)


def _set(conversation: Conversation, key: str, value: str) -> Generator[Event, None, None]:
    match key:
        case "model":
            conversation.services.choose(value)
            conversation.control.set_model(value)
            yield from conversation.take_changes()
        case "effort":
            if value not in EFFORTS:
                raise CheckreinError(f"it is one of {', '.join(EFFORTS)}.", kind="value_invalid")
            conversation.state.effort = value
        case "thinking":
            _think(conversation, value.lower())
        case _:
            _choose_style(conversation, value)


def _think(conversation: Conversation, value: str) -> None:
    if value in _ON:
        conversation.backdrop.prompt.thinking = "adaptive"
    elif value in _OFF:
        conversation.backdrop.prompt.thinking = "disabled"
    elif value.isdecimal() and len(value) < 10:
        conversation.backdrop.prompt.thinking = int(value)
    else:
        raise CheckreinError(f"it is {KEYS['thinking']}.", kind="value_invalid")


def _choose_style(conversation: Conversation, name: str) -> None:
    found = styles.styles(conversation.view.project.place)
    if name != styles.DEFAULT and name not in found:
        raise CheckreinError(f"there is no style {name!r}.{did_you_mean(name, found)}", kind="value_invalid")
    restyle(conversation, name)


def restyle(conversation: Conversation, name: str) -> None:
    """Another output style from the next request on."""
    segment = styles.segment_of(conversation.view.project.place, name)
    conversation.backdrop.prompt.restyle(segment, name)
