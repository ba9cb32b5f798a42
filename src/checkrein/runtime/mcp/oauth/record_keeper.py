"""The stored record of a server in the types of the `mcp` package."""

from __future__ import annotations

import contextlib
import time
from typing import Any, TypeVar

from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from checkrein.runtime.mcp.oauth.token_store import Drawer

Model = TypeVar("Model", bound=BaseModel)


class Keeper:
    """`look` reads the file; the other methods take what was read, and write."""

    def __init__(self, drawer: Drawer) -> None:
        self._drawer = drawer
        self.record = drawer.read()

    def look(self) -> None:
        self.record = self._drawer.read()

    def documents(self) -> tuple[OAuthMetadata | None, ProtectedResourceMetadata | None]:
        """The metadata that the stored token was got with: it says where the token may be renewed."""
        return (
            _model(OAuthMetadata, self.record.metadata),
            _model(ProtectedResourceMetadata, self.record.resource),
        )

    async def get_tokens(self) -> OAuthToken | None:
        return _model(OAuthToken, self.record.tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires_at = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self.record = self._drawer.change(
            lambda record: replace(record, tokens=_document(tokens), expires_at=expires_at)
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _model(OAuthClientInformationFull, self.record.client)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.record = self._drawer.change(lambda record: replace(record, client=_document(client_info)))

    def bind(self, context: OAuthContext, issuer: str, *, configured: bool) -> None:
        """Note where the token came from. What the server had asked for is granted now."""
        metadata, resource = context.oauth_metadata, context.protected_resource_metadata
        self.record = self._drawer.change(
            lambda record: replace(
                record,
                issuer=issuer if configured else None,
                metadata=metadata and _document(metadata),
                resource=resource and _document(resource),
                wanted=None,
            )
        )


def _document(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_none=True)


def _model(kind: type[Model], document: dict[str, Any] | None) -> Model | None:
    if document is not None:
        with contextlib.suppress(ValidationError):
            return kind.model_validate(document)
    return None
