"""A GGUF file as a model, in this process, through llama.cpp (the extra `local`)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.base.ids import short_id
from checkrein.llm.bodies import encode_json
from checkrein.llm.cancel import Cancel
from checkrein.llm.content import ToolUse
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.local_reply import ReplyReader, render, reply_schema
from checkrein.llm.openai_chat import ChatReader, usage_of
from checkrein.llm.port import Finished, ModelEvent, Request, Started, StopReason, Usage, UsageReport
from checkrein.llm.refusal import refusal

_END = object()


class LocalModel:
    """The first request loads the file, and it stays loaded. The model answers one request after the other.
    With tools or a schema, a grammar shapes the replies, so they are always well-formed.
    `threads` is half of the processors by default: more threads than free cores slow it down."""

    def __init__(self, path: str | Path, *, context: int = 8192, threads: int | None = None) -> None:
        if find_spec("xllamacpp") is None:
            raise UsageError(
                "A local model needs the extra `local`.",
                kind="extra_missing",
                hint='Install it with: pip install "checkrein[local]"',
            )
        self._path = Path(path).expanduser()
        if not self._path.is_file():
            raise NotFoundError(f"There is no model file {path}.", hint="Name a GGUF file.")
        self._context = context
        self._threads = threads or max(1, (os.cpu_count() or 2) // 2)
        self._server: Any = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"LocalModel({self._path.name})"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        body = _body(request)
        chunks: SimpleQueue[Any] = SimpleQueue()
        stop = threading.Event()
        worker = threading.Thread(target=self._generate, args=(body, chunks, stop), daemon=True)
        reader = ReplyReader() if request.tools else None

        def give_up() -> None:
            stop.set()
            chunks.put(_END)

        with cancel.on_cancel(give_up):
            worker.start()
            try:
                yield from _events(chunks, reader, self._path.name, cancel)
            except ModelRequestError as error:
                error.completed = tuple(reader.blocks.completed) if reader else ()
                raise
            finally:
                stop.set()

    def _generate(self, body: dict[str, Any], chunks: SimpleQueue[Any], stop: threading.Event) -> None:
        """Runs in its own thread. The library calls back with each chunk; the answer True ends it."""

        def take(chunk: dict[str, Any]) -> bool:
            chunks.put(chunk)
            return stop.is_set()

        try:
            with self._lock:
                if not stop.is_set():
                    self._load().handle_chat_completions(body, take)
        except Exception as error:  # a native library: any exception ends the stream, not the process
            chunks.put({"error": {"message": f"{type(error).__name__}: {error}", "type": "api_error"}})
        chunks.put(_END)

    def _load(self) -> Any:
        if self._server is None:
            xllamacpp: Any = import_module("xllamacpp")
            params = xllamacpp.CommonParams()
            params.model.path = str(self._path)
            params.n_ctx = self._context
            params.n_parallel = 1
            params.warmup = False
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
            params.verbosity = -1
            # the library also listens on loopback; this key keeps everyone else out
            params.hostnames = ["127.0.0.1"]
            params.api_keys = [os.urandom(24).hex()]
            params.endpoint_slots = False
            self._server = xllamacpp.Server(params)
        return self._server


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": render(request),
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop"] = list(request.stop)
    if request.tools or request.output_schema is not None:
        schema = reply_schema(request) if request.tools else request.output_schema
        body["grammar"] = import_module("xllamacpp").json_schema_to_grammar(schema)
    body.update(request.extra)
    return body


def _events(
    chunks: SimpleQueue[Any], reader: ReplyReader | None, name: str, cancel: Cancel
) -> Iterator[ModelEvent]:
    yield Started(short_id("msg_"), name)
    plain = ChatReader()
    usage, stop = Usage(), ""
    while (chunk := chunks.get()) is not _END:
        if chunk.get("error"):
            raise refusal(None, encode_json(chunk))
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {}
            stop = choice.get("finish_reason") or stop
            yield from reader.add(delta.get("content") or "") if reader else plain.delta(delta)
        if chunk.get("usage"):
            usage = usage_of(chunk["usage"])
    if cancel.cancelled:
        raise ModelRequestError("cancelled", "The model request was cancelled.")
    yield from reader.end() if reader else plain.blocks.close_all()
    called = reader is not None and any(isinstance(block, ToolUse) for block in reader.blocks.completed)
    reason: StopReason = "max_tokens" if stop == "length" else "tool_use" if called else "end_turn"
    yield UsageReport(usage)
    yield Finished(reason, usage, stop)
