"""`checkrein why`: the value of a thing, the file and line it came from, and what it was chosen from."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.show import PROJECT_ARG, require
from checkrein.passes.explain import THING_KINDS, Explanation
from checkrein.policy.values import Decision
from checkrein.runtime.context.cachereport import CacheReport
from checkrein.runtime.context.explain import PromptReport


class Payload(Struct, frozen=True, omit_defaults=True):
    """`kind` is how the thing was understood. `decisions` are there for a call, and for a path that is no
    part of the project's configuration: what reading and changing it would meet."""

    thing: str
    kind: str
    explanations: tuple[Explanation, ...] = ()
    decisions: dict[str, Decision] = {}
    prompt: PromptReport | None = None
    cache: CacheReport | None = None


COMMAND = Command(
    name="why",
    summary="Explain a call, a path, a name or a settings key: value, file and line, all candidates.",
    args=(
        Arg(
            name="thing",
            help="A call such as `Bash(git push)`, a path, a name, or a settings key.",
        ),
        PROJECT_ARG,
        Arg(
            name="kind",
            flags=("--kind",),
            type="choice",
            choices=THING_KINDS,
            help="Read THING as this; without it: a call, a path, a name, a key, in this order.",
        ),
        Arg(
            name="prompt",
            flags=("--prompt",),
            type="bool",
            help="What a session tells the model before the first prompt: segments, origin, size.",
        ),
        Arg(
            name="cache",
            flags=("--cache",),
            metavar="SESSION",
            help="Where and why the prompt cache of a session broke, and what that cost.",
        ),
        Arg(name="model", flags=("--model",), help="With --prompt: the model whose window counts."),
    ),
    payload=Payload,
    errors=("project_not_found", "thing_not_found", "call_invalid", "session_not_found"),
    examples=(
        ("checkrein why permissions.deny", "every deny rule and where it stands"),
        ("checkrein why review", "the skill called review and what it shadows"),
        ("checkrein why CLAUDE.md", "why this file is in the context"),
        ("checkrein why 'Bash(git push && rm -rf build)'", "each piece of the command and its verdict"),
        ("checkrein why --prompt", "every segment of the prompt with its origin and size"),
        ("checkrein why --cache 3f2a", "the requests of a session and what the cache served"),
    ),
)


def run(
    thing: str | None, project: str, kind: str | None, prompt: bool, cache: str | None, model: str | None
) -> Outcome:
    if (thing is not None) + prompt + (cache is not None) != 1:
        raise UsageError("Name one thing to explain, or give --prompt or --cache SESSION.")
    require(project)
    if thing is None:
        return _session(project, cache, model)
    from checkrein.passes import explain
    from checkrein.passes.load import load

    loaded = load(project)
    chosen = kind or explain.thing_kind(loaded, thing)
    found: list[Explanation] = []
    decisions: dict[str, Decision] = {}
    if chosen == "call":
        from checkrein.passes.calls import explain_call

        decisions = {thing: explain_call(loaded, thing)}
    elif chosen == "path":
        found = explain.explain_path(loaded, thing)
        if not found:
            from checkrein.passes.calls import explain_call

            decisions = {call: explain_call(loaded, call) for call in (f"Read({thing})", f"Edit({thing})")}
    elif chosen == "name":
        found = explain.explain_name(loaded, thing)
    else:
        found = explain.explain_key(loaded, thing)
    if not found and not decisions:
        raise NotFoundError(
            f"{thing} contributes nothing to this project.",
            kind="thing_not_found",
            hint="`checkrein show` lists what is in effect.",
        )
    payload = Payload(thing, chosen, tuple(found), decisions)

    def text() -> str:
        from checkrein.cli import why_text

        if decisions:
            told = [why_text.decision(call, one) for call, one in decisions.items()]
            return "\n\n".join([why_text.no_part(thing), *told] if chosen == "path" else told)
        return "\n\n".join(why_text.explanation(one) for one in found)

    return Outcome(data=payload, text=text)


def _session(project: str, cache: str | None, model: str | None) -> Outcome:
    from checkrein.cli import why_prompt

    if cache is not None:
        served = why_prompt.cache_report_of(cache, project)
        return Outcome(data=Payload(cache, "cache", cache=served), text=lambda: why_prompt.cache_text(served))
    told = why_prompt.prompt_report(project, model)
    return Outcome(data=Payload(project, "prompt", prompt=told), text=lambda: why_prompt.prompt_text(told))
