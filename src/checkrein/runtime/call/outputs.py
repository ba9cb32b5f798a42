"""What a tool gives back, before anybody uses it."""

from __future__ import annotations

import msgspec

from checkrein.runtime.tools.port import ToolOutput


def kept(output: ToolOutput) -> ToolOutput:
    """The output, if a transcript can keep it. Raises where its structured part is not data."""
    if output.structured is not None and not isinstance(output.structured, str):
        msgspec.json.encode(output.structured, enc_hook=str)
    return output


def unexpected(error: BaseException) -> str:
    return f"The tool failed unexpectedly: {type(error).__name__}: {error}"
