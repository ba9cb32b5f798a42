"""Judge one call under one layer. Every piece of the call gets a verdict; the strictest one holds.

The order is the product's: deny rules in every mode, ask rules and tools that need the user, then the mode,
protected and critical paths, allow rules and hook approvals, built-in defaults.
"""

from __future__ import annotations

from collections.abc import Sequence

from checkrein.facts.tools import PATH_FAMILIES
from checkrein.policy.abstract import ANY, ONE, STAR
from checkrein.policy.approve import Approval
from checkrein.policy.effects import Effect, Exec, Net, Read, Unclear, Use, Write
from checkrein.policy.paths import is_protected, join, spellings
from checkrein.policy.servers import server_rule, tool_rule
from checkrein.policy.tools import Meaning
from checkrein.policy.values import Call, HookVerdict, Piece, Verdict
from checkrein.policy.view import View, piece

_OWN = "it is the agent's own memory"


def judge(view: View, call: Call, tool: Meaning, hooks: Sequence[HookVerdict]) -> list[Piece]:
    pieces = [*_names(view, call, tool), *_hooks(call, hooks)]
    approval = _approval(view, tool, hooks)
    effects = tool.effects(call.input)
    for effect in effects:
        pieces.extend(_effect(view, call, tool, effect, approval))
    if not any(one.verdict == "allow" for one in pieces) and not pieces:
        pieces.append(piece(call.tool, "ask", "nothing says what this call does"))
    return pieces


def _names(view: View, call: Call, tool: Meaning) -> list[Piece]:
    """What deny and ask rules say about the tool by name, and about fields of its input."""
    name = tool.name
    for rule in (
        tool_rule(view.deny, tool),
        view.field_rule(view.deny, tool, call),
        server_rule(view.deny, call, name),
    ):
        if rule is not None:
            return [piece(call.tool, "deny", f"denied by {rule.text}", rule)]
    if tool.interactive:
        return [piece(call.tool, "ask", "the tool needs the user")]
    for rule in (
        tool_rule(view.ask, tool),
        view.field_rule(view.ask, tool, call),
        server_rule(view.ask, call, name),
    ):
        if rule is not None:
            return [piece(call.tool, "ask", f"needs approval because of {rule.text}", rule)]
    listed = (
        view.deny.any_server() if name == "ListMcpResourcesTool" and not call.input.get("server") else None
    )
    if listed is not None:
        return [piece(call.tool, "ask", f"it lists every server, and {listed.text} denies one", listed)]
    return []


def _hooks(call: Call, hooks: Sequence[HookVerdict]) -> list[Piece]:
    found = []
    for hook in hooks:
        if hook.answer in ("deny", "ask", "defer"):
            verdict: Verdict = "deny" if hook.answer == "deny" else "ask"
            reason = hook.reason or f"a hook said {hook.answer}"
            found.append(Piece(call.tool, verdict, reason, origin=hook.origin, effect="hook"))
    return found


def _approval(view: View, tool: Meaning, hooks: Sequence[HookVerdict]) -> Approval | None:
    if view.bypass:
        return Approval("the mode is bypassPermissions")
    for name in dict.fromkeys((tool.name, tool.family)):
        rule = tool_rule(view.allow, tool) if name == tool.name else view.allow.named(name) if name else None
        if rule is not None and not (
            view.mode == "auto" and name in ("Bash", "Agent", "Monitor", "PowerShell")
        ):
            return Approval(f"allowed by {rule.text}", rule)
    for hook in hooks:
        if hook.answer == "allow":
            return Approval(hook.reason or "approved by a hook")
    return None


def _effect(view: View, call: Call, tool: Meaning, effect: Effect, approval: Approval | None) -> list[Piece]:
    own = tool.family or None
    if isinstance(effect, Use):
        return [_use(view, call, tool, approval)]
    if isinstance(effect, Read):
        return [_read(view, tool, effect, approval, bound=own not in PATH_FAMILIES)]
    if isinstance(effect, Write):
        return [_write(view, tool, effect, approval, bound=own not in PATH_FAMILIES)]
    if isinstance(effect, Net):
        return [_net(view, effect, approval, bound=own != "WebFetch")]
    if isinstance(effect, Unclear):
        return [piece(call.tool, "ask", effect.reason)]
    return _exec(view, call, effect, approval, bound=own not in ("Bash", "PowerShell"))


def _use(view: View, call: Call, tool: Meaning, approval: Approval | None) -> Piece:
    if approval is not None and not tool.interactive:
        return piece(call.tool, "allow", approval.reason, approval.rule)
    delegates = view.mode == "auto" and tool.name == "Agent"
    rule = None if delegates else view.field_rule(view.allow, tool, call)
    if rule is not None:
        return piece(call.tool, "allow", f"allowed by {rule.text}", rule)
    if delegates:
        return piece(call.tool, "ask", "in the mode auto, what is delegated is judged")
    if tool.free:
        return piece(call.tool, "allow", "the tool needs no approval")
    return piece(call.tool, "ask", "no rule allows it")


def _read(view: View, tool: Meaning, effect: Read, approval: Approval | None, *, bound: bool) -> Piece:
    wanted = _pattern(effect.path) if effect.glob else effect.path
    path = join(wanted, view.context.cwd, view.context.home)
    if effect.glob and ANY in path:
        # Below a `**` the search runs and its results are filtered.
        path = path.split(ANY, 1)[0].rpartition("/")[0] or "/"
    families = ("Read", tool.name) if tool.family == "Read" and tool.name != "Read" else ("Read",)
    text = effect.path
    rule = view.hit(view.deny, families, path)
    if rule is not None:
        return piece(text, "deny", f"reading is denied by {rule.text}", rule, effect="read")
    rule = view.hit(view.ask, families, path)
    if rule is not None:
        return piece(text, "ask", f"reading needs approval because of {rule.text}", rule, effect="read")
    if bound and effect.tree:
        rule = next((one.rule for one, _ in view.below(view.deny, families, path)), None)
        if rule is not None:
            return piece(text, "ask", f"{rule.text} denies reading a part of it", rule, effect="read")
    if approval is not None:
        return piece(text, "allow", approval.reason, approval.rule, effect="read")
    if bound:
        return piece(text, "ask", "no rule allows the tool", effect="read")
    if view.in_dirs(path):
        return piece(text, "allow", "it is in a working directory", effect="read")
    if view.in_memory(path):
        return piece(text, "allow", _OWN, effect="read")
    rule = view.covered(view.allow, ("Read", "Edit"), path)
    if rule is not None:
        return piece(text, "allow", f"allowed by {rule.text}", rule, effect="read")
    return piece(text, "ask", "it is outside the working directories", effect="read")


def _write(view: View, tool: Meaning, effect: Write, approval: Approval | None, *, bound: bool) -> Piece:
    path = join(effect.path, view.context.cwd, view.context.home)
    text = effect.path
    own = (tool.name,) if tool.family == "Edit" and tool.name != "Edit" else ()
    families = ("Edit", *own) if effect.notebook else ("Edit", "Read", *own)
    rule = view.hit(view.deny, families, path)
    if rule is not None:
        return piece(text, "deny", f"writing is denied by {rule.text}", rule, effect="write")
    rule = view.hit(view.ask, ("Edit", *own), path)
    if rule is not None:
        return piece(text, "ask", f"writing needs approval because of {rule.text}", rule, effect="write")
    if view.bypass:
        return piece(text, "allow", "the mode is bypassPermissions", effect="write")
    kept = not bound and view.in_memory(path)
    if not kept and any(is_protected(name) for name in spellings(path, view.context)):
        return piece(text, "ask", "it is a protected path", effect="write")
    if view.mode == "plan":
        return piece(text, "ask", "plan mode does not write", effect="write")
    if kept:
        return piece(text, "allow", _OWN, effect="write")
    if approval is not None:
        return piece(text, "allow", approval.reason, approval.rule, effect="write")
    if bound:
        return piece(text, "ask", "no rule allows the tool", effect="write")
    rule = view.covered(view.allow, ("Edit",), path)
    if rule is not None:
        return piece(text, "allow", f"allowed by {rule.text}", rule, effect="write")
    if view.mode in ("acceptEdits", "auto") and view.in_dirs(path):
        return piece(text, "allow", f"the mode is {view.mode}", effect="write")
    return piece(text, "ask", "no rule allows writing it", effect="write")


def _net(view: View, effect: Net, approval: Approval | None, *, bound: bool) -> Piece:
    from checkrein.policy.hosts import host_of, is_private

    host = host_of(effect.url)
    known = host != ANY
    text = effect.url
    rule = view.host_rule(view.deny, host) if known else None
    if rule is not None:
        return piece(text, "deny", f"denied by {rule.text}", rule, effect="net")
    rule = view.host_rule(view.ask, host) if known else None
    if rule is not None:
        return piece(text, "ask", f"needs approval because of {rule.text}", rule, effect="net")
    if not known and (view.deny.domains or view.ask.domains or not view.bypass):
        return piece(text, "ask", "its host is unknown", effect="net")
    rule = view.host_rule(view.allow, host)
    if approval is None and rule is None:
        reason = "no rule allows the tool" if bound else "no rule allows the host"
        return piece(text, "ask", reason, effect="net")
    if is_private(host) and not view.bypass and (rule is None or "*" in rule.text):
        return piece(text, "ask", "the host is a private address", effect="net")
    if approval is not None:
        return piece(text, "allow", approval.reason, approval.rule, effect="net")
    if bound:
        return piece(text, "ask", "no rule allows the tool", effect="net")
    assert rule is not None
    return piece(text, "allow", f"allowed by {rule.text}", rule, effect="net")


def _exec(view: View, call: Call, effect: Exec, approval: Approval | None, *, bound: bool) -> list[Piece]:
    if effect.language == "bash":
        from checkrein.policy.judge_shell import judge_shell

        return judge_shell(view, effect, approval, bound=bound)
    if effect.language == "powershell":
        from checkrein.policy.powershell import judge_powershell

        return judge_powershell(view, effect.text, approval)
    return [piece(call.tool, "ask", f"the effect of {effect.language} code is unknown", effect="exec")]


def _pattern(path: str) -> str:
    """A glob of a tool's input as partly known text."""
    out = []
    at = 0
    while at < len(path):
        char = path[at]
        if path.startswith("**", at):
            out.append(ANY)
            at += 2
            continue
        if char == "[" and "]" in path[at + 1 :]:
            out.append(ONE)
            at = path.index("]", at + 1)
        elif char == "{" and "}" in path[at + 1 :]:
            out.append(ANY)
            at = path.index("}", at + 1)
        else:
            out.append(STAR if char == "*" else ONE if char == "?" else char)
        at += 1
    return "".join(out)
