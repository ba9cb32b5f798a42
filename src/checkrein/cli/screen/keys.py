"""The keys: what each does, and which key it is. The names in `ACTIONS` may get other keys in the
configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from prompt_toolkit.filters import Condition, emacs_mode, vi_insert_mode, vi_navigation_mode
from prompt_toolkit.key_binding import KeyBindings

from checkrein.cli.screen.dialog import Dialog, Entry

if TYPE_CHECKING:
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

    from checkrein.cli.screen.face import Face

ACTIONS: dict[str, tuple[str, str]] = {
    "newline": ("escape enter", "a new line in the prompt"),
    "editor": ("c-g", "write the prompt in $EDITOR"),
    "search": ("c-r", "search earlier prompts"),
    "transcript": ("c-o", "the whole transcript, with thoughts and outputs"),
    "background": ("c-b", "send what runs to the background"),
    "tasks": ("c-t", "tasks in the background"),
    "mode": ("s-tab", "the next permission mode"),
    "image": ("c-v", "paste an image from the clipboard"),
    "redraw": ("c-l", "draw the screen again"),
    "suspend": ("c-z", "back to the shell; `fg` returns"),
}
"""Action to its key and what it does. Keys are those of prompt_toolkit; blanks separate a sequence."""


class Hands(Protocol):
    """What the keys move."""

    @property
    def busy(self) -> bool: ...
    def submit(self) -> None: ...
    def interrupt(self) -> None: ...
    def escape(self) -> None: ...
    def leave(self, *, at_once: bool) -> None: ...
    def paste(self, text: str) -> None: ...
    def act(self, action: str) -> None: ...


def bindings(face: Face, hands: Hands) -> KeyBindings:
    keys = KeyBindings()
    listing = Condition(lambda: isinstance(face.asked, Dialog))
    writing = Condition(lambda: isinstance(face.asked, Entry))
    asking = listing | writing
    menu = Condition(lambda: face.buffer.complete_state is not None) & ~asking
    empty = Condition(lambda: not face.buffer.text)

    @keys.add("enter", filter=~asking)
    def _(event: KeyPressEvent) -> None:
        buffer = face.buffer
        state = buffer.complete_state
        if state is not None and state.current_completion is not None:
            buffer.complete_state = None
        elif buffer.text.endswith("\\") and buffer.cursor_position == len(buffer.text):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            hands.submit()

    @keys.add("c-j", filter=~listing)
    def _(event: KeyPressEvent) -> None:
        face.buffer.insert_text("\n")

    @keys.add("<bracketed-paste>", filter=~listing)
    def _(event: KeyPressEvent) -> None:
        hands.paste(event.data)

    @keys.add("tab", filter=~asking)
    @keys.add("down", filter=menu)
    def _(event: KeyPressEvent) -> None:
        if face.buffer.complete_state is None:
            face.buffer.start_completion(select_first=True)
        else:
            face.buffer.complete_next()

    @keys.add("up", filter=menu)
    def _(event: KeyPressEvent) -> None:
        face.buffer.complete_previous()

    @keys.add("escape", filter=menu)
    def _(event: KeyPressEvent) -> None:
        face.buffer.cancel_completion()

    @keys.add("escape", filter=~asking & ~menu & (emacs_mode | vi_navigation_mode | (vi_insert_mode & empty)))
    def _(event: KeyPressEvent) -> None:
        hands.escape()

    @keys.add("c-c", filter=~asking)
    def _(event: KeyPressEvent) -> None:
        hands.interrupt()

    @keys.add("c-d", filter=~asking & empty)
    def _(event: KeyPressEvent) -> None:
        hands.leave(at_once=not hands.busy)

    _list_keys(keys, face, listing)
    _entry_keys(keys, face, writing)
    return keys


def _list_keys(keys: KeyBindings, face: Face, listing: Condition) -> None:
    def asked() -> Dialog:
        assert isinstance(face.asked, Dialog)
        return face.asked

    @keys.add("up", filter=listing)
    @keys.add("c-p", filter=listing)
    def _(event: KeyPressEvent) -> None:
        asked().move(-1)

    @keys.add("down", filter=listing)
    @keys.add("c-n", filter=listing)
    @keys.add("tab", filter=listing)
    def _(event: KeyPressEvent) -> None:
        asked().move(1)

    @keys.add("enter", filter=listing)
    def _(event: KeyPressEvent) -> None:
        if asked().armed:
            asked().accept()

    @keys.add("escape", filter=listing)
    @keys.add("c-c", filter=listing)
    @keys.add("c-d", filter=listing)
    def _(event: KeyPressEvent) -> None:
        asked().settle(None)

    @keys.add("backspace", filter=listing)
    def _(event: KeyPressEvent) -> None:
        asked().delete()

    for name in ("c-f", "c-k", "c-e"):

        @keys.add(name, filter=listing)
        def _(event: KeyPressEvent, name: str = name) -> None:
            action, row = asked().actions.get(name), asked().chosen
            if action is not None and row is not None:
                action(row)

    @keys.add("<any>", filter=listing)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable() and (asked().armed or asked().search):
            asked().type(event.data)

    @keys.add("<bracketed-paste>", filter=listing)
    def _(event: KeyPressEvent) -> None:
        if asked().search:
            asked().type(" ".join(event.data.split()))


def _entry_keys(keys: KeyBindings, face: Face, writing: Condition) -> None:
    def asked() -> Entry:
        assert isinstance(face.asked, Entry)
        return face.asked

    @keys.add("enter", filter=writing)
    def _(event: KeyPressEvent) -> None:
        asked().accept(face.buffer.text)

    @keys.add("escape", filter=writing)
    @keys.add("c-c", filter=writing)
    def _(event: KeyPressEvent) -> None:
        asked().settle(None)

    @keys.add("tab", filter=writing)
    def _(event: KeyPressEvent) -> None:
        tab = asked().on_tab
        if tab is not None:
            tab()


def bind_actions(keys: KeyBindings, hands: Hands, face: Face, chosen: Mapping[str, str]) -> list[str]:
    """Bind the named actions, with the keys that the configuration gives them. Returns what is wrong with
    those."""
    free = Condition(lambda: face.asked is None)
    problems: list[str] = []
    for action, (usual, _) in ACTIONS.items():
        key = chosen.get(action, usual)
        if not _bound(keys, key, _doer(hands, action), free):
            problems.append(f"screen.keys: {key!r} for {action!r} is not a key; it stays {usual!r}.")
            _bound(keys, usual, _doer(hands, action), free)
    problems += [
        f"screen.keys: there is no action {name!r}; actions are {', '.join(ACTIONS)}."
        for name in chosen
        if name not in ACTIONS
    ]
    _bound(keys, "c-x c-e", _doer(hands, "editor"), free)
    return problems


def _doer(hands: Hands, action: str) -> Callable[[KeyPressEvent], None]:
    def do(event: KeyPressEvent) -> None:
        hands.act(action)

    return do


def _bound(keys: KeyBindings, sequence: str, do: Callable[[KeyPressEvent], None], free: Condition) -> bool:
    try:
        keys.add(*sequence.split(), filter=free)(do)
    except ValueError:
        return False
    return bool(sequence.split())
