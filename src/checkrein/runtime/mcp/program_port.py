"""The port to MCP servers in the process of the program that started Checkrein."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkrein.llm.cancel import Cancel

Exchange = Callable[[str, dict[str, Any], Cancel], dict[str, Any]]
"""(server, JSON-RPC message, cancel): the JSON-RPC answer of the server. What answers a notification means
nothing. It blocks; several threads may call it at once. Raises ServerFailure: `failed` with the program's
words, `gone` when the program hears nothing any more, `cancelled` soon after the cancel fires."""
