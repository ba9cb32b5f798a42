"""A session of a real 135M model, recorded; it replays without the model, the library or a network.

To record it again: `python tests/recordings/test_llm_local.py path/to/SmolLM2-135M-Instruct.gguf`.
"""

import sys
from pathlib import Path

from checkrein.llm.port import (
    Cancel,
    Model,
    Reply,
    Request,
    SystemBlock,
    ToolResult,
    ToolSpec,
    collect,
    user,
)
from checkrein.llm.replay import ReplayModel

CASSETTE = Path(__file__).parent / "llm_local.jsonl"
BASH = ToolSpec(
    "Bash",
    "Run a shell command.",
    {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
        "additionalProperties": False,
    },
)


def session(model: Model) -> list[Reply]:
    """One call, forced; its result; then an answer in words."""
    messages = [user("List the files with ls.")]
    replies = []
    for choice in ("any", "none"):
        request = Request(
            model="smollm2-135m",
            messages=tuple(messages),
            system=(SystemBlock("You are a coding agent."),),
            tools=(BASH,),
            tool_choice=choice,
            max_tokens=60,
            temperature=0.0,
        )
        replies.append(collect(model.stream(request, Cancel())))
        messages.append(replies[-1].message)
        messages.append(user(*(ToolResult(call.id, "README.md\nsrc") for call in replies[-1].tool_calls)))
    return replies


def test_recorded_session() -> None:
    model = ReplayModel(CASSETTE)
    called, said = session(model)
    (call,) = called.tool_calls
    assert (call.name, call.input, called.stop_reason) == ("Bash", {"command": "ls"}, "tool_use")
    assert said.text
    assert said.usage.prompt > called.usage.prompt
    assert model.finished


if __name__ == "__main__":
    from checkrein.llm.local import LocalModel
    from checkrein.llm.record import RecordingModel

    recording = RecordingModel(LocalModel(sys.argv[1]), CASSETTE)
    session(recording)
    recording.close()
