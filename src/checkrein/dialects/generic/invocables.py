"""Skills and commands: which file each becomes for an agent, and its frontmatter and body."""

from __future__ import annotations

from typing import Any

from checkrein.dialects.generic import behavior, body, emit, names
from checkrein.dialects.generic.fields import STANDARD, explicit_fields, own_tools, tool_text
from checkrein.dialects.generic.keys import ordered
from checkrein.dialects.generic.tools import limit_tools
from checkrein.dialects.generic.written import File, Ledger, Options, content_fields
from checkrein.facts.agents import BodyForm, CommandForm, Target
from checkrein.facts.behavior import FormKind, profile
from checkrein.model.items import Agent, Invocable, Skill

_DESCRIPTION_LIMIT = 1024
_SPEC_KIT_PREFIX = "speckit."


def write_invocable(item: Invocable, target: Target, options: Options, ledger: Ledger) -> list[File]:
    """The files of one skill or command."""
    form = route(item, target, options, ledger)
    if form is None:
        return []
    behavior.account_hatch(item, target, ledger)
    emitted = behavior.translate(item, target, options, ledger, form)
    hatch = behavior.hatch_of(item, target)
    if form == "agent" and target.dialect == "claude":
        return _as_claude_agent(item, target, ledger, hatch, emitted)
    if form == "agent" and target.dialect != "copilot":
        return _as_native_agent(item, target, options, ledger)
    if form == "skill":
        return _as_skill(item, target, options, ledger, hatch, emitted)
    return _as_command(item, target, options, ledger, hatch, emitted)


def route(item: Invocable, target: Target, options: Options, ledger: Ledger) -> FormKind | None:
    """The kind of file that the item becomes; None when there is no file."""
    if target.command is None and target.skills is None:
        ledger.item_lost(f"{target.label} takes no {ledger.kind}s")
        return None
    execution = behavior.execution_of(item)
    form = profile(options.profile).form_of(target.key, execution)
    if form is None:
        if not options.degrade:
            ledger.item_lost(
                f"{target.label} has no agent definitions for `behavior.execution: agent` of"
                f" {ledger.subject}; leave it out of --to, or use --degrade to write the closest form",
                "error",
                code="BEH015",
                at="behavior.execution",
            )
            return None
        nearest: FormKind = "agent" if target.agents else "skill" if target.skill_dir else "command"
        ledger.approximated(
            "behavior.execution", f"{ledger.subject} was written as a {target.label} {nearest}"
        )
        return nearest
    if execution == "agent":
        return form
    skill = isinstance(item, Skill) or (options.skills_layout and target.key == "copilot")
    if skill and target.skill_dir:
        return "skill"
    if form == "skill" and target.skill_dir is None:
        return "command"
    if form == "command" and target.command is not None and target.command.form == "skill":
        return "skill"
    return form


def _as_skill(
    item: Invocable,
    target: Target,
    options: Options,
    ledger: Ledger,
    hatch: dict[str, Any],
    emitted: dict[str, Any],
) -> list[File]:
    directory = target.skill_dir
    assert directory is not None
    claude = target.dialect == "claude"
    name = _skill_name(item, claude)
    _account_name(ledger, item, name)
    taken = target.skill_fields if claude else (*STANDARD, *target.skill_fields)
    explicit = explicit_fields(item, target, taken, ledger, None if claude else _DESCRIPTION_LIMIT)
    _fit_effort(explicit, target, ledger)
    label = (item.display_name if claude else None) or name
    if item.display_name is not None and item.display_name == label:
        ledger.kept("display_name")
    values = behavior.merge(explicit, hatch, emitted)
    if not claude or item.display_name is not None or not isinstance(item, Skill):
        values = {"name": label, **values}
    if options.neutral and claude:
        values = {"name": label, **explicit, **neutral(item)}
    if claude and item.hooks:
        from checkrein.dialects.generic.hook_entries import claude_groups, safe_hook

        values["hooks"] = claude_groups(safe_hook(hook, ledger) for hook in item.hooks)
        ledger.kept("hooks")
    policy = None if target.skills is None else target.skills.policy
    withheld = policy is not None and not _is_offered(item)
    if withheld:
        for field in ("model_invocable", "behavior.invocation"):
            if field in content_fields(item):
                ledger.outcomes.pop(field, None)
                ledger.kept(field)
    text = _body(item, target, target.body if claude else BodyForm(), ledger)
    files = [File(f"{directory}/{name}/SKILL.md", emit.markdown(ordered(values), text))]
    extras = options.attachments.get(item.directory, ()) if isinstance(item, Skill) else ()
    for extra in extras:
        if not (withheld and extra.path == policy):
            files.append(File(f"{directory}/{name}/{extra.path}", extra.content, extra.executable))
    if withheld and policy is not None:
        own = next((extra.content for extra in extras if extra.path == policy), b"")
        files.append(File(f"{directory}/{name}/{policy}", emit.encode(_withheld(own))))
    return files


def _is_offered(item: Invocable) -> bool:
    """Whether the model may choose the item; `behavior` wins over the file."""
    return bool(
        item.behavior.get("invocation", "automatic" if item.model_invocable else "explicit") != "explicit"
    )


def _withheld(own: bytes) -> str:
    """Codex's policy of a skill that only the user starts, with what the skill's own file says otherwise."""
    import yaml

    try:
        held = yaml.safe_load(own.decode("utf-8", "replace"))
    except yaml.YAMLError:
        held = None
    values: dict[str, Any] = held if isinstance(held, dict) else {}
    said = values.get("policy")
    policy: dict[str, Any] = said if isinstance(said, dict) else {}
    return emit.yaml_text({**values, "policy": {**policy, "allow_implicit_invocation": False}})


def neutral(item: Invocable | Agent) -> dict[str, Any]:
    """The source-only sections, for files that are sources themselves."""
    sections = {"behavior": item.behavior, "agents": item.agents}
    return {key: value for key, value in sections.items() if value}


def _skill_name(item: Invocable, claude: bool) -> str:
    if claude and isinstance(item, Skill) and names.flat_name(item.name, ".") == item.name:
        return item.name
    return names.skill_name(item.name)


def _as_command(
    item: Invocable,
    target: Target,
    options: Options,
    ledger: Ledger,
    hatch: dict[str, Any],
    emitted: dict[str, Any],
) -> list[File]:
    form = target.command
    assert form is not None
    name = names.command_name(item.name, form)
    _account_name(ledger, item, name)
    explicit = explicit_fields(item, target, form.fields, ledger)
    _as_subtask(explicit, item, target, ledger)
    if target.agents is not None and form.dir == target.agents.path.rpartition("/")[0]:
        _bind_tools(explicit, item, target, ledger)
    values = behavior.merge(explicit, hatch, emitted)
    if form.inject_name:
        values = {"name": name, **values}
    if item.display_name in (name, item.name):
        ledger.kept("display_name")
    text = _body(item, target, target.body, ledger)
    if target.body_limit and len(text) > target.body_limit:
        ledger.outcomes.pop("body", None)
        ledger.approximated(
            "body", f"the text of {ledger.subject} is longer than {target.body_limit} characters"
        )
    if isinstance(item, Skill):
        _account_skill(item, target, options, ledger)
    directory = options.command_dir or form.dir if target.key == "generic" else form.dir
    files = [File(f"{directory}/{name}{form.extension}", _render_command(form, name, values, text, options))]
    if form.companion:
        content = emit.markdown({"agent": name}, "")
        files.append(File(form.companion.format(name=name), content))
    return files


def _bind_tools(explicit: dict[str, Any], item: Invocable, target: Target, ledger: Ledger) -> None:
    """A command that is an agent file there: the file's own list of tools limits it, as it would an agent.

    `allowed-tools` of a plain command limits nothing here, and is left out where its patterns have no form.
    """
    own = own_tools(item)
    if own is None or "*" in own:
        return
    limited = limit_tools(own, target)
    plain = "tools" not in item.unknown and behavior.execution_of(item) == "command"
    if plain and limited.missing:
        return
    explicit["tools"] = list(limited.names)
    fields = [name for name in content_fields(item) if name in ("allowed_tools", "unknown.tools")]
    lacking = f", without {', '.join(limited.missing)}" if limited.missing else ""
    for field in fields:
        names = ", ".join(limited.names) or "no tools"
        ledger.approximated(field, f"{ledger.subject} is limited to {names} there{lacking}")


def _render_command(
    form: CommandForm, name: str, values: dict[str, Any], text: str, options: Options
) -> bytes:
    """A command in the agent's file format."""
    values = ordered(values)
    if form.form == "markdown":
        return emit.markdown(values, text)
    if form.form == "toml":
        return emit.encode(emit.toml_text({**values, "prompt": text}))
    title = values.pop("title", None) or name.replace(".", " ").replace("-", " ").title()
    recipe: dict[str, Any] = {"version": "1.0.0", "title": title, "description": title, **values}
    recipe["extensions"] = [dict(one) for one in options.extensions]
    if "{{args}}" in text:
        recipe["parameters"] = [
            {
                "key": "args",
                "input_type": "string",
                "requirement": "optional",
                "default": "",
                "description": "What the user adds to the command.",
            }
        ]
    return emit.encode(emit.yaml_text({**recipe, "prompt": text}))


def _as_claude_agent(
    item: Invocable, target: Target, ledger: Ledger, hatch: dict[str, Any], emitted: dict[str, Any]
) -> list[File]:
    """An agent definition made of a command: minimal frontmatter, the body is the system prompt."""
    form = target.agents
    assert form is not None
    name = names.skill_name(item.name)
    _account_name(ledger, item, name)
    explicit: dict[str, Any] = {}
    for field, key, value in (
        ("description", "description", item.description),
        ("model", "model", item.model),
        ("effort", "effort", item.effort),
    ):
        if value is not None:
            explicit[key] = value
            ledger.kept(field)
    own = own_tools(item)
    if own is not None:
        explicit["allowed-tools"] = tool_text(own)
        ledger.kept("allowed_tools", "unknown.tools")
        hatch = {key: value for key, value in hatch.items() if key != "tools"}
    for field in ("metadata", "compatibility"):
        if getattr(item, field) and field not in item.injected:
            ledger.lost(field, f"`{field}` of {ledger.subject} has no place in an agent definition", "info")
    values = {"name": name, **behavior.as_agent(behavior.merge(explicit, hatch, emitted))}
    text = _body(item, target, BodyForm(variables=True), ledger)
    return [File(form.path.format(name=name), emit.markdown(ordered(values), text))]


def _as_native_agent(item: Invocable, target: Target, options: Options, ledger: Ledger) -> list[File]:
    """The closest form if the tables say "not supported" but the agent has its own definitions."""
    from checkrein.dialects.generic.subagents import agent_of, write_agent

    for field in item.behavior:
        if field != "execution":
            ledger.outcomes.pop(f"behavior.{field}", None)
    files = write_agent(agent_of(item, options), target, options, ledger)
    listed = content_fields(item)
    for field in ("tools", "effort", "color"):
        found = ledger.outcomes.get(field)
        also = ("allowed_tools", "unknown.tools") if field == "tools" else ()
        for other in (f"behavior.{field}", *also):
            if found is not None and other in listed:
                ledger.repeat(other, found)
    return files


def _account_name(ledger: Ledger, item: Invocable, name: str) -> None:
    if name.replace("/", ":") != item.name:
        ledger.renamed(name)


def _body(item: Invocable, target: Target, form: BodyForm, ledger: Ledger) -> str:
    text = item.body
    if item.name.startswith(_SPEC_KIT_PREFIX):
        text = text.replace("__AGENT__", target.key)
    return body.convert(text, form, ledger, item.arguments)


def _as_subtask(explicit: dict[str, Any], item: Invocable, target: Target, ledger: Ledger) -> None:
    """opencode says `subtask: true` where Claude Code says `context: fork`."""
    if target.dialect == "opencode" and explicit.pop("context", None) == "fork":
        explicit["subtask"] = True


def _fit_effort(explicit: dict[str, Any], target: Target, ledger: Ledger) -> None:
    effort = explicit.get("effort")
    if effort is not None and target.efforts and effort not in target.efforts:
        ledger.outcomes.pop("effort", None)
        nearest = target.efforts[-1]
        explicit["effort"] = nearest
        ledger.approximated("effort", f"`effort: {effort}` of {ledger.subject} is `{nearest}` there")


def _account_skill(item: Skill, target: Target, options: Options, ledger: Ledger) -> None:
    """A skill as a command: the model does not choose it by itself, and its other files are not copied."""
    ledger.approximated("", f"{ledger.subject} is a command there; {target.label} has no skills")
    extra = options.attachments.get(item.directory, ())
    if extra:
        ledger.lost("attachments", f"{len(extra)} other files of {ledger.subject} are not copied")
