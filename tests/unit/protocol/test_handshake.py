"""What a host brings into a session with its first request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.protocol.handshake import read


def greeting(**fields: Any) -> Any:
    return read({"request": {"subtype": "initialize", **fields}})


def test_flags_of_the_typescript_sdk_come_with_the_request() -> None:
    found = greeting(
        systemPrompt=["a", "b"],
        appendSystemPrompt="c",
        jsonSchema={"type": "object"},
        title="t",
        sdkMcpServers=["calc"],
        mcpServers={"files": {"command": "x"}},
    ).values
    (config,) = found.pop("mcp_config")
    assert json.loads(config)["mcpServers"] == {
        "files": {"command": "x"},
        "calc": {"type": "sdk", "name": "calc"},
    }
    assert found.pop("json_schema") == '{"type":"object"}'
    assert found == {"system_prompt": "a\n\nb", "append_system_prompt": "c", "name": "t"}


def test_the_python_sdk_sends_none_of_them() -> None:
    assert greeting(hooks=None, agents={}, forwardSubagentText=True).values == {}


def test_an_empty_prompt_is_one() -> None:
    assert greeting(systemPrompt=[""]).values == {"system_prompt": ""}


@pytest.mark.parametrize(
    "fields",
    [{"systemPrompt": "a"}, {"jsonSchema": []}, {"title": 3}, {"sdkMcpServers": "calc"}, {"mcpServers": []}],
)
def test_a_field_of_another_form_is_an_error(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(fields))):
        greeting(**fields)
