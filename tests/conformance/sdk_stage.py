"""The real claude-agent-sdk in front of the command, and a scripted model behind it."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Message, query
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

from checkrein.testing import ScriptedServer

Turns = list[dict[str, Any]]
COMMAND = shutil.which("checkrein", path=str(Path(sys.executable).parent)) or "checkrein"
MODEL = "claude-mock-1"


def calls(name: str, input: dict[str, Any], *, text: str = "Calling the tool.") -> dict[str, Any]:
    """A reply that says something and calls a tool."""
    return {"text": text, "tool_calls": [{"name": name, "input": input}]}


def kind(frame: dict[str, Any]) -> str:
    """What a frame is, without its words."""
    match frame:
        case {"type": "system", "subtype": "session_state_changed", "state": state}:
            return f"system/session_state_changed/{state}"
        case {"type": "system" | "result" as type, "subtype": subtype}:
            return f"{type}/{subtype}"
        case {"type": "assistant", "message": {"content": [{"type": block}, *_]}}:
            return f"assistant/{block}" + ("/child" if frame.get("parent_tool_use_id") else "")
        case {"type": "user", "message": {"content": content}}:
            return f"user/{'text' if isinstance(content, str) else content[0]['type']}"
        case {"type": "stream_event", "event": {"type": event}}:
            return f"stream_event/{event}"
        case {"type": "control_request", "request": {"subtype": subtype}}:
            return f"control_request/{subtype}"
        case {"type": "control_response", "response": {"subtype": subtype}}:
            return f"control_response/{subtype}"
    return str(frame.get("type"))


class Stage:
    """One place for sessions: a project, a home, a model. `heard` are the frames of the command, `said` those
    of the SDK, `argv` its command line, `errors` what came on standard error."""

    def __init__(self, root: Path) -> None:
        self.project = root / "proj"
        self.config = root / "config"
        self.project.mkdir()
        self.config.mkdir()
        self.root = root
        self.server: ScriptedServer | None = None
        self.heard: list[dict[str, Any]] = []
        self.said: list[dict[str, Any]] = []
        self.argv: list[str] = []
        self.errors: list[str] = []
        self.messages: list[Message] = []

    @contextmanager
    def model(self, turns: Turns) -> Iterator[ScriptedServer]:
        with ScriptedServer(turns) as server:
            self.server = server
            yield server

    def options(self, **more: Any) -> ClaudeAgentOptions:
        assert self.server is not None
        env = {
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": "sk-test",
            "HOME": str(self.root),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CHECKREIN_HOME": str(self.root / "checkrein"),
        }
        given: dict[str, Any] = {"cwd": str(self.project), "model": MODEL, "stderr": self.errors.append}
        given |= {"cli_path": COMMAND, **more, "env": env | more.get("env", {})}
        return ClaudeAgentOptions(**given)

    @property
    def kinds(self) -> list[str]:
        return [kind(frame) for frame in self.heard]

    def frames(self, wanted: str) -> list[dict[str, Any]]:
        return [frame for frame in self.heard if kind(frame).startswith(wanted)]

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keep every frame that passes between the SDK and the command."""
        stage, read, write = self, SubprocessCLITransport.read_messages, SubprocessCLITransport.write
        build = SubprocessCLITransport._build_command

        async def heard(transport: Any) -> AsyncIterator[dict[str, Any]]:
            async for frame in read(transport):
                stage.heard.append(frame)
                yield frame

        async def said(transport: Any, data: str) -> None:
            stage.said += [json.loads(line) for line in data.splitlines()]
            await write(transport, data)

        def built(transport: Any) -> list[str]:
            stage.argv = build(transport)
            return stage.argv

        with (
            patch.object(SubprocessCLITransport, "read_messages", heard),
            patch.object(SubprocessCLITransport, "write", said),
            patch.object(SubprocessCLITransport, "_build_command", built),
        ):
            yield

    async def ask(self, api: str, prompt: str, options: ClaudeAgentOptions) -> list[Message]:
        """One prompt and all that comes back, through one of the two interfaces of the SDK."""
        with self.listening():
            if api == "query":
                self.messages += [message async for message in query(prompt=prompt, options=options)]
            else:
                async with ClaudeSDKClient(options) as client:
                    await client.query(prompt)
                    self.messages += [message async for message in client.receive_response()]
                    await self.idle()
        return self.messages

    async def idle(self) -> None:
        """Until the command has said that it has nothing to do."""
        while not self.kinds[-1].endswith("/idle"):
            await anyio.sleep(0.02)


def warnings(caplog: Any) -> list[str]:
    """What the SDK complains about."""
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
