"""Making room in the context, in four stages; the first that suffices ends it.

1. Results that are too large never enter: the rest goes to a file (`spill`).
2. Old tool results are cleared; the calls and the newest results stay.
3. The model summarises the conversation.
4. What is oldest is dropped. This needs nobody and can't fail.

The pinned part (what stands before the first prompt, and loaded skills) comes out byte for byte as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from bridle.llm.port import Block, Message, Text, ToolResult, ToolUse, user

KEEP_RESULTS = 6
CLEARED = "[This older result was cleared to make room. Run the call again if you need it.]"
SUMMARY_HEAD = "The conversation before this point was summarised to make room. The summary:"
SUMMARY_TAIL = "Go on with the task from where it stands. Do not repeat what is done."
DROPPED = "[Earlier parts of this conversation were dropped to make room.]"
RESULT_CHARS = 60_000
MIN_CLEARED = 400

INSTRUCTION = """\
Write a summary of this conversation for yourself: you will go on working from it and see nothing else.
Use these headings: What the user wants (their words where they matter, and every correction they made);
What was done (files changed, with paths; commands and their outcomes); What was learned (facts, decisions,
dead ends); State now (what works, what fails, exact errors); Next steps. Be complete and exact about names,
paths, numbers and decisions. Do not call tools. Answer with the summary only."""


class Outcome(Struct, frozen=True):
    """The messages after a stage and how many tokens they have, about."""

    messages: tuple[Message, ...]
    tokens: int
    stage: str


def spill(content: str, save: Callable[[str], str], limit: int = RESULT_CHARS) -> str:
    """A result within its budget: head and tail of a long one, and where the whole of it is."""
    if len(content) <= limit:
        return content
    half = limit // 3
    path = save(content)
    note = f"[... {len(content) - 2 * half:,} characters left out; the whole is in {path} ...]"
    return f"{content[:half]}\n\n{note}\n\n{content[-half:]}"


def clear_results(messages: Sequence[Message], keep: int = KEEP_RESULTS) -> Outcome:
    """Empty the older tool results that are worth it; the newest `keep` stay."""
    total = sum(1 for message in messages for block in message.content if isinstance(block, ToolResult))
    seen = 0
    result: list[Message] = []
    for message in messages:
        blocks: list[Block] = []
        for block in message.content:
            if isinstance(block, ToolResult):
                seen += 1
                if seen <= total - keep and _size(block) > MIN_CLEARED:
                    block = ToolResult(block.tool_use_id, CLEARED, block.is_error)
            blocks.append(block)
        content = tuple(blocks)
        result.append(message if content == message.content else Message(message.role, content))
    return Outcome(tuple(result), estimate(result), "results cleared")


def summary_request(messages: Sequence[Message], focus: str = "") -> tuple[Message, ...]:
    """The conversation with the instruction at its end, so that the request extends the one before it."""
    text = f"{INSTRUCTION}\nGive special attention to: {focus}" if focus else INSTRUCTION
    if messages and messages[-1].role == "user":
        last = messages[-1]
        return (*messages[:-1], Message("user", (*last.content, Text(text))))
    return (*messages, user(text))


def with_summary(pinned: Message | None, summary: str, active: Sequence[Block] = ()) -> Outcome:
    """The conversation after a summary: the pinned part, the summary, and the loaded skills."""
    opening = pinned.content if pinned is not None else ()
    text = Text(f"{SUMMARY_HEAD}\n\n{summary.strip()}\n\n{SUMMARY_TAIL}")
    messages = (Message("user", (*opening, text, *active)),)
    return Outcome(messages, estimate(messages), "summarised")


def truncate(messages: Sequence[Message], pinned: Message | None, budget: int) -> Outcome:
    """Keep the pinned part and the newest messages that fit into `budget` tokens. Always gives a valid
    conversation: it begins and ends with the user, and every result has its call."""
    opening = pinned.content if pinned is not None else ()
    kept: list[Message] = []
    room = budget - estimate([Message("user", opening)])
    for message in reversed(messages):
        size = estimate([message])
        if size > room and kept:
            break
        kept.insert(0, message)
        room -= size
    while kept and (kept[0].role != "assistant" or _answers_nothing(kept)):
        kept.pop(0)
    head = Message("user", (*opening, Text(DROPPED)))
    tail = [] if kept and kept[-1].role == "user" else [user(Text(SUMMARY_TAIL))]
    if not kept:
        last = _last_text(messages)
        head = Message("user", (*opening, Text(DROPPED), *((Text(last),) if last else ())))
        tail = []
    result = (head, *kept, *tail)
    return Outcome(result, estimate(result), "truncated")


def _answers_nothing(kept: Sequence[Message]) -> bool:
    """Whether the first kept message has calls whose results are not in the next one."""
    calls = {block.id for block in kept[0].content if isinstance(block, ToolUse)}
    if not calls:
        return False
    following = kept[1].content if len(kept) > 1 else ()
    return not calls <= {block.tool_use_id for block in following if isinstance(block, ToolResult)}


def _last_text(messages: Sequence[Message]) -> str:
    for message in reversed(messages):
        for block in reversed(message.content):
            if message.role == "user" and isinstance(block, Text):
                return block.text[-4000:]
    return ""


def estimate(messages: Sequence[Message]) -> int:
    return sum(_size(block) for message in messages for block in message.content) // 4


def _size(block: Block) -> int:
    match block:
        case Text(text=text):
            return len(text.encode("utf-8"))
        case ToolResult(content=str() as content):
            return len(content.encode("utf-8"))
        case ToolResult(content=tuple() as parts):
            return sum(_size(part) for part in parts)
        case ToolUse(input=values):
            return len(str(values)) + 40
    import msgspec

    return min(len(msgspec.json.encode(block)), 6000)
