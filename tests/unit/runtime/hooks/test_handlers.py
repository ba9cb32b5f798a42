"""The other kinds of handlers: http, prompt, agent, mcp_tool, callbacks; how a command line is made."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Hook
from checkrein.runtime.hooks.http import filled_headers, url_allowed
from checkrein.runtime.hooks.judgement import question, read_reply
from checkrein.runtime.hooks.mcp_tool import filled
from checkrein.runtime.hooks.outcome import HookOutcome
from checkrein.runtime.hooks.ports import PluginPlace, Ports, Surroundings
from checkrein.runtime.hooks.shell import command_line, environment
from checkrein.runtime.process.spawner import Command, Completed
from support.hooks import Fired

ORIGIN = Origin("/s.json", "user")
BASH = {"tool_name": "Bash", "tool_input": {"command": "echo hi"}, "tool_use_id": "t"}
AROUND = Surroundings(project_dir="/p", session_id="s", env={"TOKEN": "tok", "OTHER": "oth"})


class NoCommands:
    def run(self, command: Command, cancel: Cancel, /) -> Completed:
        raise AssertionError("nothing is to be started here")


def runner(*hooks: Hook, **ports: Any) -> Fired:
    return Fired(hooks, spawner=NoCommands(), around=AROUND, ports=Ports(**ports))


def made(kind: str, event: str = "PreToolUse", **fields: Any) -> Hook:
    return Hook(name=event, type=kind, origin=ORIGIN, **fields)


Answers = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """A loopback server whose behaviour a test chooses."""

    def __init__(self) -> None:
        self.answer: Answers = lambda handler: None
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.seen.append((self.path, dict(self.headers), body))
                outer.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/hook?a=b"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for key, value in ({"Content-Length": str(len(body))} | headers).items():
                handler.send_header(key.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)

        self.answer = answer


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.http.shutdown()
    one.http.server_close()


class TestHttp:
    def fire(self, server: Server, **fields: Any) -> HookOutcome:
        fields.setdefault("url", server.url)
        return runner(made("http", **fields)).fire("PreToolUse", BASH)

    def test_posts_the_event_and_reads_the_decision(self, server: Server) -> None:
        server.reply(200, b'{"decision": "block", "reason": "no"}')
        found = self.fire(
            server, headers={"Authorization": "Bearer $TOKEN", "X": "$OTHER"}, allowed_env=("TOKEN",)
        )
        assert (found.verdict, found.reason) == ("deny", "no")
        ((path, headers, body),) = server.seen
        assert path == "/hook?a=b"
        assert json.loads(body) == {**BASH, "hook_event_name": "PreToolUse"}
        assert headers["Content-Type"] == "application/json"
        assert headers["Authorization"] == "Bearer tok"
        assert headers["X"] == ""

    @pytest.mark.parametrize(("status", "body"), [(200, b""), (204, b"")])
    def test_nothing_said(self, server: Server, status: int, body: bytes) -> None:
        server.reply(status, body)
        found = self.fire(server)
        assert (found.verdict, found.errors) == (None, ())

    @pytest.mark.parametrize(
        ("status", "body", "told"),
        [
            (200, b"<html>", "not a JSON object"),
            (403, b'{"decision": "block"}', "HTTP status 403"),
            (302, b"", "HTTP status 302"),
            (500, b"", "HTTP status 500"),
        ],
    )
    def test_other_answers_are_errors(self, server: Server, status: int, body: bytes, told: str) -> None:
        server.reply(status, body, Location="http://127.0.0.1:1/")
        found = self.fire(server)
        assert found.verdict is None
        assert told in found.errors[0]
        assert self.fire(server, fail_closed=True).verdict == "deny"
        assert len(server.seen) == 2, "a redirect is not followed"

    def test_a_server_that_lies_about_length(self, server: Server) -> None:
        server.reply(200, b'{"decision": "block"}', Content_Length="5000")
        assert self.fire(server, timeout=2, fail_closed=True).verdict == "deny"

    def test_a_flood(self, server: Server) -> None:
        server.reply(200, b"x" * (3 << 20))
        assert "larger than" in self.fire(server).errors[0]

    def test_no_http_at_all(self, server: Server) -> None:
        server.answer = lambda handler: handler.wfile.write(b"\0\xff" * 100_000)  # type: ignore[func-returns-value, assignment, return-value]  # only the effect counts
        assert self.fire(server).verdict is None

    @pytest.mark.parametrize("in_headers", [True, False])
    def test_a_drip(self, server: Server, in_headers: bool) -> None:
        def drip(handler: BaseHTTPRequestHandler) -> None:
            if not in_headers:
                handler.send_response(200)
                handler.end_headers()
            try:
                for _ in range(200):
                    handler.wfile.write(b" ")
                    time.sleep(0.05)
            except OSError:
                return

        server.answer = drip
        began = time.monotonic()
        found = self.fire(server, timeout=0.4)
        assert time.monotonic() - began < 8
        assert "no answer within 0.4 s" in found.errors[0]
        assert found.records[0].outcome == "cancelled"

    def test_nobody_listens(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        found = runner(made("http", url=url)).fire("PreToolUse", BASH)
        assert found.verdict is None
        assert "no answer" in found.errors[0]

    @pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/", "http://", "x"])
    def test_other_schemes(self, url: str) -> None:
        assert "http://" in runner(made("http", url=url)).fire("PreToolUse", BASH).errors[0]

    def test_a_url_the_settings_do_not_allow(self, server: Server) -> None:
        found = runner(made("http", url=server.url), allowed_urls=("https://*",)).fire("PreToolUse", BASH)
        assert "allowedHttpHookUrls" in found.errors[0]
        assert server.seen == []

    def test_a_line_break_in_a_variable_sends_nothing(self, server: Server) -> None:
        around = Surroundings(project_dir="/p", session_id="s", env={"T": "a\r\nX-Evil: 1"})
        hook = made("http", url=server.url, headers={"A": "$T"}, allowed_env=("T",))
        found = Fired([hook], spawner=NoCommands(), around=around).fire("PreToolUse", BASH)
        assert found.errors
        assert server.seen == []

    def test_cancel(self, server: Server) -> None:
        end = threading.Event()
        server.answer = lambda handler: end.wait(30)
        cancel = Cancel()
        threading.Timer(0.2, cancel.cancel).start()
        began = time.monotonic()
        found = runner(made("http", url=server.url)).fire("PreToolUse", BASH, cancel=cancel)
        end.set()
        assert time.monotonic() - began < 15
        assert found.records[0].outcome == "cancelled"


@pytest.mark.parametrize(
    ("url", "patterns", "allowed"),
    [
        ("http://x/y", None, True),
        ("http://x/y", (), False),
        ("https://hooks.example.com/a", ("https://hooks.example.com/*",), True),
        ("https://hooks.example.com.evil/a", ("https://hooks.example.com/*",), False),
        ("https://a.example.com/x", ("https://*.example.com/*",), True),
        ("http://x/y", ("http://x/y",), True),
        ("http://x.y", ("http://x?y",), False),
    ],
)
def test_allowed_urls(url: str, patterns: tuple[str, ...] | None, allowed: bool) -> None:
    assert url_allowed(url, patterns) is allowed


def test_the_settings_narrow_the_variables_of_headers() -> None:
    hook = made("http", url="http://x", headers={"A": "${TOKEN}-$OTHER"}, allowed_env=("TOKEN", "OTHER"))
    assert filled_headers(hook, None, AROUND.env) == {"A": "tok-oth"}
    assert filled_headers(hook, ("OTHER",), AROUND.env) == {"A": "-oth"}
    assert filled_headers(hook, (), AROUND.env) == {"A": "-"}


class TestPrompt:
    def fire(self, reply: str, event: str = "PreToolUse", kind: str = "prompt", **fields: Any) -> HookOutcome:
        port = {"prompt": "ask_model", "agent": "run_agent"}[kind]
        hook = made(kind, event, prompt="Is it fine? $ARGUMENTS", model="small", **fields)
        return runner(hook, **{port: lambda *asked: reply}).fire(event, BASH)

    def test_the_question(self) -> None:
        asked: list[tuple[str, str | None]] = []

        def ask(prompt: str, model: str | None, cancel: Cancel) -> str:
            asked.append((prompt, model))
            return '{"ok": true}'

        found = runner(made("prompt", prompt="Look: $ARGUMENTS", model="small"), ask_model=ask)
        assert found.fire("PreToolUse", BASH).verdict is None
        assert '"command":"echo hi"' in asked[0][0]
        assert asked[0][1] == "small"
        assert question(made("prompt", prompt="Look."), BASH).startswith('Look.\n\n{"tool_name"')

    @pytest.mark.parametrize(
        ("event", "decision", "blocked", "goes_on"),
        [
            ("PreToolUse", "deny", False, False),
            ("PostToolUse", None, True, False),
            ("PostToolBatch", None, True, False),
            ("UserPromptSubmit", None, True, False),
            ("UserPromptExpansion", None, True, False),
            ("PostToolUseFailure", None, True, True),
            ("TaskCreated", None, True, True),
            ("TaskCompleted", None, True, True),
            ("TeammateIdle", None, True, True),
            ("Stop", None, True, True),
            ("SubagentStop", None, True, True),
            ("PermissionRequest", None, False, True),
            ("PermissionDenied", None, False, True),
        ],
    )
    def test_a_refusal(self, event: str, decision: str | None, blocked: bool, goes_on: bool) -> None:
        found = self.fire('{"ok": false, "reason": "bad"}', event)
        assert (found.verdict, found.blocked, found.continue_) == (decision, blocked, goes_on)
        if blocked or decision:
            assert found.reason == "bad"
        assert found.permission is None

    @pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
    def test_going_on_after_a_refusal(self, event: str) -> None:
        refusal = '{"ok": false, "reason": "bad"}'
        assert self.fire(refusal, event, continue_on_block=True).continue_
        assert self.fire(refusal, event, kind="agent").continue_
        assert not self.fire(refusal, "UserPromptSubmit", continue_on_block=True).continue_

    def test_what_can_not_be_done_may_stop(self) -> None:
        found = self.fire('{"ok": false, "reason": "no way", "impossible": true}', "Stop")
        assert not found.keeps_going
        assert found.system_messages == ("no way",)

    @pytest.mark.parametrize("reply", ["", "yes", '{"ok": "true"}', "{}", "[1]", '{"ok":' * 9999])
    def test_no_reply(self, reply: str) -> None:
        found = self.fire(reply)
        assert found.verdict is None
        assert "reply" in found.errors[0]
        assert self.fire(reply, fail_closed=True).verdict == "deny"

    def test_replies_in_prose(self) -> None:
        assert read_reply('Sure:\n```json\n{"ok": false, "reason": "x"}\n```') is not None
        reply = read_reply('I think {"ok": false} is right')
        assert reply is not None
        assert not reply.ok

    def test_no_model(self) -> None:
        assert "no model" in runner(made("prompt", prompt="x")).fire("PreToolUse", BASH).errors[0]

    def test_a_failing_model(self) -> None:
        def ask(prompt: str, model: str | None, cancel: Cancel) -> str:
            raise RuntimeError("offline")

        found = runner(made("prompt", prompt="x"), ask_model=ask).fire("PreToolUse", BASH)
        assert found.errors == ("PreToolUse:Bash hook error: RuntimeError: offline",)

    def test_a_slow_model_is_cancelled(self) -> None:
        seen = threading.Event()

        def ask(prompt: str, model: str | None, cancel: Cancel) -> str:
            if cancel.wait(30):
                seen.set()
            return '{"ok": false}'

        began = time.monotonic()
        found = runner(made("prompt", prompt="x", timeout=0.2), ask_model=ask).fire("PreToolUse", BASH)
        assert time.monotonic() - began < 15
        assert found.verdict is None
        assert seen.wait(20)


class TestMcpTool:
    def test_calls_the_tool_and_reads_its_text(self) -> None:
        called: list[Any] = []

        def call(server: str, tool: str, given: dict[str, Any], *rest: object) -> str:
            called.append((server, tool, given))
            return '{"decision": "block", "reason": "no"}'

        hook = made("mcp_tool", server="plugin:p:srv", tool="check", input={"c": "run ${tool_input.command}"})
        assert runner(hook, call_tool=call).fire("PreToolUse", BASH).verdict == "deny"
        assert called == [("plugin:p:srv", "check", {"c": "run echo hi"})]

    def test_not_connected(self) -> None:
        found = runner(made("mcp_tool", server="srv", tool="t")).fire("PreToolUse", BASH)
        assert "srv is not connected" in found.errors[0]

    def test_filling_in(self) -> None:
        payload = {"a": {"b": [1, "${a}"]}, "t": "x"}
        given = {"l": ["${t}", "${a.b}", "${a.b.1}", "${a.no}", 3], "n": {"k": "${t}${t}"}}
        assert filled(given, payload) == {"l": ["x", '[1,"${a}"]', "${a}", "", 3], "n": {"k": "xx"}}


class TestCallback:
    def test_answers_like_a_hook(self) -> None:
        seen: list[Any] = []

        def call(payload: dict[str, Any], tool_use_id: str | None) -> dict[str, Any]:
            seen.append((json.loads(json.dumps(payload)), tool_use_id))
            payload.clear()
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}

        one = runner()
        one.registry.add_callback("PreToolUse", "Bash", call)
        one.registry.add_callback("PreToolUse", "Bash", call)
        payload = dict(BASH)
        assert one.fire("PreToolUse", payload).verdict == "ask"
        event = {**BASH, "hook_event_name": "PreToolUse"}
        assert seen == [(event, "t"), (event, "t")], "each has a copy of its own, and none is left out"
        assert payload == BASH
        assert one.fire("PreToolUse", {**BASH, "tool_name": "Read"}).records == ()

    def test_async_answers_decide_nothing(self) -> None:
        one = runner()
        one.registry.add_callback(
            "PreToolUse", None, lambda p, i: {"async": True, "asyncTimeout": 5, "decision": "block"}
        )
        assert one.fire("PreToolUse", BASH).verdict is None

    @pytest.mark.parametrize(
        ("event", "blocked"), [("PreToolUse", True), ("UserPromptSubmit", True), ("Stop", False)]
    )
    def test_a_late_one(self, event: str, blocked: bool) -> None:
        one = runner()
        one.registry.add_callback(event, None, lambda p, i: time.sleep(1) or {}, 0.1)
        found = one.fire(event, dict(BASH))
        assert (found.blocked or found.verdict == "deny") is blocked

    def test_a_failing_one(self) -> None:
        def call(payload: dict[str, Any], tool_use_id: str | None) -> dict[str, Any]:
            raise ValueError("broken")

        one = runner()
        one.registry.add_callback("PreToolUse", None, call)
        assert one.fire("PreToolUse", BASH).verdict is None
        one.registry.add_callback("PreToolUse", None, call, fail_closed=True)
        assert one.fire("PreToolUse", BASH).verdict == "deny"


class TestCommandLine:
    PLUGIN = PluginPlace("/plug", "/data", {"key": "v", "api-url": "u"})

    def test_placeholders(self) -> None:
        shell = made("command", command="${CLAUDE_PLUGIN_ROOT}/x ${CLAUDE_PROJECT_DIR} $HOME", plugin="p")
        assert command_line(shell, AROUND, self.PLUGIN) == "/plug/x /p $HOME"
        words = made(
            "command", command="${CLAUDE_PLUGIN_ROOT}/x", args=("${CLAUDE_PLUGIN_DATA}", "${user_config.key}")
        )
        assert command_line(words, AROUND, self.PLUGIN) == ("/plug/x", "/data", "v")

    def test_a_path_with_signs_is_left_to_the_shell(self) -> None:
        evil = Surroundings(project_dir="/p/$(touch x)", session_id="s", env={})
        hook = made("command", command='"${CLAUDE_PROJECT_DIR}"/x')
        assert command_line(hook, evil, None) == '"${CLAUDE_PROJECT_DIR}"/x'
        words = made("command", command="x", args=("${CLAUDE_PROJECT_DIR}",))
        assert command_line(words, evil, None) == ("x", "/p/$(touch x)")

    def test_user_options_do_not_enter_a_shell_line(self) -> None:
        hook = made("command", command="x ${user_config.key}", plugin="p")
        assert command_line(hook, AROUND, self.PLUGIN) is None
        found = runner(hook).fire("PreToolUse", BASH)
        assert "CLAUDE_PLUGIN_OPTION" in found.errors[0]

    def test_powershell(self) -> None:
        line = command_line(made("command", command="x", shell="powershell"), AROUND, None)
        assert line == ("pwsh", "-NoProfile", "-NonInteractive", "-Command", "x")

    def test_plugin_environment(self) -> None:
        env = environment("Stop", {}, AROUND, self.PLUGIN)
        assert env["CLAUDE_PLUGIN_ROOT"] == "/plug"
        assert env["CLAUDE_PLUGIN_DATA"] == "/data"
        assert env["CLAUDE_PLUGIN_OPTION_KEY"] == "v"
        assert env["CLAUDE_PLUGIN_OPTION_API_URL"] == "u"
