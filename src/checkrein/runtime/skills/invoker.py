"""Invoke a skill by name in a conversation: find it, run its `!` commands, apply its grants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.errors import NotFoundError
from checkrein.base.ids import short_id
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.llm.port import ToolUse
from checkrein.model.items import Invocable
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.session.events import ToolFinished
from checkrein.runtime.skills.invoke import (
    Invocation,
    InvocationRefusedError,
    enabled_plugins,
    invoke,
    is_synced,
    plugin_variables,
    pre_approvals,
)
from checkrein.runtime.skills.mentions import mentions
from checkrein.runtime.skills.shelf import Shelf
from checkrein.runtime.tools.port import Aside, ToolOutput

if TYPE_CHECKING:
    from checkrein.runtime.tools.delegate import Delegate

FORK = "fork"


class Invoker:
    """`on_invoke` gets every successful invocation. The commands of a skill are calls of Bash through the
    tool host, like any other call."""

    def __init__(
        self,
        shelf: Shelf,
        host: ToolHost,
        effort: Callable[[], str | None],
        on_invoke: Callable[[Invocation], None],
        trusts: Callable[[Origin], bool],
    ) -> None:
        self.shelf = shelf
        self._host = host
        self._effort = effort
        self._on_invoke = on_invoke
        self._trusts = trusts

    def find(self, name: str) -> Invocable | None:
        return self.shelf.find(name)

    def by_model(self, name: str, args: str, aside: Aside) -> Invocation:
        item = self._need(name)
        if not item.model_invocable or self.shelf.override(item) == "user-invocable-only":
            raise InvocationRefusedError(
                f"Only the user can invoke `{item.name}`. Do not follow its steps another way.",
                origin=item.where("disable-model-invocation"),
            )
        return self._invoke(item, args, aside)

    def by_user(self, name: str, args: str, aside: Aside) -> Invocation:
        item = self._need(name)
        if not item.user_invocable:
            raise InvocationRefusedError(
                f"Only the model can invoke `/{item.name}`.", origin=item.where("user-invocable")
            )
        return self._invoke(item, args, aside)

    def _need(self, name: str) -> Invocable:
        item = self.find(name)
        if item is None:
            self._refuse_hidden(name)
        if item is None or self.shelf.override(item) == "off":
            raise NotFoundError(
                f"There is no skill or command {name!r}.{did_you_mean(name, self.shelf.names())}",
                kind="skill_not_found",
            )
        return item

    def _refuse_hidden(self, name: str) -> None:
        """Say which rule hides a skill that the project has."""
        view, plain = self.shelf.view, name.strip().removeprefix("/")
        held = view.project.skills.get(plain) or view.project.commands.get(plain)
        sight = None if held is None else self.shelf.sight(held.item)
        if sight is not None and not sight.is_visible:
            raise InvocationRefusedError(
                f"This session does not see `{plain}`: {sight.reason}.",
                kind="skill_hidden",
                origin=sight.origin,
            )

    def _invoke(self, item: Invocable, args: str, aside: Aside) -> Invocation:
        gate = self._host.gate
        self._require_readable(item)
        variables = self._variables(item)
        take_back = gate.grant_for_turn(pre_approvals(item, variables))
        enabled = self.shelf.view.project.setting("disableSkillShellExecution") is not True
        try:
            invocation = invoke(
                item,
                args,
                variables,
                lambda command, owner: self._shell(command, owner, aside),
                shell_enabled=enabled or item.origin.scope in ("managed", "bundled"),
            )
        except BaseException:
            take_back()
            raise
        if item.context == FORK:
            take_back()
            return invocation
        named = () if is_synced(item) else mentions(invocation.text, self._host, aside.emit)
        attached = tuple(one.text for one in named)
        variants = self.shelf.variants(item.name)
        if variants:
            listed = ", ".join(variants)
            note = f"There are nested variants: {listed}. Also load the one whose directory holds your files."
            attached = (*attached, note)
        invocation = replace(invocation, attached=attached)
        self._on_invoke(invocation)
        return invocation

    def forked(self, invocation: Invocation, delegate: Delegate | None, aside: Aside) -> ToolOutput:
        """The report of the agent that a skill with `context: fork` runs in."""
        item = invocation.item
        if delegate is None:
            raise InvocationRefusedError(
                f"`{item.name}` runs in a subagent (context: fork), and this session has no subagents.",
                kind="needs_subagents",
                hint="Remove `context: fork`, or use a session with subagents.",
                origin=item.where("context"),
            )
        from checkrein.runtime.tools.delegate import Errand

        return delegate.run_skill(
            Errand(
                skill=item.name,
                text=invocation.text,
                agent=item.agent,
                model=invocation.model,
                effort=invocation.effort,
                allowed=tuple(rule.text for rule in invocation.allow),
            ),
            aside,
        )

    def _require_readable(self, item: Invocable) -> None:
        """A rule may have come since the session started."""
        denied = self.shelf.denial(item.origin.file)
        if denied is not None:
            raise InvocationRefusedError(
                f"`{item.name}` can't be used: {denied.rule} denies reading {item.origin.file}.",
                hint="Change the rule, or move the file.",
                origin=denied.origin,
            )

    def _variables(self, item: Invocable) -> dict[str, str]:
        if is_synced(item):
            return {}
        project = self.shelf.view.project
        variables = {
            "CLAUDE_SESSION_ID": self._host.bench.session_id,
            "CLAUDE_PROJECT_DIR": project.place.cwd,
            "CLAUDE_EFFORT": self._effort() or "",
        }
        plugin = next((one for one in enabled_plugins(project) if one.name == item.plugin), None)
        return variables | plugin_variables(plugin, project) if plugin is not None else variables

    def _shell(self, command: str, owner: Invocable, aside: Aside) -> str:
        """Never asks: any verdict but allow ends the invocation, and so does a command that fails."""
        if owner.shell not in (None, "bash"):
            raise InvocationRefusedError(
                f"`{owner.name}` needs {owner.shell} for its commands, which this system does not have.",
                kind="shell_missing",
                hint="Set `shell: bash` and write the commands for it.",
                origin=owner.where("shell"),
            )
        if not self._trusts(owner.origin):
            raise InvocationRefusedError(
                f"`{owner.name}` runs a shell command, and this project is not trusted.",
                kind="untrusted_origin",
                hint="Look at the skill, then run `checkrein trust`.",
                origin=owner.origin,
            )
        use = ToolUse(short_id("line_"), "Bash", {"command": command})
        done = self._host.call_aside(use, aside, "skill")
        finished = done.finished
        if done.denial is not None:
            denial = done.denial.denial
            where = f" Rule: {denial.rule} ({denial.origin})." if denial.rule else ""
            raise InvocationRefusedError(
                f'Shell command permission check failed for pattern "{command}": {denial.reason}.{where}',
                hint="Allow the command in the settings or in the skill's allowed-tools.",
                origin=owner.origin,
            )
        if finished.is_error:
            raise InvocationRefusedError(
                f'Shell command failed for pattern "{command}": {finished.content}', origin=owner.origin
            )
        return _said(finished)


def _said(finished: ToolFinished) -> str:
    """What a command printed; empty when it printed nothing."""
    structured = finished.structured
    silent = isinstance(structured, dict) and not structured.get("stdout", "x")
    return finished.content if isinstance(finished.content, str) and not silent else ""
