"""Prompts of servers as commands: `/mcp__server__prompt first "second argument"`.

Their messages become the user's prompt. They are a server's text: nothing in them is expanded, attached or
run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from checkrein.base.errors import NotFoundError, PolicyError, RunError, UsageError
from checkrein.base.harmless import one_line
from checkrein.base.origin import Scope
from checkrein.llm.port import Block, Cancel, Text
from checkrein.policy.remote import PREFIX, Remote, normal
from checkrein.policy.servers import denial_of_prompt
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.mcp.connection import Connection, RemoteArgument, RemotePrompt, ServerFailure
from checkrein.runtime.mcp.resource_tools import Connections
from checkrein.runtime.mcp.results import Outlet, content, max_tokens
from checkrein.runtime.mcp.server_tool import cut, failure_text
from checkrein.runtime.secrets.report import findings
from checkrein.runtime.session.channel import ignored
from checkrein.runtime.session.events import Event


class PromptCommand(Struct, frozen=True):
    """A prompt as the user types it, without the slash."""

    name: str
    connection: Connection
    prompt: RemotePrompt

    @property
    def description(self) -> str:
        return cut(self.prompt.description.strip() or self.prompt.title or "")

    @property
    def scope(self) -> Scope:
        """Where its server was configured."""
        return self.connection.status.scope

    @property
    def usage(self) -> str:
        words = (f"<{one_line(a.name)}>" if a.required else f"[{one_line(a.name)}]" for a in self._takes)
        return " ".join((f"/{self.name}", *words))

    @property
    def _takes(self) -> tuple[RemoteArgument, ...]:
        return self.prompt.arguments

    def arguments(self, text: str) -> dict[str, str]:
        """The arguments in the order in which the server lists them. The last one takes all words that are
        left. Raises UsageError when one is missing, or when none is taken."""
        words = _words(text)
        if words and not self._takes:
            raise UsageError(f"/{self.name} takes no arguments.", kind="prompt_arguments")
        given = words[: len(self._takes)]
        if len(words) > len(given):
            given[-1] = " ".join(words[len(given) - 1 :])
        missing = [one for one in self._takes[len(given) :] if one.required]
        if missing:
            listed = ", ".join(_about(one) for one in missing)
            raise UsageError(
                f"/{self.name} needs {listed}.", kind="prompt_arguments", hint=f"Usage: {self.usage}"
            )
        return {one.name: word for one, word in zip(self._takes, given, strict=False)}


class PromptCommands:
    """The prompts of all connected servers at the time of a look."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def all(self) -> list[PromptCommand]:
        """Each name once: of two prompts with one name the first counts."""
        found: dict[str, PromptCommand] = {}
        for connection in self._connections():
            if connection.status.state == "connected":
                for prompt in connection.catalog.prompts:
                    name = normal(f"{PREFIX}{connection.name}__{prompt.name}")
                    found.setdefault(name, PromptCommand(name, connection, prompt))
        return list(found.values())

    def find(self, name: str) -> PromptCommand | None:
        """By the name as it is listed, or with the characters that the server uses."""
        plain = normal(name.strip().removeprefix("/"))
        if not plain.startswith(PREFIX):
            return None
        return next((one for one in self.all() if one.name == plain), None)

    def expand(
        self,
        name: str,
        text: str,
        host: ToolHost,
        cancel: Cancel,
        emit: Callable[[Event], object] = ignored,
    ) -> tuple[Block, ...]:
        """The prompt's messages as blocks of the user's prompt. Raises a CheckreinError that says why there
        are none: unknown, denied by a rule, an argument is missing, the server failed."""
        command = self.find(name)
        if command is None:
            raise NotFoundError(f"No connected MCP server has the prompt {one_line(name)}.")
        server = command.connection.name
        remote = Remote(server, command.prompt.name)
        denied = denial_of_prompt(host.gate.policy, host.gate.context(host.cwd).trusted, remote)
        if denied is not None:
            raise PolicyError(
                f"/{command.name} can't be used: denied by {denied.text}.", origin=denied.origin
            )
        arguments = command.arguments(text)
        try:
            messages = command.connection.get_prompt(command.prompt.name, arguments, cancel)
        except ServerFailure as error:
            said = host.bench.cover().text(failure_text(server, error))
            raise RunError(said, kind="prompt_failed") from None
        cover = host.bench.cover()
        outlet = Outlet(
            cover=cover,
            results_dir=host.bench.results,
            source=f"the prompt /{command.name}",
            emit=emit,
            chars=max_tokens(host.bench.env) * 4,
        )
        parts = content([_block(one.role, one.content) for one in messages], outlet)
        for found in findings(cover, command.name, host.cwd):
            emit(found)
        return parts or (Text(f"(the prompt /{command.name} is empty)"),)


def _words(text: str) -> list[str]:
    """The words of a shell; of a text with an open quote the plain words."""
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _about(argument: RemoteArgument) -> str:
    about = one_line(argument.description.strip()[:200])
    return f"`{one_line(argument.name)}` ({about})" if about else f"`{one_line(argument.name)}`"


def _block(role: str, block: Any) -> Any:
    """A message of the assistant says so, since all of it comes from the user now."""
    if role == "user" or not isinstance(block, dict) or not isinstance(block.get("text"), str):
        return block
    return {**block, "text": f"[{one_line(role)}]\n{block['text']}"}
