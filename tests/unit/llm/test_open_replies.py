"""What open models write: thinking between tags, calls as text."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.llm.blocks import Blocks
from checkrein.llm.cancel import Cancel
from checkrein.llm.content import Text, Thinking, ToolUse
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.open_replies import OpenReplies
from checkrein.llm.port import (
    BlockStarted,
    Finished,
    ModelEvent,
    Reply,
    Request,
    TextDelta,
    ToolSpec,
    Usage,
    collect,
    user,
)
from checkrein.llm.written_calls import may_be_calls, written_calls

CALL = {"name": "Read", "arguments": {"file_path": "a.txt"}}
TOOLS = (ToolSpec("Read", "", {"type": "object"}), ToolSpec("Bash", "", {"type": "object"}))
ONE = json.dumps(CALL)


class Pieces:
    """A model that sends its text in these pieces."""

    def __init__(self, *pieces: str, fails: bool = False) -> None:
        self.pieces = pieces
        self.fails = fails

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        blocks = Blocks()
        yield from blocks.open("text", "text")
        for piece in self.pieces:
            yield from blocks.add("text", piece)
        if self.fails:
            raise ModelRequestError("dropped", "gone", completed=())
        yield from blocks.close_all()
        yield Finished("end_turn", Usage())


def ask(*pieces: str, tools: tuple[ToolSpec, ...] = TOOLS, most: int = 1) -> Reply:
    request = Request(model="m", messages=(user("go"),), tools=tools)
    return collect(OpenReplies(Pieces(*pieces), most).stream(request, Cancel()))


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        json.dumps({"tool": "Read", "input": CALL["arguments"]}),
        json.dumps({"name": "Read", "parameters": CALL["arguments"]}),
        json.dumps({"name": "Read", "arguments": json.dumps(CALL["arguments"])}),
        json.dumps({"type": "function", "function": CALL}),
        json.dumps({"tool_calls": [{"id": "1", "type": "function", "function": CALL}]}),
        f"[{ONE}]",
        f"```json\n{ONE}\n```",
        f"```\n{json.dumps(CALL, indent=2)}\n```\n",
        f"```tool_call\n{ONE}```",
        f"<tool_call>\n{ONE}\n</tool_call>",
        f"<tool_call>{ONE}",
        f"<tools>\n{ONE}\n</tools>",
        f"<function_call>{ONE}</function_call>",
        f"[TOOL_CALLS] [{ONE}]",
        f"<|python_tag|>{ONE}",
        '<function=Read>{"file_path": "a.txt"}</function>',
        "<tool_call>\n<function=Read>\n<parameter=file_path>\na.txt\n</parameter>\n</function>\n</tool_call>",
    ],
)
def test_a_text_that_is_nothing_but_a_call_is_that_call(text: str) -> None:
    for pieces in ([text], list(text), [text[:7], text[7:]]):
        reply = ask(*pieces)
        assert reply.stop_reason == "tool_use"
        (call,) = reply.content
        assert isinstance(call, ToolUse)
        assert (call.name, call.input) == ("Read", {"file_path": "a.txt"})


@pytest.mark.parametrize(
    "text",
    [
        f"I read the file now.\n```json\n{ONE}\n```",
        f"```json\n{ONE}\n```\nThis is how a call looks.",
        f"```python\n{ONE}\n```",
        json.dumps({"name": "Delete", "arguments": {}}),
        json.dumps({"name": "Read", "arguments": {}, "comment": "x"}),
        json.dumps({"name": "Read", "arguments": "a.txt"}),
        json.dumps({"name": "Read"}),
        json.dumps([CALL, {"name": "Delete", "arguments": {}}]),
        f"{ONE}\n{ONE}",
        f"<tool_call>{ONE}</tool_call><tool_call>{ONE}</tool_call>",
        f"<example>{ONE}</example>",
        '{"name": "Read", "arguments": {"file_path": "a.t',
        "<function=Read><parameter=file_path>a</parameter> and more</function>",
        "[link](a.txt) is the file.",
        "`Read`",
        "<b>bold</b>",
        "{}",
        "",
    ],
)
def test_any_other_text_stays_text(text: str) -> None:
    for pieces in ([text], list(text)):
        reply = ask(*pieces)
        assert reply.stop_reason == "end_turn"
        assert [block for block in reply.content if isinstance(block, Text)] == ([Text(text)] if text else [])


def test_several_calls_count_where_they_may() -> None:
    other = json.dumps({"name": "Bash", "arguments": {}})
    both = f"<tool_call>{ONE}</tool_call>\n<tool_call>{other}</tool_call>"
    assert [call.name for call in ask(both, most=8).tool_calls] == ["Read", "Bash"]


def test_without_tools_nothing_is_a_call() -> None:
    assert ask(ONE, tools=()).content == (Text(ONE),)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_thinking_between_tags_is_thinking(size: int) -> None:
    text = f"\n<think>first </thin then</think>\n\n```json\n{ONE}\n```"
    thought, call = ask(*[text[at : at + size] for at in range(0, len(text), size)]).content
    assert thought == Thinking("first </thin then", "")
    assert isinstance(call, ToolUse)


def test_thinking_that_never_ends_is_no_answer() -> None:
    assert ask("<think>on and", " on").content == (Thinking("on and on", ""),)


def test_plain_text_goes_on_at_once() -> None:
    request = Request(model="m", messages=(user("go"),), tools=TOOLS)
    stream = OpenReplies(Pieces("Hello", " there", fails=True)).stream(request, Cancel())
    assert [type(next(stream)) for _ in range(3)] == [BlockStarted, TextDelta, TextDelta]
    with pytest.raises(ModelRequestError) as failure:
        next(stream)
    assert failure.value.completed == ()


def test_a_stream_that_breaks_off_gives_what_was_held_back() -> None:
    request = Request(model="m", messages=(user("go"),), tools=TOOLS)
    stream = OpenReplies(Pieces('{"name": ', fails=True)).stream(request, Cancel())
    assert [next(stream), next(stream)] == [BlockStarted(0, "text"), TextDelta(0, '{"name": ')]
    with pytest.raises(ModelRequestError):
        next(stream)


@given(st.text(alphabet='{}[]<>`/\\"json tool_call:=|', max_size=60))
def test_no_text_is_lost_or_believed(text: str) -> None:
    assert not written_calls(text, ("Read",))
    said = "".join(block.text for block in ask(*text).content if isinstance(block, Text))
    assert said == text or not text.strip()


def test_a_text_is_held_back_only_while_it_may_be_a_call() -> None:
    assert not may_be_calls("```py\n")
    assert not may_be_calls("<div")
    assert not may_be_calls("Hello")
    assert may_be_calls("<tool_c")
    assert may_be_calls("``")
