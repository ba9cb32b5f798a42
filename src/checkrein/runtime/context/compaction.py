"""Make room in the context, in four stages; the first one that makes enough room is the last.

1. Results that are too large never enter: the rest goes to a file (`spill`).
2. It clears old tool results; the calls and the newest results stay.
3. The model summarises the conversation.
4. It drops the oldest messages. This needs no model and can't fail.

The pinned part (what comes before the first prompt, and loaded skills) stays the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from checkrein.llm.port import Block, Document, Image, Message, Text, ToolResult, ToolUse, user

_KEEP_RESULTS = 6
_PINNED_TOOLS = frozenset({"Skill", "ToolSearch"})
"""Results of these tools are instructions and definitions that stay valid; they are never cleared."""
CLEARED = "[This older result was cleared to make room. Run the call again if you need it.]"
SUMMARY_HEAD = "The conversation before this point was summarised to make room. The summary:"
_SUMMARY_TAIL = "Go on with the task from where it stands. Do not repeat what is done."
DROPPED = "[Earlier parts of this conversation were dropped to make room.]"
RESULT_CHARS = 60_000
_BYTES_PER_TOKEN = 4
_MIN_CLEARED = 400
_CUT_CHARS = 2_000

_INSTRUCTION = """\
Write a summary of this conversation for yourself: you will go on working from it and see nothing else.
Use these headings: What the user wants (their words where they matter, and every correction they made);
What was done (files changed, with paths; commands and their outcomes); What was learned (facts, decisions,
dead ends); State now (what works, what fails, exact errors); Next steps. Be complete and exact about names,
paths, numbers and decisions. If the project's instructions have a section "Compact Instructions", follow it.
Do not call tools. Answer with the summary only."""
LAST_PROMPT = "The user's last message, word for word:"
_PROMPT_CHARS = 4_000


Content = str | tuple[Text | Image | Document, ...]
_OURS = ("<system-reminder>", SUMMARY_HEAD, DROPPED)


class Outcome(Struct, frozen=True):
    """The messages after a stage, and about how many tokens they have."""

    messages: tuple[Message, ...]
    tokens: int
    stage: str


def spill(content: str, save: Callable[[str], str], limit: int = RESULT_CHARS) -> str:
    """A result within its budget: head and tail of a long one, and the path of the whole text."""
    if len(content) <= limit:
        return content
    half = limit // 3
    path = save(content)
    note = f"[... {len(content) - 2 * half:,} characters left out; the whole is in {path} ...]"
    return f"{content[:half]}\n\n{note}\n\n{content[-half:]}"


def spill_blocks(content: Content, save: Callable[[str], str], limit: int = RESULT_CHARS) -> Content:
    """`spill` for a result in blocks: the texts share the budget, other blocks stay."""
    if isinstance(content, str):
        return spill(content, save, limit)
    texts = sum(1 for block in content if isinstance(block, Text))
    each = limit // max(texts, 1)
    return tuple(Text(spill(b.text, save, each)) if isinstance(b, Text) else b for b in content)


def clear_results(messages: Sequence[Message], keep: int = _KEEP_RESULTS) -> Outcome:
    """Empty older tool results that are large enough; the newest `keep` and those of pinned tools stay."""
    pinned: set[str] = set()
    total = 0
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolResult):
                total += 1
            elif isinstance(block, ToolUse) and block.name in _PINNED_TOOLS:
                pinned.add(block.id)
    seen = 0
    result: list[Message] = []
    for message in messages:
        blocks: list[Block] = []
        for block in message.content:
            if isinstance(block, ToolResult):
                seen += 1
                old = seen <= total - keep and block.tool_use_id not in pinned
                if old and _size(block) > _MIN_CLEARED:
                    block = ToolResult(block.tool_use_id, CLEARED, block.is_error)
            blocks.append(block)
        content = tuple(blocks)
        result.append(message if content == message.content else Message(message.role, content))
    return Outcome(tuple(result), estimate(result), "results cleared")


def summary_request(messages: Sequence[Message], focus: str = "") -> tuple[Message, ...]:
    """The conversation and one message more, with the instruction. No message of the conversation changes, so
    the request extends the previous one."""
    text = f"{_INSTRUCTION}\nGive special attention to: {focus}" if focus else _INSTRUCTION
    return (*messages, user(text))


def cut_newest(messages: Sequence[Message], limit: int = _CUT_CHARS) -> tuple[Message, ...]:
    """The conversation with the ends of long texts and results in its newest message; the rest unchanged."""
    if not messages:
        return ()
    last = messages[-1]
    return (*messages[:-1], Message(last.role, tuple(_cut(block, limit) for block in last.content)))


def _cut(block: Block, limit: int) -> Block:
    match block:
        case Text(text=text):
            return Text(_ends(text, limit))
        case ToolResult(content=str() as content):
            return ToolResult(block.tool_use_id, _ends(content, limit), block.is_error)
        case ToolResult(content=tuple() as parts):
            texts = tuple(Text(_ends(part.text, limit)) for part in parts if isinstance(part, Text))
            return ToolResult(block.tool_use_id, texts or CLEARED, block.is_error)
    return block


def _ends(text: str, limit: int) -> str:
    half = limit // 2
    if len(text) <= limit:
        return text
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"


def with_summary(
    pinned: Message | None, summary: str, active: Sequence[Block] = (), prompt: str = ""
) -> Outcome:
    """The conversation after a summary: the pinned part, the summary, the user's last message, and the loaded
    skills."""
    opening = pinned.content if pinned is not None else ()
    last = f"\n\n{LAST_PROMPT}\n{prompt}" if prompt else ""
    text = Text(f"{SUMMARY_HEAD}\n\n{summary.strip()}{last}\n\n{_SUMMARY_TAIL}")
    messages = (Message("user", (*opening, text, *active)),)
    return Outcome(messages, estimate(messages), "summarised")


def truncate(
    messages: Sequence[Message], pinned: Message | None, budget: int, active: Sequence[Block] = ()
) -> Outcome:
    """Keep the pinned part, the loaded skills and the newest messages that fit into `budget` tokens.

    The result is always a valid conversation: it begins and ends with the user, roles alternate, every call
    has its result and every result its call. When nothing fits, the user's last message stays."""
    opening = (*(pinned.content if pinned is not None else ()), *active)
    kept = _newest(messages, budget - estimate([Message("user", opening)]))
    if not kept:
        last = last_prompt(messages)
        head = Message("user", (*opening, Text(DROPPED), *((Text(last),) if last else ())))
        return Outcome((head,), estimate([head]), "truncated")
    head = Message("user", (*opening, Text(DROPPED)))
    tail = () if kept[-1].role == "user" else (user(Text(_SUMMARY_TAIL)),)
    result = (head, *kept, *tail)
    return Outcome(result, estimate(result), "truncated")


def _newest(messages: Sequence[Message], room: int) -> list[Message]:
    """The end of a conversation that fits, from a reply on whose calls all have their results in it."""
    start = len(messages)
    room *= _BYTES_PER_TOKEN
    while start > 0:
        room -= sum(_size(block) for block in messages[start - 1].content)
        if room < 0:
            break
        start -= 1
    kept = list(messages[start:])
    while kept and (kept[0].role != "assistant" or _answers_nothing(kept)):
        kept.pop(0)
    return kept


def _answers_nothing(kept: Sequence[Message]) -> bool:
    """Whether the first kept message has calls whose results are not in the next one."""
    calls = {block.id for block in kept[0].content if isinstance(block, ToolUse)}
    if not calls:
        return False
    following = kept[1].content if len(kept) > 1 else ()
    return not calls <= {block.tool_use_id for block in following if isinstance(block, ToolResult)}


def last_prompt(messages: Sequence[Message]) -> str:
    """The user's last message, without notes of the harness."""
    for message in reversed(messages):
        if message.role != "user":
            continue
        for block in reversed(message.content):
            if isinstance(block, Text) and not block.text.startswith(_OURS):
                return block.text[-_PROMPT_CHARS:]
    return ""


def estimate(messages: Sequence[Message]) -> int:
    """About how many tokens messages have."""
    return sum(_size(block) for message in messages for block in message.content) // _BYTES_PER_TOKEN


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
