"""What MCP servers give besides plain text: images, values, long output, secrets, resources, prompts, and
questions to the user."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.mcp_runs import (
    DONE,
    RICH,
    Serve,
    allow,
    bodies,
    config,
    configure,
    go,
    message_text,
    results,
    texts,
    written,
)
from support.sessions import call

ALLOWED = ("mcp__s",)


def with_hooks(**hooks: list[dict[str, Any]]) -> tuple[str, str]:
    made = {name: [{"hooks": given}] for name, given in hooks.items()}
    return "--settings", json.dumps({"permissions": {"allow": list(ALLOWED)}, "hooks": made})


def says(answer: Any) -> dict[str, Any]:
    return {"type": "command", "command": f"echo '{json.dumps(answer)}'"}


def notes(path: Path) -> dict[str, Any]:
    return {"type": "command", "command": f"cat >> {path}"}


@pytest.fixture
def rich(project: Path) -> tuple[str, str]:
    return config(s=written(project, "s", RICH))


def test_an_image_goes_to_the_model(serve: Serve, rich: tuple[str, str]) -> None:
    programs = serve(call("mcp__s__picture"), DONE)
    go(programs, *rich, *allow(*ALLOWED))
    (result,) = (
        part for part in bodies(programs)[1]["messages"][-1]["content"] if part["type"] == "tool_result"
    )
    text, image = result["content"]
    assert text["text"] == "a pixel"
    assert image["source"]["media_type"] == "image/png"


def test_structured_content_is_the_result_when_there_is_no_other(serve: Serve, rich: tuple[str, str]) -> None:
    ran = go(serve(call("mcp__s__facts"), DONE), *rich, *allow(*ALLOWED))
    assert texts(ran) == ['{"answer":42}']
    (frame,) = (frame for frame in ran.frames if "tool_use_result" in frame)
    assert frame["tool_use_result"] == {"answer": 42}


def test_long_output_is_in_a_file(serve: Serve, rich: tuple[str, str]) -> None:
    ran = go(
        serve(call("mcp__s__long"), DONE), *rich, *allow(*ALLOWED), env={"MAX_MCP_OUTPUT_TOKENS": "1000"}
    )
    (said,) = texts(ran)
    assert len(said) < 8_000
    (path,) = set(re.findall(r"/\S+\.txt", said))
    assert Path(path).read_text().count("line of text") == 40_000


def test_a_secret_is_masked(serve: Serve, rich: tuple[str, str]) -> None:
    programs = serve(call("mcp__s__secret"), DONE)
    ran = go(programs, *rich, *allow(*ALLOWED))
    assert "0123456789abcdefghij" not in ran.stdout
    assert b"0123456789abcdefghij" not in programs.requests[-1].body
    assert not results(ran)[0]["is_error"]


def test_resources_by_tool(serve: Serve, rich: tuple[str, str]) -> None:
    listing = call("ListMcpResourcesTool")
    ran = go(serve(listing, call("ReadMcpResourceTool", server="s", uri="note://one"), DONE), *rich)
    listed, read = texts(ran)
    assert json.loads(listed)[0]["uri"] == "note://one"
    assert "the note note://one" in json.dumps(read)


def test_a_resource_in_the_prompt_is_attached(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", RICH))
    programs = serve(DONE)
    go(programs, prompt="look at @s:note://two and tell")
    assert "the note note://two" in message_text(bodies(programs)[0])


def test_a_denied_server_gives_no_resource(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", RICH))
    programs = serve(DONE)
    words = ("--settings", json.dumps({"permissions": {"deny": ["mcp__s"]}}))
    go(programs, *words, prompt="look at @s:note://two and tell")
    assert "the note" not in message_text(bodies(programs)[0])


def test_a_prompt_of_a_server_is_a_command(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", RICH))
    programs = serve(DONE)
    go(programs, prompt='/mcp__s__greet Ada "very warmly"')
    assert "Greet Ada very warmly" in message_text(bodies(programs)[0])


@pytest.mark.parametrize("scope", ["project", "cli"])
def test_a_hook_hears_where_the_prompt_comes_from(serve: Serve, project: Path, scope: str) -> None:
    heard = project / "heard.json"
    adds = {"hookSpecificOutput": {"hookEventName": "UserPromptExpansion", "additionalContext": "Be brief."}}
    words = with_hooks(UserPromptExpansion=[notes(heard), says(adds)])
    if scope == "project":
        configure(project, s=written(project, "s", RICH))
    else:
        words += config(s=written(project, "s", RICH))
    programs = serve(DONE)
    go(programs, *words, prompt="/mcp__s__greet\nAda warmly")
    told = json.loads(heard.read_text())
    assert (told["expansion_type"], told["command_source"]) == ("mcp_prompt", scope)
    assert (told["command_name"], told["command_args"]) == ("mcp__s__greet", "Ada warmly")
    said = message_text(bodies(programs)[0])
    assert "Greet Ada warmly" in said
    assert "Be brief." in said


def test_an_unknown_prompt_expands_nothing_and_fires_no_hook(serve: Serve, project: Path) -> None:
    heard = project / "heard.json"
    words = (*with_hooks(UserPromptExpansion=[notes(heard)]), *config(s=written(project, "s", RICH)))
    ran = go(serve(DONE), *words, prompt="/mcp__s__missing")
    assert "No connected MCP server has the prompt" in ran.result["result"]
    assert not heard.exists()


def test_a_prompt_without_its_argument_says_what_it_needs(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", RICH))
    ran = go(serve(DONE), prompt="/mcp__s__greet")
    assert "/mcp__s__greet needs `who`." in ran.result["result"]


def test_a_hook_answers_a_question_and_defaults_are_filled(
    serve: Serve, rich: tuple[str, str], project: Path
) -> None:
    accepted = {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept", "content": {}}}
    heard = project / "asked.json"
    words = with_hooks(Elicitation=[notes(heard), says(accepted)])
    ran = go(serve(call("mcp__s__ask"), DONE), *rich, *words)
    assert json.loads(texts(ran)[0]) == {"action": "accept", "content": {"name": "nobody", "size": 3}}
    asked = json.loads(heard.read_text())
    assert (asked["mcp_server_name"], asked["message"]) == ("s", "How many?")


def test_a_question_that_nobody_can_answer_is_declined(
    serve: Serve, rich: tuple[str, str], project: Path
) -> None:
    heard = project / "answered.json"
    ran = go(serve(call("mcp__s__ask"), DONE), *rich, *with_hooks(ElicitationResult=[notes(heard)]))
    assert json.loads(texts(ran)[0]) == {"action": "decline"}
    assert json.loads(heard.read_text())["action"] == "decline"
    assert ran.seconds < 20


@pytest.mark.parametrize("given", ["project", "flag"])
def test_a_hook_may_be_a_tool_of_a_server(serve: Serve, project: Path, given: str) -> None:
    verdict = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "the judge says no",
        }
    }
    judge = (
        f"def call(request, name, arguments):\n    answer(request, text({json.dumps(json.dumps(verdict))}))\n"
    )
    server = written(project, "s", judge)
    words: tuple[str, ...] = ()
    if given == "project":
        configure(project, s=server)
    else:
        words = config(s=server)
    hook = {"type": "mcp_tool", "server": "s", "tool": "echo", "input": {"tool": "${tool_name}"}}
    ran = go(serve(call("Bash", command="touch made"), DONE), *words, *with_hooks(PreToolUse=[hook]))
    assert "the judge says no" in texts(ran)[0]
    assert not (project / "made").exists()


def test_the_server_knows_where_it_is(serve: Serve, project: Path) -> None:
    words = config(s=written(project, "s", RICH, env={"GIVEN": "${NOWHERE:-default}"}))
    ran = go(serve(call("mcp__s__where"), DONE), *words, *allow(*ALLOWED))
    told = json.loads(texts(ran)[0])
    assert (told["cwd"], told["project"], told["given"]) == (str(project), str(project), "default")
    assert not Path(f"/proc/{told['pid']}").exists()


RENAMES = """
def call(request, name, arguments):
    TOOLS[0] = {**TOOLS[0], "name": "second"}
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    answer(request, text("renamed"))
"""


def test_tools_that_are_renamed_are_found_under_their_new_name(serve: Serve, project: Path) -> None:
    pause = call("Bash", command="sleep 1.5")
    programs = serve(call("mcp__s__echo"), pause, call("mcp__s__echo"), call("mcp__s__second"), DONE)
    ran = go(programs, *config(s=written(project, "s", RENAMES)), *allow(*ALLOWED, "Bash"))
    first, _, gone, new = results(ran)
    assert first["content"] == "renamed"
    assert gone["is_error"]
    # The definition is new: nobody has accepted it.
    assert new["is_error"]
    assert "mcp__s__second" in message_text(bodies(programs)[2])
    assert "checkrein mcp approve s" in json.dumps(ran.frames)
