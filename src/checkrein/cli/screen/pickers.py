"""Commands that let the person choose: model, effort, mode, session, prompt, task, theme."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.base.harmless import one_line
from checkrein.cli.screen.dialog import Choice, Dialog, Entry
from checkrein.cli.screen.session_views import session_of
from checkrein.cli.screen.theme import THEMES

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.protocol.session_rows import Row

_MANY = 500


def pick_model(cockpit: Cockpit, rest: str) -> None:
    """Choose from the models that can be used here. Any other name can be written."""
    from checkrein.cli.value_completion import SOURCES

    session = session_of(cockpit)
    now = session.conversation.state.model
    own = object()
    rows = [Choice(name, name, words or "") for name, words in SOURCES["models"]("")]
    rows.append(Choice("another one…", own))
    chosen = cockpit.ask(Dialog(f"Model (now {now})", rows, search=True, hint="type to search · Esc"))
    if chosen is own:
        chosen = cockpit.ask(Entry(lambda: "The model, as provider:name:"))
    if not chosen:
        return
    session.conversation.services.choose(str(chosen))
    session.control.set_model(str(chosen))
    if cockpit.board is not None:
        cockpit.board.model = str(chosen)
    cockpit.tell(f"The model is {one_line(str(chosen))} from the next request on.")


def pick_effort(cockpit: Cockpit, rest: str) -> None:
    from checkrein.facts.claude import EFFORTS

    session = session_of(cockpit)
    now = session.conversation.effort or "default"
    rows = [Choice(one, one, "in use" if one == now else "") for one in EFFORTS]
    chosen = rest or cockpit.ask(Dialog(f"Effort (now {now})", rows, hint="Esc: leave it"))
    if chosen is None:
        return
    if chosen not in EFFORTS:
        raise UsageError(f"{chosen!r} is not an effort.", hint=f"Choose one of {', '.join(EFFORTS)}.")
    session.conversation.state.effort = str(chosen)
    cockpit.tell(f"The effort is {chosen} from the next request on.")


def pick_mode(cockpit: Cockpit, rest: str) -> None:
    from checkrein.cli.screen.status_rows import MODES

    session = session_of(cockpit)
    conversation = session.conversation
    rows = [Choice(mode, mode, words) for mode, words in MODES.items() if conversation.may_enter(mode)]
    mode = rest or cockpit.ask(Dialog("Permission mode", rows, hint="Esc: leave it"))
    if mode is None:
        return
    if not conversation.may_enter(mode):
        raise UsageError(f"The mode {mode!r} is not available here.")
    conversation.enter(mode)
    session.control.set_mode(mode)
    if cockpit.board is not None:
        cockpit.board.mode = mode


def pick_session(cockpit: Cockpit, rest: str) -> None:
    """Go on with another session, in this terminal."""
    chosen = rest or choose_session(cockpit)
    if chosen:
        _reopen(cockpit, resume=chosen, fork_session=False)


def choose_session(cockpit: Cockpit) -> str | None:
    """A session of this directory, by its id. Ctrl-F forks it first, Ctrl-E gives it a title."""
    from checkrein.protocol.session_rows import list_rows
    from checkrein.runtime.store import SessionStore

    rows = list_rows(".", _MANY).sessions
    if not rows:
        cockpit.tell("There are no earlier sessions in this directory.")
        return None
    store = SessionStore()
    dialog = Dialog(
        "Resume",
        [Choice(one_line(row.summary) or "(no prompt)", row.session_id, _session_words(row)) for row in rows],
        search=True,
        hint="type to search · Ctrl-F: a copy · Ctrl-E: title · Esc",
    )

    def fork(row: Choice) -> None:
        dialog.settle(store.fork(row.value, os.getcwd()))

    def name(row: Choice) -> None:
        dialog.settle(("name", row.value))

    dialog.actions = {"c-f": fork, "c-e": name}
    chosen = cockpit.ask(dialog)
    if isinstance(chosen, tuple):
        title = cockpit.ask(Entry(lambda: "Title of the session:"))
        if title:
            try:
                store.rename(chosen[1], title, os.getcwd())
            except CheckreinError as error:
                cockpit.tell(error.message, "bad")
        return choose_session(cockpit)
    return None if chosen is None else str(chosen)


def _session_words(row: Row) -> str:
    when = (row.updated_at or "")[:16].replace("T", " ")
    branch = f" · {row.branch}" if row.branch else ""
    return f"{when} · {row.prompts} prompt{'s' * (row.prompts != 1)}{branch} · {row.session_id[:8]}"


def fork_session(cockpit: Cockpit, rest: str) -> None:
    _reopen(cockpit, resume=session_of(cockpit).id, fork_session=True)


def rename_session(cockpit: Cockpit, rest: str) -> None:
    title = " ".join(rest.split()) or cockpit.ask(Entry(lambda: "Title of the session:"))
    if title:
        session_of(cockpit).conversation.recorder.writer.title(title)
        cockpit.terminal.name(f"checkrein · {title}")
        cockpit.tell(f"The session is called {one_line(title)}.")


def _reopen(cockpit: Cockpit, **values: Any) -> None:
    from checkrein.cli.screen.conductor import Reopen

    def reopen(session: object) -> None:
        raise Reopen(**values, continue_=False, session_id=None, prompt=None)

    assert cockpit.conductor is not None
    cockpit.conductor.put(reopen)


def pick_prompt(cockpit: Cockpit, rest: str) -> None:
    """Rewind: which prompt, then what to restore."""
    session, board = session_of(cockpit), cockpit.board
    assert board is not None
    kept = set(session.conversation.record.checkpoints.messages)
    prompts = [(uuid, text) for uuid, text in board.prompts if uuid in kept]
    if not prompts:
        cockpit.tell("There is no earlier prompt to go back to.")
        return
    rows = [Choice(one_line(text)[:200], (uuid, text)) for uuid, text in reversed(prompts)]
    chosen = cockpit.ask(Dialog("Go back to before", rows, search=True, hint="type to search · Esc"))
    if chosen is None:
        return
    uuid, text = chosen
    what = cockpit.ask(
        Dialog(
            "Restore",
            [
                Choice("Files and conversation", (True, True)),
                Choice("Only the conversation", (False, True)),
                Choice("Only the files", (True, False)),
            ],
            hint="Esc: leave everything",
        ),
    )
    if what is None:
        return
    files, conversation = what
    restored = session.rewind(uuid, files=files, conversation=conversation)
    cockpit.tell(f"Rewound: {restored}.")
    if conversation:
        at = next(index for index, prompt in enumerate(board.prompts) if prompt[0] == uuid)
        board.prompts = board.prompts[:at]
        board.todos, board.tokens = [], 0
        loop = cockpit.face.app.loop
        assert loop is not None
        loop.call_soon_threadsafe(cockpit.face.put, text)


def pick_task(cockpit: Cockpit, rest: str) -> None:
    from checkrein.runtime.session.task_stops import stop_task

    board, session = cockpit.board, session_of(cockpit)
    tasks = list(board.tasks.values()) if board is not None else []
    if not tasks:
        cockpit.tell("Nothing works in the background.")
        return
    rows = [Choice(one_line(task.words), task, f"{task.state} · {task.id}") for task in reversed(tasks)]
    task = cockpit.ask(Dialog("Tasks", rows, hint="Enter: look at it or stop it · Esc"))
    if task is None:
        return
    running = [Choice("Stop it", "stop")] if task.state == "running" else []
    what = cockpit.ask(Dialog(one_line(task.words), [Choice("Show its output", "show"), *running]))
    if what == "stop":
        stop_task(session.conversation, task.id)
        cockpit.tell(f"Stopped {task.id}.")
    elif what == "show":
        _show_output(cockpit, task.id)


def _show_output(cockpit: Cockpit, task: str) -> None:
    from checkrein.cli.screen.scroll_lines import last_lines

    path = f"{session_of(cockpit).conversation.services.results}/{task}.output"
    shell = session_of(cockpit).conversation.desk.shells.get(task)
    try:
        with open(shell.path if shell is not None else path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 64_000))
            said = file.read().decode("utf-8", "replace")
    except OSError:
        said = ""
    cockpit.say(last_lines(said, cockpit.theme, 20) or [[(cockpit.theme["quiet"], "    (no output)")]])


def pick_theme(cockpit: Cockpit, rest: str) -> None:
    rows = [Choice(name, name) for name in THEMES]
    name = rest or cockpit.ask(Dialog("Colours", rows, hint="Esc: leave them"))
    if name in THEMES:
        cockpit.theme.use(name)
        cockpit.tell(f"The theme is {name}. For good: checkrein config set screen.theme {name}")


def pick_history(cockpit: Cockpit, rest: str) -> None:
    face = cockpit.face
    prompts = list(dict.fromkeys(reversed(face.buffer.history.get_strings())))
    rows = [Choice(one_line(text)[:300], text) for text in prompts]
    chosen = cockpit.ask(Dialog("Earlier prompts", rows, search=True, hint="type to search · Esc"))
    loop = face.app.loop
    if chosen is not None and loop is not None:
        loop.call_soon_threadsafe(face.put, chosen)


def paste_image(cockpit: Cockpit, rest: str) -> None:
    from checkrein.cli.screen.pictures import clipboard_image

    path = clipboard_image(session_of(cockpit).conversation.services.results)
    if path is None:
        cockpit.tell("There is no image on the clipboard that could be read (wl-paste, xclip, pngpaste).")
        return
    loop = cockpit.face.app.loop
    assert loop is not None
    loop.call_soon_threadsafe(cockpit.face.buffer.insert_text, f"@{path} ")


def open_editor(cockpit: Cockpit, rest: str) -> None:
    cockpit.later("editor")


def open_transcript(cockpit: Cockpit, rest: str) -> None:
    cockpit.later("transcript")


def leave(cockpit: Cockpit, rest: str) -> None:
    cockpit.exit(0)
