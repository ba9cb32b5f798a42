"""A session as one HTML file: it needs no network, runs no script and loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

import msgspec

from checkrein.base import secrets
from checkrein.runtime.store.values import Block, Conversation

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
header p { opacity: .7; }
article { margin: 1.2rem 0; padding: .1rem 1rem; border-left: 4px solid #8884; }
article.user { border-color: #2a7de1; }
article.tools { border-color: #8888; }
h2 { font-size: .85rem; text-transform: uppercase; letter-spacing: .05em; opacity: .7; }
pre { overflow-x: auto; padding: .7rem; background: #8881; border-radius: 6px; white-space: pre-wrap; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
table { border-collapse: collapse; } td, th { border: 1px solid #8886; padding: .2rem .6rem; }
details { margin: .5rem 0; } summary { cursor: pointer; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html(conversation: Conversation, redact: bool) -> Iterator[str]:
    hide = secrets.redact_text if redact else str
    title = escape(hide(conversation.title or conversation.first_prompt or conversation.session_id)[:200])
    render = _renderer()
    yield "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield "<meta name='viewport' content='width=device-width'>"
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body>\n"
    count, when = conversation.message_count, escape(conversation.updated_at or "")
    yield f"<header><h1>{title}</h1><p>Session {escape(conversation.session_id)}, "
    yield f"{count} messages, {when}</p></header>\n"
    for message in conversation.messages:
        blocks = message["content"]
        tools = all(block["type"] == "tool_result" for block in blocks)
        kind = "tools" if tools else "user" if message["role"] == "user" else "assistant"
        yield f"<article class='{kind}'><h2>{kind}</h2>\n"
        for block in blocks:
            yield _block(secrets.redact(block) if redact else block, hide, render) + "\n"
        yield "</article>\n"
    yield "</body></html>\n"


def _renderer() -> Callable[[str], str]:
    """Markdown without HTML, links that run something, and pictures from elsewhere."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return lambda text: str(parser.render(text))


def _block(block: Block, hide: Callable[[str], str], render: Callable[[str], str]) -> str:
    from checkrein.runtime.store.export import flat

    match block["type"]:
        case "text":
            return render(hide(str(block["text"])))
        case "thinking":
            thought = escape(hide(str(block.get("thinking", ""))))
            return f"<details><summary>Thought</summary><pre>{thought}</pre></details>"
        case "tool_use":
            given = msgspec.json.format(msgspec.json.encode(block["input"])).decode()
            name = escape(str(block["name"]))
            return (
                f"<details open><summary>Call of {name}</summary><pre>{escape(hide(given))}</pre></details>"
            )
        case "tool_result":
            said = escape(hide(flat(block.get("content", ""))))
            return f"<details><summary>Result</summary><pre>{said}</pre></details>"
    return f"<p>({escape(str(block['type']))})</p>"
