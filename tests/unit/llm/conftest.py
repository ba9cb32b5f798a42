"""The three wires, each as a function from a server's address to a Model."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.connection import Timeouts
from checkrein.llm.openai_chat import ChatModel
from checkrein.llm.openai_responses import ResponsesModel
from checkrein.llm.port import Model, Request, user
from checkrein.llm.server import ScriptedServer

PATIENT = Timeouts(connect=20.0, answer=20.0, idle=20.0)
SHORT = Timeouts(connect=20.0, answer=0.4, idle=0.3)
KEY = "sk-ant-api03-not-a-real-key-000"


def model_for(wire: str, url: str, timeouts: Timeouts = PATIENT) -> Model:
    if wire == "anthropic":
        return AnthropicModel(api_key=KEY, base_url=url, timeouts=timeouts, env={})
    kind = ChatModel if wire == "chat" else ResponsesModel
    return kind(api_key=KEY, base_url=url + "/v1", timeouts=timeouts, env={})


@pytest.fixture(params=["anthropic", "chat", "responses"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def serve(wire: str) -> Iterator[Callable[..., tuple[Model, ScriptedServer]]]:
    servers: list[ScriptedServer] = []

    def start(*turns: dict[str, Any]) -> tuple[Model, ScriptedServer]:
        servers.append(ScriptedServer(turns))
        return model_for(wire, servers[-1].url), servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def ask() -> Request:
    return Request(model="m", messages=(user("hello"),), max_tokens=100)
