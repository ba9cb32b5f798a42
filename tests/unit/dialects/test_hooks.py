from typing import Any

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.jsonpos import Json, decode
from checkrein.base.origin import Origin
from checkrein.dialects import hooks
from checkrein.dialects.codes import Log
from checkrein.model.items import Hook

ORIGIN = Origin("settings.json", "project")


def read(value: Any) -> tuple[tuple[Hook, ...], list[Diagnostic]]:
    log = Log()
    return hooks.read(value, ORIGIN, log), log


def test_every_handler_type() -> None:
    found, log = read(
        {
            "PreToolUse": [
                {
                    "matcher": "Edit|Write",
                    "hooks": [
                        {"type": "command", "command": "a", "args": ["b"], "async": True, "shell": "bash"},
                        {"type": "http", "url": "http://x", "headers": {"A": "$B"}, "allowedEnvVars": ["B"]},
                        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"p": "${tool_input.x}"}},
                        {"type": "prompt", "prompt": "p", "model": "m", "continueOnBlock": True},
                        {"type": "agent", "prompt": "p", "timeout": 60, "if": "Bash(git *)", "once": True},
                    ],
                }
            ]
        }
    )
    assert log == []
    assert [hook.type for hook in found] == ["command", "http", "mcp_tool", "prompt", "agent"]
    command, http, tool, prompt, agent = found
    assert (command.args, command.run_async, command.shell) == (("b",), True, "bash")
    assert (http.headers, http.allowed_env) == ({"A": "$B"}, ("B",))
    assert (tool.server, tool.tool, tool.input) == ("s", "t", {"p": "${tool_input.x}"})
    assert prompt.continue_on_block is True
    assert (agent.timeout, agent.condition, agent.once) == (60.0, "Bash(git *)", True)
    assert {hook.matcher for hook in found} == {"Edit|Write"}


def test_places_come_from_the_file() -> None:
    decoded = decode(
        '{"hooks": {\n "Stop": [{"matcher": "x",\n "hooks": [{"type": "command",\n "command": "c"}]}]}}'
    )
    assert isinstance(decoded, Json)
    (hook,) = hooks.read(decoded.value["hooks"], ORIGIN, Log(), spans=decoded.spans)
    assert hook.origin.field == "$.hooks.Stop[0].hooks[0]"
    assert (hook.origin.line, hook.where("command").line, hook.where("matcher").line) == (3, 4, 2)


def test_unknown_events_and_keys_are_kept() -> None:
    found, log = read({"Made": [{"hooks": [{"type": "command", "command": "c", "rewakeMessage": "m"}]}]})
    assert found[0].event == "Made"
    assert found[0].unknown == {"rewakeMessage": "m"}
    assert log == []


def test_a_handler_without_its_group() -> None:
    found, log = read({"Stop": [{"type": "command", "command": "c", "matcher": "m"}]})
    assert (found[0].command, found[0].matcher, found[0].unknown) == ("c", "m", {})
    assert found[0].origin.field == "$.hooks.Stop[0]"
    assert log == []


def test_a_missing_type_is_a_command_where_there_is_one() -> None:
    found, _ = read({"Stop": [{"hooks": [{"command": "c"}, {"prompt": "p"}]}]})
    assert [hook.type for hook in found] == ["command", ""]


def test_malformed_entries_are_reported_and_the_rest_is_read() -> None:
    found, log = read(
        {
            "A": 3,
            "B": ["x"],
            "C": [{"matcher": "m"}],
            "D": [{"matcher": 3, "hooks": []}],
            "E": [{"hooks": ["x", {"type": "command", "command": "ok", "timeout": "soon"}]}],
        }
    )
    assert [hook.command for hook in found] == ["ok"]
    assert found[0].unknown == {"timeout": "soon"}
    assert [entry.code for entry in log] == ["HANDLER001"] * 6
    assert log[0].origin.field == "$.hooks.A"


def test_hooks_must_be_a_map() -> None:
    found, log = read([])
    assert found == ()
    assert [entry.code for entry in log] == ["HANDLER001"]
