"""What a session says about itself: status, cost, context, to-dos, agents, changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.base.errors import UsageError
from checkrein.cli import paint
from checkrein.cli.screen.command_line import say_outcome
from checkrein.cli.screen.ink import Line
from checkrein.cli.screen.keys import ACTIONS
from checkrein.cli.screen.scroll_lines import difference_lines
from checkrein.cli.screen.status_rows import TODO_MARKS, agent_tree

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.runtime.session.session import Session

_BAR = 40
_FIXED_KEYS = (
    ("Enter", "send; while it works, the message joins the turn"),
    ("\\ Enter, Ctrl-J", "a new line"),
    ("Esc, Ctrl-C", "interrupt"),
    ("Esc Esc", "rewind to an earlier prompt"),
    ("Ctrl-D", "leave"),
    ("Ctrl-X Ctrl-E", "write the prompt in $EDITOR"),
    ("! at the start", "a command of your own"),
    ("@", "files, agents and resources"),
    ("/", "commands"),
)


def session_of(cockpit: Cockpit) -> Session:
    if cockpit.session is None:
        raise UsageError("The session is not open yet. Try again in a moment.")
    return cockpit.session


def show_help(cockpit: Cockpit, rest: str) -> None:
    from checkrein.cli.screen.completer import command_rows

    theme = cockpit.theme
    rows = command_rows(cockpit.session)
    lines: list[Line] = [[], [(theme["strong"], "  Commands")]]
    for name, (summary, hint) in sorted(rows.items()):
        head = f"/{name} {hint}".rstrip()
        lines.append([("", f"    {head:<26} "), (theme["quiet"], summary)])
    cockpit.say(lines)
    show_keys(cockpit, rest)


def show_keys(cockpit: Cockpit, rest: str) -> None:
    theme = cockpit.theme
    named = [(f"{key} ({name})", words) for name, (key, words) in ACTIONS.items()]
    lines: list[Line] = [[], [(theme["strong"], "  Keys")]]
    lines += [[("", f"    {key:<26} "), (theme["quiet"], words)] for key, words in (*_FIXED_KEYS, *named)]
    lines.append(
        [(theme["quiet"], '    Other keys: checkrein config set screen.keys \'{"transcript": "f2"}\'')]
    )
    cockpit.say(lines)


def show_status(cockpit: Cockpit, rest: str) -> None:
    from checkrein.runtime.trust import status

    session, board = session_of(cockpit), cockpit.board
    assert board is not None
    conversation = session.conversation
    project = conversation.view.project
    trust = status(project)
    servers = session.servers.status()
    rows = (
        ("session", session.id),
        ("model", conversation.state.model),
        ("effort", conversation.effort or "default"),
        ("mode", conversation.gate.mode),
        ("directory", paint.whole_path(project.place.cwd)),
        ("branch", board.branch or "(none)"),
        ("trusted", "yes" if trust.trusted else f"no: {trust.reason}"),
        ("servers", ", ".join(f"{row['name']} {row['status']}" for row in servers) or "(none)"),
        ("transcript", paint.whole_path(str(conversation.recorder.writer.path))),
        ("cost", f"${board.cost:.4f}"),
    )
    cockpit.say([[], *([("", f"  {name:<12}"), ("", value)] for name, value in rows)])


def show_cost(cockpit: Cockpit, rest: str) -> None:
    board, theme = cockpit.board, cockpit.theme
    assert board is not None
    lines: list[Line] = [[], [(theme["strong"], f"  ${board.cost:.4f} in this session")]]
    for title, rows in (("by model", board.by_model), ("by agent", board.by_agent)):
        if rows:
            lines.append([(theme["quiet"], f"  {title}")])
        for name, used in rows.items():
            tokens = f"{used.prompt:,} in, {used.output:,} out"
            plural = "s" * (used.requests != 1)
            lines.append(
                [("", f"    {name:<28}{used.requests:>4} request{plural}  {tokens}  ${used.cost:.4f}")]
            )
    cockpit.say(lines)


def show_context(cockpit: Cockpit, rest: str) -> None:
    """A bar, and a row for each part with its share."""
    from checkrein.runtime.context.occupancy import context_usage

    theme = cockpit.theme
    usage = context_usage(session_of(cockpit).conversation)
    most, total = usage["maxTokens"] or 1, usage["totalTokens"]
    filled = min(_BAR, round(_BAR * total / most))
    lines: list[Line] = [
        [],
        [("", f"  {usage['model']}  {total:,} of {usage['maxTokens']:,} tokens ({usage['percentage']}%)")],
        [("", "  "), (theme["accent"], "█" * filled), (theme["quiet"], "░" * (_BAR - filled))],
    ]
    for row in usage["categories"]:
        share = round(_BAR / 2 * row["tokens"] / most)
        bar = "▇" * max(share, 1 if row["tokens"] else 0)
        lines.append([("", f"  {row['name']:<18}{row['tokens']:>10,}  "), (theme["quiet"], bar)])
    lines += [
        [(theme["quiet"], f"    {paint.path(one['path'])}: {one['tokens']:,}")]
        for one in usage["memoryFiles"]
    ]
    cockpit.say(lines)


def show_todos(cockpit: Cockpit, rest: str) -> None:
    board = cockpit.board
    todos = board.todos if board is not None else []
    if not todos:
        cockpit.tell("There are no to-dos.")
        return
    cockpit.say([[], *([("", f"  {TODO_MARKS.get(one.state, '☐')} {one.text}")] for one in todos)])


def show_agents(cockpit: Cockpit, rest: str) -> None:
    board = cockpit.board
    at_work = agent_tree(tuple(board.agents.values()), cockpit.theme) if board is not None else []
    cockpit.say([[], *(at_work or [[(cockpit.theme["quiet"], "  No agent has worked yet.")]])])
    say_outcome(cockpit, ("show", "agents"))


def show_diff(cockpit: Cockpit, rest: str) -> None:
    """What git says has changed, without letting the repository run anything."""
    from checkrein.llm.port import Cancel
    from checkrein.runtime.process.git import run_git

    session = session_of(cockpit)
    cwd = session.conversation.view.project.place.cwd
    words = ("diff", "HEAD", "--", *([rest] if rest else ()))
    conversation = session.conversation
    done = run_git(
        words, cwd=cwd, env=conversation.env, spawner=conversation.services.spawner, cancel=Cancel()
    )
    if done.exit_code != 0:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise UsageError(f"git has no answer: {said}", hint="It needs a repository with a commit.")
    text = done.stdout.decode("utf-8", "replace")
    if not text.strip():
        cockpit.tell("Nothing has changed since the last commit.")
        return
    cockpit.say([[], *difference_lines(text, cockpit.theme)])
