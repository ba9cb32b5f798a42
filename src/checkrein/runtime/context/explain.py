"""The prompt that a session would send: every segment with its origin and size. No model gets a request."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from checkrein.base.origin import BUNDLED, Origin
from checkrein.llm.port import Cancel, ModelEvent, ModelRequestError, Request
from checkrein.model.view import View
from checkrein.runtime.context.segments import Layer, Segment, estimate_tokens
from checkrein.runtime.session.options import Options

_OWN = Origin(BUNDLED, "bundled")


class SegmentSize(Struct, frozen=True, omit_defaults=True):
    """`pinned` segments survive compaction byte for byte."""

    layer: Layer
    name: str
    bytes: int
    tokens: int
    origin: Origin | None = None
    pinned: bool = False
    text: str = ""


class PromptReport(Struct, frozen=True):
    """`waiting` are the tools without a definition in the request. `window` is 0 when it is unknown."""

    model: str
    segments: tuple[SegmentSize, ...]
    bytes: int
    tokens: int
    window: int
    waiting: tuple[str, ...] = ()


class Silent:
    """Takes the place of a model and never gets a request."""

    def __init__(self, name: str) -> None:
        self.name = name

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        raise ModelRequestError("invalid_request", "This command sends no request to a model.")


def explain_prompt(view: View, model: str, options: Options | None = None) -> PromptReport:
    """The parts before the prompt in the first request of a session on this view."""
    from checkrein.facts.models import find_model
    from checkrein.runtime.session.session import Session

    chosen = msgspec.structs.replace(options or Options(), persist=False, hooks=False)
    with Session(view, model=Silent(model), options=chosen) as session:
        conversation = session.conversation
        rows = [
            _size(Segment("stable", f"tool {tool.name}", msgspec.json.encode(tool).decode(), _OWN))
            for tool in conversation.host.tools.specs
        ]
        rows += [_size(segment) for segment in conversation.backdrop.prompt.segments]
        waiting = tuple(tool.name for tool in conversation.host.tools.deferred)
    facts = find_model(model)
    return PromptReport(
        model=model,
        segments=tuple(rows),
        bytes=sum(row.bytes for row in rows),
        tokens=sum(row.tokens for row in rows),
        window=facts.window if facts else 0,
        waiting=waiting,
    )


def _size(segment: Segment) -> SegmentSize:
    return SegmentSize(
        layer=segment.layer,
        name=segment.name,
        bytes=len(segment.text.encode("utf-8")),
        tokens=estimate_tokens(segment.text),
        origin=segment.origin,
        pinned=segment.pinned,
        text=segment.text,
    )
