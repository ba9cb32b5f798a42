"""From what the user typed to the message that the model gets: slash commands, `@file` mentions, hooks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import CheckreinError
from checkrein.llm.port import Block, Cancel, Text
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.skills import slash
from checkrein.runtime.skills.active import LOADED
from checkrein.runtime.skills.invoke import command_blocks
from checkrein.runtime.skills.mentions import mentions

if TYPE_CHECKING:
    from checkrein.runtime.session.engine import Engine


class Prompted(Struct, frozen=True, kw_only=True):
    """`blocks` go to the model after `before`. `refused` is the answer when the prompt goes nowhere;
    `compact` is the focus of a `/compact`."""

    blocks: tuple[Block, ...] = ()
    before: tuple[str, ...] = ()
    refused: str | None = None
    compact: str | None = None


def prepare(
    engine: Engine, prompt: str | Sequence[Block], cancel: Cancel
) -> Generator[Event, None, Prompted]:
    """What becomes of a prompt. Hooks may refuse it or add to it; a slash command becomes its text."""
    blocks: tuple[Block, ...] = (Text(prompt),) if isinstance(prompt, str) else tuple(prompt)
    text = "\n".join(block.text for block in blocks if isinstance(block, Text))
    events: list[Event] = []
    outcome = engine.firing.fire(
        payloads.user_prompt_submit(engine.firing.common, text), events.append, cancel
    )
    yield from events
    yield from (Notice("info", message) for message in outcome.system_messages)
    if outcome.session_title:
        engine.recorder.writer.title(outcome.session_title)
    if outcome.blocked or not outcome.continue_:
        reason = outcome.reason or outcome.stop_reason or ""
        said = f"UserPromptSubmit operation blocked by hook:\n{reason}"
        return Prompted(
            refused=said if outcome.suppress_original_prompt else f"{said}\n\nOriginal prompt: {text}"
        )
    before = (outcome.context_text,) if outcome.context_text else ()
    if text.lstrip().startswith("/"):
        word, _, rest = text.strip().partition(" ")
        if word == "/compact":
            return Prompted(compact=rest.strip())
        expanded = yield from _expand(engine, text, cancel)
        if expanded is not None:
            return Prompted(
                blocks=expanded.blocks, before=(*before, *expanded.before), refused=expanded.refused
            )
    return Prompted(blocks=blocks, before=(*before, *mentions(text, engine.gate, engine.caller.cwd())))


def _expand(engine: Engine, text: str, cancel: Cancel) -> Generator[Event, None, Prompted | None]:
    """The text of the commands that a prompt begins with; None when it begins with none."""
    typed = slash.parse(text, engine.invoker)
    if typed is None:
        return None
    found: list[Block] = []
    context: list[str] = []
    for name in typed.names:
        item = engine.invoker.find(name)
        assert item is not None
        events: list[Event] = []
        payload = payloads.user_prompt_expansion(
            engine.firing.common, "slash_command", name, typed.args, item.origin.scope, text
        )
        outcome = engine.firing.fire(payload, events.append, cancel)
        yield from events
        if outcome.blocked or not outcome.continue_:
            return Prompted(refused=f"/{name} was blocked by a hook: {outcome.reason}")
        if outcome.context_text:
            context.append(outcome.context_text)
        try:
            invocation = engine.invoker.by_user(name, typed.args, cancel)
        except CheckreinError as error:
            return Prompted(refused=f"{error.message} {error.hint or ''}".strip())
        header, body = command_blocks(invocation)
        shown = engine.skills.show(invocation)
        found += [Text(header), Text(body if shown else f"{LOADED}; follow it.")]
        context += invocation.attached
    return Prompted(blocks=tuple(found), before=tuple(context))
