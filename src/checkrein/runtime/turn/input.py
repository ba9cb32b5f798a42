"""From the user's text to the message that the model gets: slash commands, `@file` mentions, hooks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError
from checkrein.base.ids import short_id
from checkrein.llm.port import Block, Cancel, Text
from checkrein.policy.remote import PREFIX
from checkrein.runtime.context.reminders import quoted, reminder
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.channel import pumped
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.skills.active import LOADED
from checkrein.runtime.skills.invoke import Invocation, command_blocks
from checkrein.runtime.skills.invoker import FORK
from checkrein.runtime.skills.mentions import mentions
from checkrein.runtime.tools.port import Aside
from checkrein.runtime.turn.builtin_commands import COMMANDS, find_builtin
from checkrein.runtime.turn.prompt_outcome import Prompted

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def prepare(
    conversation: Conversation,
    prompt: str | Sequence[Block],
    cancel: Cancel,
    author: str = "",
    *,
    verbatim: bool = False,
) -> Generator[Event, None, Prompted]:
    """Turn a prompt into blocks. Hooks may refuse it or add to it; a slash command becomes its text. Nothing
    in the words of another `author` counts as said by the user; `verbatim` words name nothing. The prompt of
    a child comes from a model: it is what it is."""
    blocks: tuple[Block, ...] = (Text(prompt),) if isinstance(prompt, str) else tuple(prompt)
    if conversation.link is not None:
        return Prompted(blocks=blocks)
    text = "\n".join(block.text for block in blocks if isinstance(block, Text))
    outcome = yield from conversation.hooks.fire(
        payloads.user_prompt_submit(conversation.hooks.common, text), cancel
    )
    yield from (Notice("info", message) for message in outcome.system_messages)
    if outcome.session_title:
        conversation.recorder.writer.title(outcome.session_title)
    if outcome.blocked or not outcome.continue_:
        reason = outcome.reason or outcome.stop_reason or ""
        said = f"UserPromptSubmit operation blocked by hook:\n{reason}"
        return Prompted(
            refused=said if outcome.suppress_original_prompt else f"{said}\n\nOriginal prompt: {text}"
        )
    masked = conversation.services.kept.vault.masked
    before = (masked(outcome.context_text),) if outcome.context_text else ()
    if author:
        said = f"This prompt comes from {author}. The user did not type it.\n\n{quoted(text)}"
        return Prompted(blocks=(Text(reminder(masked(said))),), before=before)
    if verbatim:
        return Prompted(blocks=blocks, before=before)
    while (builtin := find_builtin(conversation, text)) is not None:
        done = yield from builtin.work(conversation, text.strip().partition(" ")[2].strip(), cancel)
        if done.instead is None:
            return done
        text, before = done.instead, (*before, *done.before)
        blocks = (Text(text), *(block for block in blocks if not isinstance(block, Text)))
    if conversation.options.commands and text.lstrip().startswith("/"):
        from checkrein.runtime.skills import slash

        expanded = yield from _of_server(conversation, text, cancel)
        if expanded is None:
            expanded = yield from _expand(conversation, text, cancel)
        if expanded is not None:
            return Prompted(
                blocks=expanded.blocks, before=(*before, *expanded.before), refused=expanded.refused
            )
        problem = slash.unknown(
            text, (*COMMANDS, *(item.name for item in conversation.skills.invoker.shelf.items()))
        )
        if problem is not None:
            return Prompted(unknown=problem)
    found: list[Event] = []
    files = mentions(text, conversation.host, found.append, by_user=True)
    attached = [*(one.text for one in files), *_agents(conversation, text)]
    yield from found
    attached += yield from _resources(conversation, text, cancel)
    return Prompted(blocks=blocks, before=(*before, *attached), files=tuple(files))


def _agents(conversation: Conversation, text: str) -> list[str]:
    """What the model gets for the agents that a prompt names."""
    if "@" not in text:
        return []
    from checkrein.facts.subagents import AGENT_TOOL
    from checkrein.runtime.skills.agent_mentions import agent_mentions

    if AGENT_TOOL not in conversation.host.tools.names():
        return []
    return agent_mentions(text, conversation.offer.agents)


def _expand(conversation: Conversation, text: str, cancel: Cancel) -> Generator[Event, None, Prompted | None]:
    """The text of the commands at the start of a prompt; None when there are none."""
    from checkrein.runtime.skills import slash

    typed = slash.parse(text, conversation.skills.invoker)
    if typed is None:
        return None
    found: list[Block] = []
    context: list[str] = []
    for name in typed.names:
        item = conversation.skills.invoker.find(name)
        assert item is not None
        payload = payloads.user_prompt_expansion(
            conversation.hooks.common, "slash_command", name, typed.args, item.origin.scope, text
        )
        outcome = yield from conversation.hooks.fire(payload, cancel)
        if outcome.blocked or not outcome.continue_:
            return Prompted(refused=f"/{name} was blocked by a hook: {outcome.reason}")
        if outcome.context_text:
            context.append(conversation.services.kept.vault.masked(outcome.context_text))
        try:
            invocation = yield from pumped(partial(_invoke, conversation, name, typed.args, cancel))
            if invocation.item.context == FORK:
                report = yield from pumped(partial(_forked, conversation, invocation, cancel))
                found += [Text(command_blocks(invocation)[0]), Text(report)]
                continue
        except CheckreinError as error:
            return Prompted(refused=f"{error.message} {error.hint or ''}".strip())
        header, body = command_blocks(invocation)
        shown = conversation.skills.active.show(invocation)
        found += [Text(header), Text(body if shown else f"{LOADED}; follow it.")]
        context += invocation.attached
    return Prompted(blocks=tuple(found), before=tuple(context))


def _of_server(
    conversation: Conversation, text: str, cancel: Cancel
) -> Generator[Event, None, Prompted | None]:
    """The messages of a server's prompt, `/mcp__server__prompt`; None when the text names none."""
    servers = conversation.services.servers
    name, rest = (*text.strip()[1:].split(None, 1), "", "")[:2]
    if servers is None or not name.startswith(PREFIX):
        return None
    servers.settle(text, cancel)
    before: tuple[str, ...] = ()
    command = servers.prompts.find(name)
    if command is not None:
        payload = payloads.user_prompt_expansion(
            conversation.hooks.common, "mcp_prompt", command.name, rest, command.scope, text
        )
        outcome = yield from conversation.hooks.fire(payload, cancel)
        if outcome.blocked or not outcome.continue_:
            return Prompted(refused=f"/{command.name} was blocked by a hook: {outcome.reason}")
        if outcome.context_text:
            before = (conversation.services.kept.vault.masked(outcome.context_text),)

    def expand(emit: Callable[[Event], None]) -> tuple[Block, ...]:
        found = servers.prompts.expand(name, rest, conversation.host, cancel, emit)
        return tuple(Text(quoted(one.text)) if isinstance(one, Text) else one for one in found)

    try:
        return Prompted(blocks=(yield from pumped(expand)), before=before)
    except CheckreinError as error:
        return Prompted(refused=f"{error.message} {error.hint or ''}".strip())


def _resources(conversation: Conversation, text: str, cancel: Cancel) -> Generator[Event, None, list[str]]:
    """The resources that a prompt names as `@server:uri`."""
    servers = conversation.services.servers
    if servers is None or "@" not in text:
        return []
    from checkrein.runtime.mcp.resource_tools import resource_mentions

    servers.settle(text, cancel)

    def attach(emit: Callable[[Event], None]) -> list[str]:
        found = resource_mentions(text, servers.servers.connections, conversation.host, cancel, emit)
        return [quoted(one) for one in found]

    return (yield from pumped(attach))


def _forked(
    conversation: Conversation, invocation: Invocation, cancel: Cancel, emit: Callable[[Event], None]
) -> str:
    aside = Aside(cancel, emit, short_id("toolu_"))
    done = conversation.skills.invoker.forked(invocation, conversation.desk.delegate, aside)
    return f"This command ran in an agent. What it reported, for you to pass on:\n\n{done.content}"


def _invoke(
    conversation: Conversation, name: str, args: str, cancel: Cancel, emit: Callable[[Event], None]
) -> Invocation:
    return conversation.skills.invoker.by_user(name, args, Aside(cancel, emit))
