"""What a session offers the model: its tools, and the list of its skills."""

from __future__ import annotations

from checkrein.facts.models import find_model
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.toolset import Toolbox
from checkrein.runtime.context import toolsearch
from checkrein.runtime.context.segments import Segment
from checkrein.runtime.context.toolsearch import ToolSearch
from checkrein.runtime.memory.writes import with_memory
from checkrein.runtime.session.ground import Ground
from checkrein.runtime.skills import usage
from checkrein.runtime.skills.active import ActiveSkills
from checkrein.runtime.skills.invoker import Invoker
from checkrein.runtime.skills.listing import Listing, make_listing
from checkrein.runtime.skills.skill_tool import SkillTool
from checkrein.runtime.tools.catalog import builtin_tools


def own_tools(ground: Ground, gate: Gate) -> Toolbox:
    """The built-in tools that the caller wants, the view shows and no rule takes away. Those that the caller
    names are all in the request."""
    tools, options, view = builtin_tools(), ground.options, ground.view
    box = Toolbox(tools, {alias: tool.name for tool in tools for alias in tool.aliases})
    if options.tools is not None and options.tools != ("default",):
        box = box.only(options.tools).all_upfront()
    cwd = ground.place.cwd
    box = box.without(
        name for name in box.names() if not view.sees_tool(name) or not gate.decide(name, {}, cwd).offered
    )
    return box if toolsearch.defers(ground.env, box, _window(ground)) else box.all_upfront()


def all_tools(ground: Ground, gate: Gate, own: Toolbox, invoker: Invoker, skills: ActiveSkills) -> Toolbox:
    """The built-in tools and those that only a session has: Skill, StructuredOutput, ToolSearch."""
    box, options = own, ground.options
    if _offers_skills(ground) and gate.decide("Skill", {}, ground.place.cwd).offered:
        box = box.with_tools(SkillTool(invoker, skills))
    if options.schema is not None:
        from checkrein.runtime.tools.structured import StructuredOutput

        box = box.with_tools(StructuredOutput(options.schema, ground.state.keep_output))
    if ground.memory is not None:
        box = with_memory(box, ground.memory)
    if box.deferred and not options.bare:
        box = box.with_tools(ToolSearch(lambda: box))
    return box


def _offers_skills(ground: Ground) -> bool:
    """Whether skills can be loaded: also when none is listed yet, for a file that is read may bring one."""
    options = ground.options
    named = options.tools is None or options.tools == ("default",) or "Skill" in options.tools
    return named and not options.bare and ground.view.skill_names != frozenset()


def skill_listing(ground: Ground) -> Listing:
    if ground.options.bare:
        return Listing("", ())
    env = ground.env
    return make_listing(ground.view, window=_window(ground), env=env, used=lambda: usage.counts(env))


def offered_segments(box: Toolbox, listing: Listing) -> list[Segment]:
    """What the model is told of it before the conversation: the skills, and the tools that wait."""
    found = [Segment("session", "skills", listing.text, pinned=True)] if listing.text else []
    waiting = toolsearch.listing(box)
    return [*found, waiting] if waiting is not None else found


def _window(ground: Ground) -> int | None:
    facts = find_model(ground.model[1])
    return facts.window if facts else None
