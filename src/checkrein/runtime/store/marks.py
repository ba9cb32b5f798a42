"""What a session says about itself: lines outside the conversation.

Lines that other programs know (`custom-title`, `ai-title`, `tag`, `last-prompt`) keep their shapes. Our own
have type `checkrein`, no uuid, and everything under one key: `{"type": "checkrein", ..., "checkrein":
{"event": NAME, ...}}`. Events: opened, state, tool_started, rewound, checkpoint, result. The reader skips an
unknown event.
"""

from __future__ import annotations

from typing import Any, get_args

from checkrein.runtime.store import content
from checkrein.runtime.store.values import Entry, Parent, SessionKind

FORMAT = 1
_PROMPT_LENGTH = 200
_MAX_CHECKPOINTS = 100


def mark(event: str, fields: dict[str, Any]) -> Entry:
    return {"type": "checkrein", "checkrein": {"event": event, **fields}}


def title_line(title: str, *, generated: bool = False) -> Entry:
    if generated:
        return {"type": "ai-title", "aiTitle": title}
    return {"type": "custom-title", "customTitle": title}


def tag_line(tag: str) -> Entry:
    return {"type": "tag", "tag": tag}


def prompt_line(prompt: str) -> Entry:
    return {"type": "last-prompt", "lastPrompt": shortened(prompt)}


def shortened(text: str) -> str:
    flat = " ".join(text[: _PROMPT_LENGTH * 4].split())
    return flat if len(flat) <= _PROMPT_LENGTH else flat[:_PROMPT_LENGTH].rstrip() + "…"


class Facts:
    """Folds metadata lines; the last one wins. Every method is total: it skips a value of the wrong type."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {"state": {}}
        self.checkpoints: list[dict[str, Any]] = []

    def chain_entry(self, entry: Entry, time: str | None, *, says: bool) -> None:
        self._time(time)
        self._first("cwd", entry.get("cwd"))
        self._last("git_branch", entry.get("gitBranch"))
        self._last("version", entry.get("version"))
        self._last("mode", entry.get("permissionMode"))
        forked = entry.get("forkedFrom")
        if isinstance(forked, dict) and isinstance(forked.get("sessionId"), str):
            last = forked.get("messageUuid")
            self.values["parent"] = Parent(forked["sessionId"], last if isinstance(last, str) else None)
        if not says:
            return
        self.values.pop("result", None)
        message = entry.get("message")
        model = message.get("model") if isinstance(message, dict) else None
        if entry["type"] == "assistant" and model != "<synthetic>":
            self._last("model", model)

    def prompt(self, text: str) -> None:
        short = shortened(text)
        if short:
            self._first("first_prompt", short)
            self.values["last_prompt"] = short

    def metadata(self, entry: Entry, time: str | None) -> None:
        self._time(time)
        kind = entry.get("type")
        if kind == "custom-title":
            self._last("title", entry.get("customTitle"))
        elif kind == "ai-title":
            self._last("generated_title", entry.get("aiTitle"))
        elif kind == "summary":
            self._last("generated_title", entry.get("summary"))
        elif kind == "tag" and isinstance(entry.get("tag"), str):
            self.values["tag"] = entry["tag"] or None
        elif kind == "permission-mode":
            self._last("mode", entry.get("permissionMode"))
        elif kind == "checkrein":
            self._own(entry, content.own(entry))

    def _own(self, entry: Entry, fields: dict[str, Any]) -> None:
        event = fields.get("event")
        if event == "opened":
            self.values["native"] = True
            self._first("cwd", entry.get("cwd"))
            self._last("git_branch", entry.get("gitBranch"))
            self._last("version", entry.get("version"))
            if fields.get("kind") in get_args(SessionKind):
                self.values["kind"] = fields["kind"]
        elif event == "state" and isinstance(fields.get("state"), dict):
            self.values["state"] |= fields["state"]
            for key in ("model", "mode", "agent"):
                self._last(key, fields["state"].get(key))
        elif event == "checkpoint":
            self.checkpoints.append({key: value for key, value in fields.items() if key != "event"})
            del self.checkpoints[:-_MAX_CHECKPOINTS]
        elif event == "result" and isinstance(fields.get("result"), dict):
            self.values["result"] = fields["result"]

    def _time(self, time: str | None) -> None:
        if time:
            self.values.setdefault("created_at", time)
            self.values["updated_at"] = max(time, self.values.get("updated_at", ""))

    def _first(self, key: str, value: Any) -> None:
        if isinstance(value, str) and value:
            self.values.setdefault(key, value)

    def _last(self, key: str, value: Any) -> None:
        if isinstance(value, str) and value:
            self.values[key] = value
