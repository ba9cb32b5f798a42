"""What clouds call the models.

A cloud without an entry for a model uses the vendor's own name. Bedrock's names go behind `anthropic.`, with
the region group of an inference profile before it.
"""

from __future__ import annotations

BEDROCK_PREFIX = "anthropic."
BEDROCK_PROFILE = "global."
BEDROCK_NAMES: dict[str, str] = {
    "claude-opus-4-6": "claude-opus-4-6-v1",
    "claude-opus-4-5": "claude-opus-4-5-20251101-v1:0",
    "claude-opus-4-1": "claude-opus-4-1-20250805-v1:0",
    "claude-opus-4-0": "claude-opus-4-20250514-v1:0",
    "claude-sonnet-4-5": "claude-sonnet-4-5-20250929-v1:0",
    "claude-sonnet-4-0": "claude-sonnet-4-20250514-v1:0",
    "claude-haiku-4-5": "claude-haiku-4-5-20251001-v1:0",
}

VERTEX_NAMES: dict[str, str] = {
    "claude-opus-4-5": "claude-opus-4-5@20251101",
    "claude-opus-4-1": "claude-opus-4-1@20250805",
    "claude-opus-4-0": "claude-opus-4@20250514",
    "claude-sonnet-4-5": "claude-sonnet-4-5@20250929",
    "claude-sonnet-4-0": "claude-sonnet-4@20250514",
    "claude-haiku-4-5": "claude-haiku-4-5@20251001",
}
