"""The end of a conversation that goes on: the last prompt and the last reply."""

from __future__ import annotations

from checkrein.cli.screen import scroll_lines
from checkrein.cli.screen.board import Board
from checkrein.cli.screen.ink import Line, words
from checkrein.cli.screen.theme import Theme
from checkrein.llm.port import Message, text_of
from checkrein.runtime.session.session import Session

_LINES = 12


def last_exchange(session: Session, board: Board, theme: Theme) -> list[Line]:
    messages = session.conversation.state.messages
    prompt = next((one for one in reversed(messages) if _is_prompt(one)), None)
    reply = next(
        (one for one in reversed(messages) if one.role == "assistant" and text_of(one.content)), None
    )
    lines: list[Line] = [[], [(theme["quiet"], f"  … {len(messages)} earlier messages (Ctrl-O)")]]
    if prompt is not None:
        lines += scroll_lines.prompt(_typed(prompt), theme)
    if reply is not None:
        lines += [[], *words("\n".join(f"  {line}" for line in text_of(reply.content).split("\n")[-_LINES:]))]
    return lines


def _is_prompt(message: Message) -> bool:
    return message.role == "user" and bool(_typed(message))


def _typed(message: Message) -> str:
    """What the person typed of a message: not the reminders that go with it."""
    from checkrein.llm.port import Text

    texts = [one.text for one in message.content if isinstance(one, Text)]
    return "\n".join(text for text in texts if not text.startswith("<system-reminder>")).strip()
