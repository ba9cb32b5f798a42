"""What services and the product fix for MCP: `_meta` keys, variables, limits."""

from __future__ import annotations

ALWAYS_LOAD = "anthropic/alwaysLoad"
"""In a tool's `_meta`: its definition is in every request."""
IMAGE_TOKENS = 1_600
"""About what an image costs."""
MAX_OUTPUT_TOKENS = 25_000
MAX_OUTPUT_TOKENS_VARIABLE = "MAX_MCP_OUTPUT_TOKENS"
MAX_RESULT_CHARS = 500_000
"""The ceiling of `RESULT_CHARS_HINT`."""
REQUIRES_USER = "anthropic/requiresUserInteraction"
"""In a tool's `_meta`: each call needs the user."""
RESULT_CHARS_HINT = "anthropic/maxResultSizeChars"
"""In a tool's `_meta`: how long a text the model may get from it."""
SCHEMA_BYTES = 65_536
SCHEMA_DEPTH = 40
"""A schema that is larger or deeper is replaced."""
TEXT_BYTES = 2_048
"""Of a tool's description and of a server's instructions, the model gets this much."""
TOOL_NAME_CHARS = 64
"""Services refuse longer names."""
WARN_OUTPUT_TOKENS = 10_000
