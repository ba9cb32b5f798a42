"""From the command line to the screen. The prompt takes keys before anything of the session is imported."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from prompt_toolkit.input import create_input

from checkrein.cli.screen.cockpit import Cockpit
from checkrein.cli.screen.face import Face
from checkrein.cli.screen.helm import Helm
from checkrein.cli.screen.history import PromptHistory
from checkrein.cli.screen.ink import encoded
from checkrein.cli.screen.keys import bind_actions, bindings
from checkrein.cli.screen.terminal import RESET, Terminal, saved_settings
from checkrein.cli.screen.theme import Theme

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings

_TICK = 0.5
_SWITCH = 0.001
"""Seconds that one thread keeps the interpreter while a key waits."""


def enter(values: dict[str, Any] | None = None) -> int:
    """Open the screen with the values of `checkrein run`, and stay until the person leaves."""
    from checkrein.cli import out

    if os.environ.get("TERM", "dumb") == "dumb" or _plain():
        return _without_screen(values)

    stream = out.screen_stream()
    terminal = Terminal(stream, os.environ)
    theme = Theme("auto", os.environ)
    face = Face(terminal, theme)
    cockpit = Cockpit(face, terminal, theme)
    cockpit.before = saved_settings(sys.stdin.fileno())
    helm = Helm(cockpit)
    keys = bindings(face, helm)
    bind_actions(keys, helm, face, {})
    face.buffer.history = PromptHistory()
    face.build(keys, create_input(sys.stdin))
    sys.setswitchinterval(_SWITCH)
    try:
        asyncio.run(_stay(cockpit, keys, helm, values))
    finally:
        terminal.write_raw(RESET)
        terminal.flush()
    return cockpit.status


def _plain() -> bool:
    """Whether the person wants no drawing. Reads the configuration only where it says something about it."""
    from checkrein.base.home import checkrein_home

    if "CHECKREIN_SCREEN__PLAIN" not in os.environ:
        try:
            with open(checkrein_home() / "config.toml", encoding="utf-8") as file:
                if "plain" not in file.read():
                    return False
        except (OSError, UnicodeDecodeError):
            return False
    from checkrein.cli.screen.preferences import screen_config

    return bool(screen_config().get("screen.plain"))


def _without_screen(values: dict[str, Any] | None) -> int:
    if values is None:
        from checkrein.cli.main import run

        return run(["run"])
    from checkrein.cli.screen.plain import stay

    return stay(values)


async def _stay(cockpit: Cockpit, keys: KeyBindings, helm: Helm, values: dict[str, Any] | None) -> None:
    app = cockpit.face.app
    loop = asyncio.get_running_loop()
    for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        loop.add_signal_handler(number, cockpit.exit, status)
    loop.add_signal_handler(signal.SIGINT, helm.interrupt)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))

    def broken(_: object, context: dict[str, Any]) -> None:
        """A mistake of ours ends the screen, never leaves it half drawn."""
        cockpit.fail(context.get("exception") or context.get("message"))

    loop.set_exception_handler(broken)

    def load_once(_: object) -> None:
        app.after_render -= load_once
        threading.Thread(target=_load, args=(cockpit, keys, helm, values), daemon=True).start()

    app.after_render += load_once
    clock = asyncio.ensure_future(_tick(cockpit))
    try:
        await app.run_async(handle_sigint=False, set_exception_handler=False)
    except EOFError:  # the terminal is gone
        cockpit.status = 129
    finally:
        clock.cancel()
        await asyncio.to_thread(_close, cockpit)


async def _tick(cockpit: Cockpit) -> None:
    """Times move while something works; a quiet screen writes nothing."""
    while True:
        await asyncio.sleep(_TICK)
        if cockpit.moves:
            cockpit.face.redraw()


def _load(cockpit: Cockpit, keys: KeyBindings, helm: Helm, values: dict[str, Any] | None) -> None:
    """Bring in the rest, while the person already types."""
    try:
        from checkrein.cli.screen.ensemble import assemble

        assemble(cockpit, keys, helm, values)
    except Exception as error:
        cockpit.fail(error)


def _close(cockpit: Cockpit) -> None:
    if cockpit.conductor is not None:
        cockpit.conductor.close()
    if cockpit.painter is not None:
        cockpit.painter.close()
    if cockpit.watcher is not None:
        cockpit.watcher.dismiss()
    left = cockpit.face.left_over()
    with contextlib.suppress(OSError, ValueError):
        cockpit.terminal.write_raw(left + encoded(cockpit.last_words, colors=cockpit.theme.colors))
        cockpit.terminal.clear_title()
        cockpit.terminal.flush()
