"""Claude models on Amazon Bedrock: the Messages body without its model, signed; frames come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from checkrein.facts.models_cloud import BEDROCK_NAMES, BEDROCK_PREFIX, BEDROCK_PROFILE
from checkrein.llm.anthropic import MessagesReader
from checkrein.llm.anthropic_body import betas, encode, encode_message
from checkrein.llm.bodies import MessageBytes
from checkrein.llm.cancel import Cancel
from checkrein.llm.cloud.event_stream import MEDIA_TYPE, EventStreamParser
from checkrein.llm.connection import Timeouts
from checkrein.llm.credential import Credential, Outgoing, with_renewal
from checkrein.llm.port import ModelEvent, Request
from checkrein.llm.stream import Framing, stream
from checkrein.llm.wire import Wire

VERSION = "bedrock-2023-05-31"
_FRAMES = Framing(MEDIA_TYPE, EventStreamParser)


class BedrockModel:
    searches = False

    def __init__(
        self,
        credential: Credential,
        *,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        sent = {"accept": MEDIA_TYPE, **(headers or {})}
        self._wire = Wire(base_url, sent, timeouts=timeouts, env=env)
        self._credential = credential
        self._messages = MessageBytes(encode_message)

    def __repr__(self) -> str:
        return f"BedrockModel({self._wire.endpoint})"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        head: dict[str, Any] = {"anthropic_version": VERSION, "max_tokens": request.max_tokens}
        if switched := betas(request):
            head["anthropic_beta"] = switched
        body = encode(request, self._messages, head)
        path = f"/model/{quote(bedrock_name(request.model), safe='')}/invoke-with-response-stream"

        def once() -> Iterator[ModelEvent]:
            asked = Outgoing(self._wire.endpoint.authority, self._wire.endpoint.path + path, body)
            headers = self._credential.headers(asked)
            secrets = self._credential.secrets()
            return stream(self._wire, path, body, MessagesReader(), cancel, headers, secrets, _FRAMES)

        return with_renewal(once, self._credential)

    def close(self) -> None:
        self._wire.close()


def bedrock_name(name: str) -> str:
    """The id of a model or of an inference profile. A name that is one already stays."""
    if BEDROCK_PREFIX in name or name.startswith("arn:"):
        return name
    return f"{BEDROCK_PROFILE}{BEDROCK_PREFIX}{BEDROCK_NAMES.get(name, name)}"
