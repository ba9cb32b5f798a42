"""What a server asks for when it refuses a request: a sign-in (401), or more scopes (403)."""

from __future__ import annotations

import httpx2
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
)
from msgspec import Struct


class Challenge(Struct, frozen=True):
    """`step_up` is True when the token is good and its scopes are too narrow."""

    step_up: bool = False
    scope: str | None = None
    metadata_url: str | None = None


def challenge_in(response: httpx2.Response) -> Challenge | None:
    """None when the answer is about something else. Some servers name the scopes and leave out the error."""
    scope = extract_scope_from_www_auth(response)
    step_up = response.status_code == 403 and (
        scope is not None or extract_field_from_www_auth(response, "error") == "insufficient_scope"
    )
    if response.status_code != 401 and not step_up:
        return None
    return Challenge(step_up, scope, extract_resource_metadata_from_www_auth(response))


def covers(granted: str | None, scope: str | None) -> bool:
    """Whether every word of `scope` is granted."""
    return set((scope or "").split()) <= set((granted or "").split())
