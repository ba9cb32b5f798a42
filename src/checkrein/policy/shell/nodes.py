"""How to walk each kind of node of the grammar.

A kind that is not in `NODES` is a problem: the text then needs approval, or is denied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from checkrein.base.later import later
from checkrein.policy.abstract import ANY, ONE, STAR
from checkrein.policy.shell.doubts import (
    IN_BACKGROUND,
    IN_CASE,
    IN_FUNCTION,
    IN_GROUP,
    IN_LOOP,
    IN_PLACE,
    IN_SELECT,
    IN_SUBSHELL,
    IN_UNTIL,
    Doubts,
)
from checkrein.policy.shell.evaluated import defaulted, is_number
from checkrein.policy.shell.grammar import text_of
from checkrein.policy.shell.state import Choices, Flow, State, join
from checkrein.policy.shell.walks import Walks
from checkrein.policy.shell.words import Reader

if TYPE_CHECKING:
    from tree_sitter import Node

Handler = Callable[[Walks, "Node", State, Doubts], Flow]

_MAX_ROUNDS = 4
_MOVE = later(r"cd +[\w.][\w./-]*")
_LISTED = later(rf"\d+|(?!.*\.\.)(?:\./|\.?\w[\w./-]*)[{STAR}{ONE}][\w./{STAR}{ONE}-]*")
"""A number, or a glob with a known start."""


def statements(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """The statements in a node, one after another."""
    return sequence(walker, node.children, state, doubts)


def sequence(walker: Walks, children: Sequence[Node], state: State, doubts: Doubts) -> Flow:
    """Each statement runs whether the one before failed or not."""
    flow: Flow = (state, state)
    for at, child in enumerate(children):
        if child.is_missing:
            walker.problem("not all of it can be parsed")
        if not child.is_named or child.type in _SKIPPED:
            continue
        before = join(*flow)
        following = children[at + 1].type if at + 1 < len(children) else ""
        if following == "&":
            walker.walk(child, before, (*doubts, IN_BACKGROUND))
            flow = (before, before)
        else:
            flow = walker.walk(child, before, doubts)
    return flow


_SKIPPED = frozenset({"comment", "heredoc_body", "heredoc_end", "file_redirect", "herestring_redirect"})


def _list(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """`a && b`, `a || b`."""
    parts = [child for child in node.children if child.type not in ("comment", "\n")]
    if len(parts) != 3 or parts[1].type not in ("&&", "||"):
        walker.problem("not all of it can be parsed")
        return walker.inside(node, state, doubts)
    left, operator, right = parts
    ok, fail = walker.walk(left, state, doubts)
    if operator.type == "&&":
        after = walker.walk(right, ok, doubts)
        return after[0], join(fail, after[1])
    after = walker.walk(right, fail, doubts)
    return join(ok, after[0]), after[1]


def _pipeline(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """Each part runs in its own shell; all but the first have unknown input."""
    first = True
    fed = state.fed
    after: Flow = (state, state)
    for child in node.named_children:
        if child.type == "comment":
            continue
        first = first and node.children[0].type != "|"
        piped = state if first else structs.replace(state, stdin=ANY, fed=fed)
        before = len(walker.commands)
        after = walker.walk(child, piped, doubts)
        fed = walker.said(before)
        first = False
    if state.lastpipe:
        end = structs.replace(join(*after), stdin=state.stdin, fed=state.fed)
        return join(state, end), join(state, end)
    return state, state


def _negated(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    flow = (state, state)
    for child in node.named_children:
        flow = walker.walk(child, state, doubts)
    return flow[1], flow[0]


def _subshell(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    statements(walker, node, state, (*doubts, IN_PLACE if _only_moves(node) else IN_SUBSHELL))
    return state, state


def _only_moves(node: Node) -> bool:
    """`(cd src && ...)`: the directory is written out, and what follows runs only there."""
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) != 1 or parts[0].type != "list":
        return False
    first = parts[0]
    while first.type == "list" and first.named_children:
        if any(child.type == "||" for child in first.children):
            return False
        first = first.named_children[0]
    return first.type == "command" and _MOVE.fullmatch(text_of(first)) is not None


def _compound(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    if node.children and node.children[0].type == "((":
        walker.arithmetic(node, state, doubts)
        after = defaulted(text_of(node), _assigned_in(node, state))
        return after, after
    marks = walker.marks.get(node.id, ())
    if "timed" in marks:
        from checkrein.policy.shell.simple import emit

        emit(walker, node, ("time",), state, (*doubts, IN_GROUP))
    flow = statements(walker, node, state, (*doubts, IN_GROUP))
    return (flow[1], flow[0]) if "negated" in marks else flow


def _assigned_in(node: Node, state: State) -> State:
    """Arithmetic may change any variable it names."""
    pending = [node]
    while pending:
        current = pending.pop()
        if current.type in ("variable_name", "word"):
            state = state.assign_number(text_of(current))
        pending.extend(current.named_children)
    return state


def _if(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """`if c; then a; elif d; then b; else e; fi`: each clause starts where the conditions before failed."""
    clauses = [child for child in node.children if child.type in ("elif_clause", "else_clause")]
    head = [child for child in node.children if child.type not in ("elif_clause", "else_clause")]
    end, failed = _clause(walker, head, state, doubts)
    for clause in clauses:
        after, failed = _clause(walker, clause.children, failed, doubts)
        end = join(end, after)
    end = join(end, failed)
    return end, end


def _clause(walker: Walks, children: Sequence[Node], state: State, doubts: Doubts) -> tuple[State, State]:
    """The state after the clause's body, and the one when its condition failed."""
    then = next((at for at, child in enumerate(children) if child.type == "then"), None)
    if then is None:
        end = join(*sequence(walker, children, state, doubts))
        return end, end
    ok, failed = sequence(walker, children[:then], state, doubts)
    return join(*sequence(walker, children[then:], ok, doubts)), failed


def _while(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    until = bool(node.children) and node.children[0].type == "until"
    if until:
        doubts = (*doubts, IN_UNTIL)

    def once(before: State) -> Flow:
        flow: Flow = (before, before)
        for child in node.children:
            if child.type == "do_group":
                inner = flow[1] if until else flow[0]
                after = statements(walker, child, inner, doubts)
                flow = (join(*after), flow[0] if until else flow[1])
            elif child.is_named and child.type not in _SKIPPED:
                flow = walker.walk(child, join(*flow), doubts)
        return flow

    return _repeat(state, once)


def _repeat(state: State, once: Callable[[State], Flow]) -> Flow:
    """Walk a loop's body until nothing new turns up; then treat what still changes as unknown."""
    before = state
    for round_ in range(_MAX_ROUNDS):
        after = join(before, join(*once(before)))
        if after == before:
            break
        before = after.forget() if round_ == _MAX_ROUNDS - 2 else after
    return before, before


def _for(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """`for x in words; do ...; done`, and `select`."""
    if node.children and node.children[0].type == "select":
        doubts = (*doubts, IN_SELECT)
    name = ""
    values: list[str] = []
    listed = False
    numbers = True
    body: Node | None = None
    reader = Reader(walker, state, Choices(), doubts)
    for child in node.children:
        if child.type == "variable_name" and not name:
            name = text_of(child)
        elif child.type == "in":
            listed = True
        elif child.type in ("do_group", "compound_statement"):
            body = child
        elif child.is_named and child.type not in _SKIPPED:
            numbers = numbers and is_number(child, state)
            values.extend(word.text for word in reader.fields(child))
    state = reader.state
    if not listed:
        values = list(state.params) if state.params is not None else [ANY]
    if body is None:
        walker.problem("not all of it can be parsed")
        return state, state
    group = body

    def once(before: State) -> Flow:
        if numbers and ANY in "".join(values):
            inner = before.assign_number(name)
        elif values and all(_LISTED.fullmatch(value) for value in values):
            inner = before.assign_loop(name, tuple(dict.fromkeys(values)))
        else:
            inner = before.assign(name, tuple(dict.fromkeys(values)) or (ANY,))
        return statements(walker, group, inner, doubts)

    return _repeat(state, once)


def _c_style_for(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    doubts = (*doubts, IN_LOOP)
    state = _assigned_in_head(walker, node, state, doubts)

    def once(before: State) -> Flow:
        flow: Flow = (before, before)
        for child in node.named_children:
            if child.type in ("do_group", "compound_statement"):
                flow = statements(walker, child, join(*flow), doubts)
        return flow

    return _repeat(state, once)


def _assigned_in_head(walker: Walks, node: Node, state: State, doubts: Doubts) -> State:
    for child in node.named_children:
        if child.type not in ("do_group", "compound_statement"):
            value = child.children[-1] if child.type == "variable_assignment" else child
            walker.arithmetic(value, state, doubts)
            state = _assigned_in(child, state)
    return state


def _case(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    doubts = (*doubts, IN_CASE)
    reader = Reader(walker, state, Choices(), doubts)
    ends = state
    before = state
    for child in node.named_children:
        if child.type == "case_item":
            after = _case_item(walker, child, before, doubts)
            ends = join(ends, after)
            # `;&` falls through into the next item.
            before = join(state, after)
        elif child.type not in _SKIPPED:
            reader.fields(child)
            state = before = ends = reader.state
    return ends, ends


def _case_item(walker: Walks, node: Node, state: State, doubts: Doubts) -> State:
    close = next((at for at, child in enumerate(node.children) if child.type == ")"), 0)
    for child in node.children[:close]:
        walker.substitutions(child, state, doubts)
    return join(*sequence(walker, node.children[close + 1 :], state, doubts))


def _function(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """A definition runs nothing. Its body is walked at each call, or at the end if nothing calls it."""
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is None or body is None:
        walker.problem("not all of it can be parsed")
        return walker.inside(node, state, doubts)
    for child in node.named_children:
        if child.type.endswith("_redirect"):
            walker.problem("it defines a function with redirections")
            walker.substitutions(child, state, doubts)
    after = state.define(text_of(name), body)
    walker.defined[text_of(name)] = (body, after, (*doubts, IN_FUNCTION))
    return after, after


def _test(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """`[ ... ]`, `[[ ... ]]`: prints and changes nothing, but expands its words."""
    from checkrein.policy.shell.simple import test_command

    return test_command(walker, node, state, doubts)


def _error(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    walker.problem("not all of it can be parsed")
    return walker.inside(node, state, doubts)


def _nothing(_: Walks, _node: Node, state: State, _doubts: Doubts) -> Flow:
    return state, state


def _simple(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    from checkrein.policy.shell.simple import command

    return command(walker, node, state, doubts)


def _redirected(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    from checkrein.policy.shell.simple import redirected

    return redirected(walker, node, state, doubts)


def _assignment(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    from checkrein.policy.shell.assign import assignments

    return assignments(walker, node, state, doubts)


def _declaration(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    from checkrein.policy.shell.assign import declaration

    return declaration(walker, node, state, doubts)


NODES: dict[str, Handler] = {
    "program": statements,
    "command": _simple,
    "redirected_statement": _redirected,
    "list": _list,
    "pipeline": _pipeline,
    "negated_command": _negated,
    "subshell": _subshell,
    "compound_statement": _compound,
    "if_statement": _if,
    "while_statement": _while,
    "for_statement": _for,
    "c_style_for_statement": _c_style_for,
    "case_statement": _case,
    "function_definition": _function,
    "variable_assignment": _assignment,
    "variable_assignments": _assignment,
    "declaration_command": _declaration,
    "unset_command": _declaration,
    "test_command": _test,
    "do_group": statements,
    "comment": _nothing,
    "ERROR": _error,
}
