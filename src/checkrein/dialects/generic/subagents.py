"""Subagent definitions in each agent's format."""

from __future__ import annotations

from typing import Any

from checkrein.dialects.generic import behavior, body, emit, names
from checkrein.dialects.generic.fields import account_model, model_name, own_tools
from checkrein.dialects.generic.invocables import neutral, write_invocable
from checkrein.dialects.generic.keys import ordered
from checkrein.dialects.generic.server_entries import server_entry
from checkrein.dialects.generic.tools import WRITERS, convert_tools, say_tools, without_tools
from checkrein.dialects.generic.written import File, Ledger, Options
from checkrein.facts.agents import AgentForm, BodyForm, Target
from checkrein.facts.behavior import profile
from checkrein.model.items import Agent, Command, Invocable
from checkrein.model.rule import split_rule_list

_PLAIN = (
    "description",
    "permission_mode",
    "max_turns",
    "memory",
    "background",
    "isolation",
    "color",
    "initial_prompt",
)


def write_agent(item: Agent, target: Target, options: Options, ledger: Ledger) -> list[File]:
    """The file of one agent definition."""
    form = target.agents
    if form is None:
        return _without_agents(item, target, options, ledger)
    name = _agent_name(item, target)
    if name != item.name:
        ledger.renamed(name)
    behavior.account_hatch(item, target, ledger)
    emitted = behavior.translate(item, target, options, ledger, "agent")
    values = {**behavior.as_agent(emitted), **behavior.as_agent(behavior.hatch_of(item, target))}
    values |= _values(item, target, form, ledger)
    values |= form.fixed
    if options.neutral and target.dialect == "claude":
        values |= neutral(item)
    if form.name_key:
        values = {form.name_key: name, **values}
    text = body.convert(item.body, BodyForm(variables=target.body.variables), ledger)
    if target.body_limit and len(text) > target.body_limit:
        ledger.outcomes.pop("body", None)
        ledger.approximated(
            "body", f"the text of {ledger.subject} is longer than {target.body_limit} characters"
        )
    return [File(form.path.format(name=name), _render_agent(form, ordered(values), text))]


def _render_agent(form: AgentForm, values: dict[str, Any], text: str) -> bytes:
    if form.format == "markdown":
        return emit.markdown(values, text)
    document = {**values, form.body_key: text}
    return emit.encode(emit.toml_text(document) if form.format == "toml" else emit.json_text(document))


def _agent_name(item: Agent, target: Target) -> str:
    if target.dialect == "claude" and names.flat_name(item.name) == item.name:
        return item.name
    return names.skill_name(item.name)


def _values(item: Agent, target: Target, form: AgentForm, ledger: Ledger) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in _PLAIN:
        value = getattr(item, field)
        if value is not None and field in form.fields:
            values[form.fields[field]] = value
            ledger.kept(field)
    model = None if item.model is None else model_name(item.model, target)
    if model is not None and "model" in form.fields:
        values[form.fields["model"]] = model
        account_model(item.model or "", model, target, ledger)
    if item.model == "inherit":
        ledger.kept("model")
    if item.effort is not None and "effort" in form.fields:
        values[form.fields["effort"]] = _effort(item.effort, target, ledger)
    if item.skills and "skills" in form.fields:
        values[form.fields["skills"]] = list(item.skills)
        ledger.kept("skills")
    _limits(item, target, form, ledger, values)
    _servers(item, target, form, ledger, values)
    if item.hooks and "hooks" in form.fields:
        from checkrein.dialects.generic.hook_entries import claude_groups, safe_hook

        values[form.fields["hooks"]] = claude_groups(safe_hook(hook, ledger) for hook in item.hooks)
        ledger.kept("hooks")
    if target.dialect == "claude":
        values |= item.unknown
        ledger.kept(*(f"unknown.{key}" for key in item.unknown))
    return values


def _effort(effort: str, target: Target, ledger: Ledger) -> str:
    if not target.efforts or effort in target.efforts:
        ledger.kept("effort")
        return effort
    ledger.approximated("effort", f"`effort: {effort}` of {ledger.subject} is `{target.efforts[-1]}` there")
    return target.efforts[-1]


def _limits(item: Agent, target: Target, form: AgentForm, ledger: Ledger, values: dict[str, Any]) -> None:
    """What the agent may use and what not. A limit that has no form there is a lost guard."""
    tools, denied = item.tools, item.disallowed_tools
    if "disallowed_tools" in form.fields:
        if tools is not None:
            _tools(tools, target, form, ledger, values)
        if denied:
            _denied_list(denied, target, form, ledger, values)
        return
    if form.tools == "permission":
        if tools is not None:
            _tools(tools, target, form, ledger, values)
        if denied:
            _denied_tools(denied, target, ledger, values)
        return
    if denied:
        limited = form.tools == "list" or tools is not None or {*denied, "PowerShell"} >= WRITERS
        if not limited:
            ledger.guard_lost(
                "disallowed_tools", f"{ledger.subject} can't be kept from {', '.join(denied)} there"
            )
            return
        tools = without_tools(tools, denied, target)
        ledger.approximated("disallowed_tools", f"{ledger.subject}: its list of tools leaves them out there")
    if tools is not None:
        _tools(tools, target, form, ledger, values)


def _denied_list(
    tools: tuple[str, ...], target: Target, form: AgentForm, ledger: Ledger, values: dict[str, Any]
) -> None:
    converted = convert_tools(tools, target)
    said: Any = ", ".join(converted.names) if form.tools == "comma" else list(converted.names)
    values[form.fields["disallowed_tools"]] = said
    if converted.missing:
        missing = ", ".join(converted.missing)
        ledger.guard_lost(
            "disallowed_tools", f"{ledger.subject}: {missing} has no name there and stays allowed"
        )
    ledger.kept("disallowed_tools")


def _denied_tools(tools: tuple[str, ...], target: Target, ledger: Ledger, values: dict[str, Any]) -> None:
    converted = convert_tools(tools, target)
    if converted.names:
        held = values.setdefault("permission", {})
        for name in converted.names:
            held.pop(name, None)
            held[name] = "deny"
    if converted.missing:
        missing = ", ".join(converted.missing)
        ledger.guard_lost(
            "disallowed_tools", f"{ledger.subject}: {missing} has no name there and stays allowed"
        )
    said = f"denied there: {', '.join(converted.names)}"
    ledger.approximated("disallowed_tools", f"{ledger.subject}: {said}")


def _tools(
    tools: tuple[str, ...], target: Target, form: AgentForm, ledger: Ledger, values: dict[str, Any]
) -> None:
    if "*" in tools and target.dialect != "claude":
        ledger.approximated("tools", f"{ledger.subject}: a missing list of tools means `*` there")
        return
    said, remark, exact = say_tools(tools, target, form.tools)
    values |= said
    if not said:
        ledger.guard_lost("tools", f"{ledger.subject}: {remark}")
    elif exact:
        ledger.kept("tools")
    else:
        ledger.approximated("tools", f"{ledger.subject}: {remark or 'several tools share one name there'}")


def _servers(item: Agent, target: Target, form: AgentForm, ledger: Ledger, values: dict[str, Any]) -> None:
    if item.servers and "servers" in form.fields and target.servers is not None:
        entries = {s.name: server_entry(s, target, target.servers, ledger) for s in item.servers}
        key = form.fields["servers"]
        if target.dialect == "claude":
            values[key] = [*item.server_names, *({name: entry} for name, entry in entries.items())]
        else:
            values[key] = entries
        ledger.kept("servers")
    elif item.server_names and "server_names" in form.fields:
        values[form.fields["server_names"]] = list(item.server_names)
    if item.server_names and "server_names" in form.fields:
        ledger.kept("server_names")


def _without_agents(item: Agent, target: Target, options: Options, ledger: Ledger) -> list[File]:
    if not options.degrade or (target.command is None and target.skills is None):
        ledger.item_lost(f"{target.label} has no agent definitions; {ledger.subject} is not written")
        return []
    ledger.approximated(
        "", f"{ledger.subject} was written as a skill or command; {target.label} has no agents"
    )
    command = Command(
        name=item.name,
        origin=item.origin,
        spans=item.spans,
        description=item.description,
        behavior={key: value for key, value in item.behavior.items() if key != "execution"},
        agents=item.agents,
        body=item.body,
    )
    return write_invocable(command, target, options, ledger)


def agent_of(item: Invocable, options: Options) -> Agent:
    """A command with `execution: agent` as an agent definition, for agents that the tables do not route."""
    tools = own_tools(item)
    wanted = item.behavior.get("tools")
    if tools is None and wanted is not None and behavior.is_valid("tools", wanted):
        emitted = profile(options.profile).emitted("claude", "tools", wanted or "none")
        if emitted:
            tools = tuple(split_rule_list(emitted["allowed-tools"]))
    return Agent(
        name=item.name,
        origin=item.origin,
        spans=item.spans,
        description=item.description,
        tools=tools,
        model=item.model,
        effort=item.effort or item.behavior.get("effort"),
        color=item.behavior.get("color"),
        agents=item.agents,
        body=item.body,
    )
