"""What takes the whole terminal for a while: the editor of the person, and the transcript."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.bindings.scroll import scroll_page_down, scroll_page_up
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.widgets import SearchToolbar, TextArea

from checkrein.base.harmless import harmless
from checkrein.base.origin import BUNDLED, Origin

if TYPE_CHECKING:
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

    from checkrein.cli.screen.cockpit import Cockpit

_ORIGIN = Origin(BUNDLED, "bundled", None, "screen.editor")
_EDITORS = ("VISUAL", "EDITOR")
_LARGEST = 8 << 20


async def editor(cockpit: Cockpit) -> None:
    """Let the person write the prompt in their editor."""
    face = cockpit.face
    text = await _edited(cockpit, face.buffer.text)
    if text is not None:
        face.put(text.rstrip("\n"))
    face.redraw()


def edited_elsewhere(cockpit: Cockpit, text: str) -> str | None:
    """The same for a text, for any other thread; None when the editor failed."""
    loop = cockpit.face.app.loop
    if loop is None:
        return None
    return asyncio.run_coroutine_threadsafe(_edited(cockpit, text), loop).result()


async def _edited(cockpit: Cockpit, text: str) -> str | None:
    """The editor has the terminal, and this thread waits with it: keys belong to the editor alone."""
    from checkrein.runtime.process.command import Command

    session = cockpit.session
    if session is None:
        return None
    words = next((os.environ[name] for name in _EDITORS if os.environ.get(name)), "vi")
    descriptor, path = tempfile.mkstemp(prefix="checkrein-", suffix=".md")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        argv = (*shlex.split(words), path)
        command = Command(
            argv=argv, cwd=os.getcwd(), origin=_ORIGIN, purpose="your editor", env=dict(os.environ)
        )
        async with in_terminal():
            try:
                status = session.conversation.services.spawner.attach(command)
            except OSError as error:
                cockpit.tell(f"{argv[0]} can't be started: {error.strerror or error}.", "bad")
                return None
        if status != 0:
            cockpit.tell(f"{argv[0]} ended with status {status}; the text stays as it was.", "warn")
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    finally:
        os.unlink(path)


async def transcript(cockpit: Cockpit) -> None:
    """The whole conversation with thoughts, inputs and outputs, on a screen of its own."""
    from checkrein.cli.screen.transcript_text import transcript_text

    session = cockpit.session
    if session is None:
        return
    text = harmless(transcript_text(session.conversation.state.messages)).replace("\t", "    ")
    search = SearchToolbar(ignore_case=True)
    area = TextArea(text, read_only=True, scrollbar=True, search_field=search, wrap_lines=True)
    area.buffer.cursor_position = len(text)
    hint = Window(
        FormattedTextControl(" q or Ctrl-O: back · / searches · n: next · arrows, PgUp, PgDn"), height=1
    )
    app: Application[None] = Application(
        layout=Layout(HSplit([area, search, hint]), area),
        key_bindings=_transcript_keys(),
        full_screen=True,
        input=cockpit.face.app.input,
        output=cockpit.terminal,
    )
    async with in_terminal():
        await app.run_async(handle_sigint=False)


def _transcript_keys() -> KeyBindings:
    from prompt_toolkit.filters import is_searching

    keys = KeyBindings()

    @keys.add("q", filter=~is_searching)
    @keys.add("escape", filter=~is_searching)
    @keys.add("c-o", filter=~is_searching)
    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        event.app.exit()

    keys.add("pageup")(scroll_page_up)
    keys.add("pagedown")(scroll_page_down)
    keys.add("space", filter=~is_searching)(scroll_page_down)

    @keys.add("home", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cursor_position = 0

    @keys.add("end", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cursor_position = len(event.current_buffer.text)

    @keys.add("n", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.apply_search(event.app.current_search_state, include_current_position=False)

    @keys.add("/", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        from prompt_toolkit.search import SearchDirection, start_search

        start_search(direction=SearchDirection.FORWARD)

    return keys
