"""The setup of a verb that runs something: project, model, store, permissions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.errors import NotFoundError
from checkrein.base.nearest import did_you_mean
from checkrein.policy.remote import PREFIX
from checkrein.protocol.machine.project import load_project

if TYPE_CHECKING:
    from checkrein.llm.port import Cancel, Model, ModelEvent, ModelRequestError, Request
    from checkrein.model.project import Project
    from checkrein.policy.situation import Terms
    from checkrein.runtime.session.options import Options


class Setup(Struct, frozen=True, kw_only=True):
    """`deny_tools` and `deny_prefixes` remove tools, in upper or lower case. `model` None uses no model, if
    the verb can work without one."""

    project: str = "."
    model: str | None = None
    directory: str | None = None
    session_id: str | None = None
    resume: str | None = None
    permission_mode: str | None = None
    allow: tuple[str, ...] = ()
    deny_tools: tuple[str, ...] = ()
    deny_prefixes: tuple[str, ...] = ()
    trust: bool = False
    max_retries: int = 10
    max_budget_tokens: int | None = None
    max_tool_rounds: int | None = None
    schema: dict[str, Any] | None = None


class WatchedModel:
    """A model that keeps its last failure, so that an answer can name its kind."""

    def __init__(self, model: Model, name: str) -> None:
        self.name = name
        self.error: ModelRequestError | None = None
        self._model = model

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        from checkrein.llm.port import ModelRequestError

        self.error = None
        try:
            yield from self._model.stream(request, cancel)
        except ModelRequestError as error:
            self.error = error
            raise


class NoModel:
    """Takes the place of a model for a verb without one; a request to it fails with the reason."""

    name = "none"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        from checkrein.llm.port import ModelRequestError

        raise ModelRequestError(
            "invalid_request", "This call has no model.", hint="Name one with --model PROVIDER:NAME."
        )


def choose_model(setup: Setup, project: Project) -> WatchedModel:
    """The named model, found before anything starts, so that a missing key costs nothing."""
    import os

    from checkrein.base.errors import CheckreinError
    from checkrein.runtime.session.chooser import Chooser
    from checkrein.runtime.trust import standing

    try:
        trust = standing(project, trusted=setup.trust)
        return WatchedModel(*Chooser(trust, dict(os.environ))(setup.model))
    except CheckreinError as error:
        raise error.during("choose_model", setup.model or "default") from error


def options_of(setup: Setup, *, persist: bool) -> Options:
    from checkrein.runtime.session.budget import Budget
    from checkrein.runtime.session.options import Options
    from checkrein.runtime.turn.retry import RetryPolicy

    terms = terms_of(setup)
    return Options(
        mode=terms.mode,
        allowed=terms.allowed,
        disallowed=terms.disallowed,
        budget=Budget(tokens=setup.max_budget_tokens, requests=setup.max_tool_rounds),
        schema=setup.schema,
        persist=persist,
        session_id=setup.session_id,
        resume=setup.resume,
        trust=setup.trust,
        retry=RetryPolicy(attempts=setup.max_retries),
        sessions=setup.directory,
    )


def terms_of(setup: Setup) -> Terms:
    """What the setup brings to the verdicts on calls."""
    from checkrein.model.rule import split_rule_list
    from checkrein.policy.situation import Terms

    return Terms(
        mode=setup.permission_mode,
        allowed=tuple(rule for text in setup.allow for rule in split_rule_list(text)),
        disallowed=denied(setup.deny_tools, setup.deny_prefixes, setup.project),
    )


def denied(names: tuple[str, ...], prefixes: tuple[str, ...], project: str = ".") -> tuple[str, ...]:
    """The tools and servers that these remove. Refuses an unknown one, because it would protect nothing."""
    from checkrein.protocol.machine.inventory import servers, tools

    if not names and not prefixes:
        return ()
    known = {entry.name.lower(): entry.name for entry in tools(project)}
    if any(_may_be_server(text.lower()) for text in (*names, *prefixes)):
        known |= {entry.name.lower(): entry.name for entry in servers(project)}
    found: dict[str, None] = {}
    for name in names:
        if name.lower() not in known and not name.startswith(PREFIX):
            near = did_you_mean(name, known.values())
            raise _no_tool(f"--deny-tool {name!r} does not name a tool.{near}", name)
        found[known.get(name.lower(), name)] = None
    for prefix in prefixes:
        hit = [name for lower, name in known.items() if prefix and lower.startswith(prefix.lower())]
        if not hit and _server_of(prefix, known) is not None:
            hit = [f"{prefix}*"]
        if not hit:
            raise _no_tool(f"No tool begins with {prefix!r} (--deny-prefix).", prefix)
        found |= dict.fromkeys(hit)
    return tuple(found)


def _may_be_server(text: str) -> bool:
    return text.startswith(PREFIX) or (bool(text) and PREFIX.startswith(text))


def _server_of(name: str, known: dict[str, str]) -> str | None:
    """The known server whose tool a name, or the start of one, is: `mcp__SERVER__…`."""
    starts = (one for one in known.values() if one.startswith(PREFIX))
    return next((one for one in starts if name.lower().startswith(f"{one.lower()}__")), None)


def _no_tool(message: str, target: str) -> NotFoundError:
    return NotFoundError(message, kind="tool_not_found").during("deny_tools", target)


def project_of(setup: Setup) -> Project:
    return load_project(setup.project)
