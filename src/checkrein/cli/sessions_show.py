"""`checkrein sessions show`: one session, to read."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.sessions_export import SESSION
from checkrein.cli.sessions_list import PROJECT
from checkrein.protocol.session_rows import Row, row_of


class Said(Struct, frozen=True):
    """A message. `text` has its words; `calls` are the tools that it calls."""

    role: str
    text: str
    calls: tuple[str, ...] = ()


class Payload(Struct, frozen=True, kw_only=True):
    session: Row
    messages: tuple[Said, ...]


COMMAND = Command(
    name="sessions show",
    summary="Show one session: its prompts, replies and calls.",
    args=(
        SESSION,
        PROJECT,
        Arg(name="last", flags=("--last",), type="int", metavar="N", help="Only the last messages."),
    ),
    payload=Payload,
    errors=("session_not_found", "session_ambiguous"),
    examples=(
        ("checkrein sessions show 3f2a", "by the start of its id"),
        ("checkrein sessions show 3f2a --last 4", "how it ended"),
    ),
)


def run(session: str, project: str, last: int | None) -> Outcome:
    from checkrein.base.secrets import redact_text
    from checkrein.runtime.store import SessionStore

    store = SessionStore()
    path = store.find(session, project)
    conversation = store.load(path.stem, project)
    messages = tuple(
        Said(message["role"], redact_text(_words(message["content"])), _calls(message["content"]))
        for message in conversation.messages
    )
    kept = messages if last is None else messages[-last:] if last > 0 else ()
    payload = Payload(session=row_of(path), messages=kept)

    def text() -> str:
        from checkrein.cli.sessions_text import whole

        return whole(payload.session, [(one.role, one.text, one.calls) for one in kept], len(messages))

    return Outcome(data=payload, text=text)


def _words(blocks: list[dict[str, object]]) -> str:
    return "\n".join(str(block["text"]) for block in blocks if block["type"] == "text")


def _calls(blocks: list[dict[str, object]]) -> tuple[str, ...]:
    from checkrein.base.secrets import redact_text
    from checkrein.cli.approval import primary

    found = []
    for block in blocks:
        if block["type"] == "tool_use" and isinstance(block["input"], dict):
            words = redact_text(" ".join(primary(block["input"]).split()))
            found.append(f"{block['name']} {words}"[:300])
    return tuple(found)
