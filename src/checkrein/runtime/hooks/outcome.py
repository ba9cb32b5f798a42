"""The answers of all handlers of one firing, as one value.

Merge law: a refusal beats a deferral beats a question beats an approval; `continue: false` beats them all.
All contexts, messages and errors stay, in the order in which the hooks are declared. Of several rewritten
inputs the last to arrive counts. The result depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET, Struct

from checkrein.base.origin import Origin
from checkrein.facts.claude_hooks import CLASSIFIER_CHARS
from checkrein.runtime.session.events import Event

if TYPE_CHECKING:
    from checkrein.runtime.hooks.output import Answer, Outcome, Permission, Verdict

_RANK: dict[Verdict, int] = {"allow": 1, "ask": 2, "defer": 3, "deny": 4}


class Context(Struct, frozen=True):
    """Text for the model, from one hook."""

    text: str
    hook: str
    origin: Origin


class HookRecord(Struct, frozen=True, kw_only=True):
    """One handler of one firing. `order` counts the ends: the first to finish has 0."""

    hook_id: str
    name: str
    type: str
    origin: Origin
    answer: Answer
    exit_code: int | None = None
    duration_ms: int = 0
    order: int = 0

    @property
    def outcome(self) -> Outcome:
        return self.answer.outcome


class Elicited(Struct, frozen=True):
    """A hook's answer in place of the user's."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class HookOutcome(Struct, frozen=True, kw_only=True):
    """What a firing means for the session.

    `verdict` comes from PreToolUse hooks, `permission` from PermissionRequest hooks, `blocked` from all
    others; `reason` goes with them, `origin` is the first hook that said so. `continue_` False ends the
    turn with `stop_reason`. `updated_output` is UNSET when no hook rewrote the output.
    """

    event: str
    verdict: Verdict | None = None
    blocked: bool = False
    reason: str = ""
    origin: Origin | None = None
    continue_: bool = True
    stop_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    updated_output: Any = UNSET
    additional_context: tuple[Context, ...] = ()
    system_messages: tuple[str, ...] = ()
    permission: Permission | None = None
    elicited: Elicited | None = None
    retry: bool = False
    session_title: str | None = None
    initial_user_message: str | None = None
    suppress_original_prompt: bool = False
    display_content: str | None = None
    classifier_context: str = ""
    watch_paths: tuple[str, ...] = ()
    reload_skills: bool = False
    worktree_path: str | None = None
    errors: tuple[str, ...] = ()
    records: tuple[HookRecord, ...] = ()

    @property
    def keeps_going(self) -> bool:
        """For Stop and SubagentStop: the agent must continue, and gets `reason` or the contexts."""
        return self.continue_ and (self.blocked or bool(self.additional_context))

    @property
    def context_text(self) -> str:
        return "\n".join(context.text for context in self.additional_context)


def merge(event: str, payload: Mapping[str, Any], records: Iterable[HookRecord]) -> HookOutcome:
    """`records` in the order the hooks are declared."""
    from checkrein.runtime.hooks.output import updated_output

    found = tuple(records)
    verdict, blocked, deciding = _verdict(event, payload, found)
    stops = [record for record in found if record.answer.ends_turn]
    by_end = sorted(found, key=lambda record: record.order)
    permission = _permission(found)
    return HookOutcome(
        event=event,
        verdict=verdict,
        blocked=blocked,
        reason=_joined(_reason(record, event) for record in deciding)
        or (permission.message if permission else ""),
        origin=deciding[0].origin if deciding else None,
        continue_=not stops,
        stop_reason=_joined(r.answer.stop_reason or r.answer.reason for r in stops) or None,
        updated_input=_last(by_end, "updated_input"),
        updated_output=next(
            (output for r in reversed(by_end) if (output := updated_output(r.answer.specific)) is not UNSET),
            UNSET,
        ),
        additional_context=tuple(
            Context(r.answer.context, r.name, r.origin) for r in found if r.answer.context
        ),
        system_messages=tuple(r.answer.system_message for r in found if r.answer.system_message),
        permission=permission,
        elicited=_elicited(event, found, blocked),
        retry=any(r.answer.specific.retry for r in found),
        session_title=_last(by_end, "session_title"),
        initial_user_message=_last(by_end, "initial_user_message"),
        suppress_original_prompt=any(r.answer.specific.suppress_original_prompt for r in found),
        display_content=_last(by_end, "display_content"),
        classifier_context=_joined(r.answer.specific.classifier_context or "" for r in found)[
            :CLASSIFIER_CHARS
        ],
        watch_paths=tuple(dict.fromkeys(path for r in found for path in r.answer.specific.watch_paths or ())),
        reload_skills=any(r.answer.specific.reload_skills for r in found),
        worktree_path=_worktree(event, found),
        errors=tuple(f"{r.name} hook error: {r.answer.error}" for r in found if r.answer.error),
        records=found,
    )


def _verdict(
    event: str, payload: Mapping[str, Any], records: tuple[HookRecord, ...]
) -> tuple[Verdict | None, bool, list[HookRecord]]:
    if event == "PreToolUse":
        decided = [record for record in records if record.answer.verdict]
        best = max(
            (record.answer.verdict for record in decided if record.answer.verdict),
            key=_RANK.__getitem__,
            default=None,
        )
        return best, False, [record for record in decided if record.answer.verdict == best]
    if event == "ConfigChange" and payload.get("source") == "policy_settings":
        return None, False, []
    blocking = [record for record in records if record.answer.blocked]
    return None, bool(blocking), blocking


def _reason(record: HookRecord, event: str) -> str:
    """The reason of a refusal. A refusal by exit status names the hook."""
    reason = record.answer.reason
    return (
        f"{record.name} hook error: {reason}" if record.answer.by_status and event == "PreToolUse" else reason
    )


def _permission(records: tuple[HookRecord, ...]) -> Permission | None:
    given = [record.answer.specific.decision for record in records]
    decided = [permission for permission in given if permission is not None]
    return next((p for p in decided if p.behavior == "deny"), decided[0] if decided else None)


def _elicited(event: str, records: tuple[HookRecord, ...], blocked: bool) -> Elicited | None:
    if event not in ("Elicitation", "ElicitationResult"):
        return None
    if blocked:
        return Elicited("decline")
    answers = [r.answer.specific for r in records if r.answer.specific.action]
    refusal = [answer for answer in answers if answer.action != "accept"]
    for answer in refusal or answers:
        assert answer.action is not None
        return Elicited(answer.action, answer.content)
    return None


def _worktree(event: str, records: tuple[HookRecord, ...]) -> str | None:
    """The path that a WorktreeCreate hook made: its last line of text, or the field."""
    if event != "WorktreeCreate":
        return None
    for record in records:
        lines = record.answer.text.strip().splitlines()
        found = record.answer.specific.worktree_path or (lines[-1].strip() if lines else None)
        if found:
            return found
    return None


def _last(by_end: list[HookRecord], field: str) -> Any:
    values = (getattr(record.answer.specific, field) for record in reversed(by_end))
    return next((value for value in values if value is not None), None)


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(text for text in texts if text))


def same_shape(before: Any, after: Any) -> bool:
    """Whether a rewritten tool output has the tool's own form; otherwise the session ignores it."""
    if isinstance(before, dict):
        return isinstance(after, dict) and all(
            key in after and _kind(after[key]) == _kind(value) for key, value in before.items()
        )
    return _kind(before) == _kind(after)


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    for kind, types in (("number", int | float), ("text", str), ("list", list | tuple), ("object", dict)):
        if isinstance(value, types):
            return kind
    return type(value).__name__


class News(Struct, frozen=True):
    """What async hooks said since the last call. `wake`: the model must get it at once."""

    events: tuple[Event, ...] = ()
    additional_context: tuple[Context, ...] = ()
    system_messages: tuple[str, ...] = ()
    wake: bool = False
