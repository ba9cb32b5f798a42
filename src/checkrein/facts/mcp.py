"""Names and limits of MCP clients, as the product documents them."""

from __future__ import annotations

CALLBACK_LIMIT = 300.0
"""Seconds until a sign-in in the browser must have come back."""

CALLBACK_PATH = "/callback"
"""The path of the loopback address that an authorization server sends the browser to."""

CLIENT_SECRET = "MCP_CLIENT_SECRET"  # noqa: S105  the name of a variable
"""The variable that holds the secret of a client with `oauth.clientId`."""

ID_TOKEN = "MCP_ID_TOKEN"  # noqa: S105  the name of a variable
"""The variable that holds the ID token for `oauth.grant = "token_exchange"`."""

SIGNING_ALGORITHMS = (
    *(f"{family}{size}" for family in ("RS", "ES", "PS") for size in (256, 384, 512)),
    "EdDSA",
)
"""What a client assertion may be signed with (`oauth.signingAlgorithm`), the default first."""
