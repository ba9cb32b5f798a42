"""Simple commands: their words, assignments and redirections, and what running them does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from checkrein.base.later import later
from checkrein.facts.shell_readonly import COMPARERS
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.assign import commands_in_variable, read_assignment
from checkrein.policy.shell.doubts import Doubts
from checkrein.policy.shell.evaluated import defaulted, evaluates_code
from checkrein.policy.shell.grammar import decode, text_of, translates
from checkrein.policy.shell.heredoc import on_first_line
from checkrein.policy.shell.program import Command, Word
from checkrein.policy.shell.redirect import Redirections, read_redirect
from checkrein.policy.shell.state import Choices, Flow, State, join
from checkrein.policy.shell.walks import Walks
from checkrein.policy.shell.words import WORDS, Reader

if TYPE_CHECKING:
    from tree_sitter import Node

_NUMERIC = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_EVALUATES = later(r"\s-(?:eq|ne|lt|le|gt|ge|v)\s")
_IS_INFLUENCED = "it set a variable that changes what commands do"
_WORDS_PER_STEP = 2
_REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")


def command(
    walker: Walks,
    node: Node,
    state: State,
    doubts: Doubts,
    *,
    source: Node | None = None,
    redirects: Sequence[Node] = (),
    more: Sequence[Node] = (),
) -> Flow:
    """Walk one simple command once for every combination of values its words may have."""
    choices = Choices()
    flow: Flow | None = None
    while True:
        after = _once(walker, node, state, doubts, choices, source or node, redirects, more)
        flow = after if flow is None else (join(flow[0], after[0]), join(flow[1], after[1]))
        if not choices.advance():
            return flow


def _once(
    walker: Walks,
    node: Node,
    state: State,
    doubts: Doubts,
    choices: Choices,
    source: Node,
    redirects: Sequence[Node],
    more: Sequence[Node],
) -> Flow:
    reader = Reader(walker, state, choices, doubts)
    out = Redirections()
    words: list[Word] = []
    assigns: list[tuple[str, str]] = []
    walker.step(node.child_count // _WORDS_PER_STEP)
    _check_gaps(walker, node)
    for child in node.children:
        if child.type == "variable_assignment":
            name, value, _ = read_assignment(reader, child)
            assigns.append((name, value))
            commands_in_variable(walker, name, value, state, doubts)
        elif child.type in _REDIRECTS:
            read_redirect(child, reader, out)
        elif child.type == "subshell":
            walker.walk(child, state, doubts)
            if not words or words[-1].text not in ("time", "coproc", "-p"):
                walker.problem("not all of it can be parsed")
        elif child.is_missing:
            walker.problem("not all of it can be parsed")
        elif child.type == "number" and _is_descriptor(child, source):
            continue
        elif child.is_named:
            reader.compares = bool(words) and _compares(words[0].text, state)
            words.extend(reader.fields(child))
        elif not translates(child):
            words.append(reader.token(child))
    for redirect in redirects:
        read_redirect(redirect, reader, out)
    for extra in (*out.words, *more):
        words.extend(reader.fields(extra))
    stdin = state.stdin if out.stdin is None else out.stdin
    inner = structs.replace(reader.state, stdin=stdin, fed=reader.fed or state.fed)
    made, flow = run(walker, tuple(words), source, inner, doubts, tuple(assigns), out)
    if made is not None:
        walker.commands.append(made)
    if len(words) == 1 and words[0].text == "exec":
        return flow  # Redirections of a bare `exec` stay.
    return _with_input(flow, state)


def _compares(name: str, state: State) -> bool:
    return name in COMPARERS and name not in state.functions and name not in state.aliases


def _is_descriptor(node: Node, source: Node) -> bool:
    """Whether a number belongs to a redirection, although the grammar reads it as a word: `bash 0<f`."""
    following = (source.text or b"")[node.end_byte - source.start_byte :][:1]
    return following in (b"<", b">") and (node.text or b"").isdigit()


def _check_gaps(walker: Walks, node: Node) -> None:
    """Report text between the parts of a command that the grammar has skipped; only blanks may be there."""
    text, base = node.text or b"", node.start_byte
    done = base
    for child in node.children:
        if text[done - base : child.start_byte - base].strip(b" \t"):
            walker.problem("not all of it can be parsed")
        done = child.end_byte


def _with_input(flow: Flow, state: State) -> Flow:
    """A redirection of one command's input ends with the command."""
    ok, fail = flow
    return (
        structs.replace(ok, stdin=state.stdin, fed=state.fed),
        structs.replace(fail, stdin=state.stdin, fed=state.fed),
    )


def run(
    walker: Walks,
    words: tuple[Word, ...],
    source: Node | None,
    state: State,
    doubts: Doubts,
    assigns: tuple[tuple[str, str], ...] = (),
    out: Redirections | None = None,
    *,
    direct: bool = False,
) -> tuple[Command | None, Flow]:
    """The Command of these words, with everything it runs, and the state after it.

    `direct`: functions and aliases do not count.
    """
    from checkrein.policy.shell.execute import execute

    walker.step(1 + len(words) // _WORDS_PER_STEP)
    out = out or Redirections()
    if not words:
        for name, value in assigns:
            state = state.assign(name, (value,))
        if not (out.reads or out.writes):
            return None, (state, state)
        bare = Command(
            words=(),
            raw=_source_text(source, words),
            reads=tuple(out.reads),
            writes=tuple(out.writes),
            doubts=(*doubts, *out.doubts),
            cwds=state.cwds,
            moved=state.moved,
        )
        return bare, (state, state)
    found = execute(walker, words, source, _during(state, assigns), doubts, direct=direct)
    own = [*doubts, *out.doubts, *(word.doubt for word in words if word.doubt)]
    if state.influenced:
        own.append(_IS_INFLUENCED)
    made = Command(
        words=tuple(word.text for word in words),
        raw=_source_text(source, words),
        assigns=assigns,
        reads=tuple(out.reads),
        writes=tuple(out.writes),
        cwds=state.cwds,
        moved=state.moved,
        doubts=tuple(dict.fromkeys(own)),
        inner=found.inner,
        transparent=found.transparent,
        read_only_through=found.read_only,
        prefixable=found.prefixable,
        unknown=found.unknown,
        opaque_code=found.opaque,
        unknown_words=found.unknown_words,
        own=found.own,
        input=(state.stdin if is_static(state.stdin) and state.stdin else state.fed)
        if found.own == len(words)
        else "",
    )
    return made, _after(found.flow, state, assigns)


def _during(state: State, assigns: tuple[tuple[str, str], ...]) -> State:
    """`X=rm eval '$X f'`: the variables that the command sees."""
    for name, value in assigns:
        state = state.assign(name, (value,))
    return state


def _after(flow: Flow | None, before: State, assigns: tuple[tuple[str, str], ...]) -> Flow:
    """The state after the command: variables set only for it may have either value."""
    if flow is None:
        return before, before
    if not assigns:
        return flow
    ok, fail = flow
    for name, _ in assigns:
        ok = ok.assign(name, tuple(dict.fromkeys((*ok.values(name), *before.values(name)))))
        fail = fail.assign(name, tuple(dict.fromkeys((*fail.values(name), *before.values(name)))))
    return ok, fail


def _source_text(source: Node | None, words: Sequence[Word]) -> str:
    """The words as written in the source, with the blanks between them."""
    if source is None or not all(word.end for word in words):
        return " ".join(word.text for word in words)
    text, base = source.text or b"", source.start_byte
    parts: list[str] = []
    done = -1
    for word in words:
        if word.start < done:
            continue
        if done >= 0:
            gap = decode(text[done - base : word.start - base])
            parts.append(gap if not gap.strip(" \t") else " ")
        parts.append(decode(text[word.start - base : word.end - base]))
        done = word.end
    return "".join(parts)


def emit(walker: Walks, node: Node, words: tuple[str, ...], state: State, doubts: Doubts) -> None:
    """Add a command for which the grammar has its own kind of node."""
    walker.commands.append(
        Command(words=words, raw=text_of(node), cwds=state.cwds, moved=state.moved, doubts=doubts)
    )


def redirected(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """A statement with redirections after it.

    The grammar attaches them to a whole list or pipeline. Bash attaches them to the last command, and so do
    we.
    """
    bodies = [child for child in node.named_children if child.type not in (*_REDIRECTS, "comment", "ERROR")]
    if len(bodies) < len(
        [child for child in node.named_children if child.type not in (*_REDIRECTS, "comment")]
    ):
        walker.problem("not all of it can be parsed")
    if len(bodies) > 1:
        walker.problem("not all of it can be parsed")
        return walker.inside(node, state, doubts)
    if bodies and bodies[0].type in ("list", "pipeline", "negated_command"):
        walker.attached[_last(bodies[0]).id] = node
        return walker.walk(bodies[0], state, doubts)
    return attach(walker, bodies[0] if bodies else None, node, state, doubts)


def _last(node: Node) -> Node:
    while node.type in ("list", "pipeline", "negated_command") and node.named_children:
        node = node.named_children[-1]
    return node


def attach(walker: Walks, body: Node | None, node: Node, state: State, doubts: Doubts) -> Flow:
    """Walk `body` with the redirections of `node`, and then what follows a heredoc on its line."""
    redirects = [child for child in node.named_children if child.type in _REDIRECTS]
    heredocs = [redirect for redirect in redirects if redirect.type == "heredoc_redirect"]
    parts = [part for one in heredocs for part in one.named_children if on_first_line(part, one)]
    inline = [part for part in parts if part.type == "file_redirect"]
    more = [part for part in parts if part.type in WORDS]
    before = len(walker.commands)
    if body is not None and body.type == "command":
        flow = command(walker, body, state, doubts, source=node, redirects=(*redirects, *inline), more=more)
    else:
        inner = _redirect_group(walker, (*redirects, *inline), state, doubts)
        flow = walker.walk(body, inner, doubts) if body is not None else (inner, inner)
        flow = _with_input(flow, state)
    said = walker.said(before)
    for operator, part in [following for one in heredocs for following in _after_heredoc(walker, one)]:
        start = flow[0] if operator == "&&" else flow[1] if operator == "||" else join(*flow)
        start = structs.replace(start, stdin=ANY, fed=said) if operator == "|" else start
        after = walker.walk(part, start, doubts)
        flow = (join(flow[0], after[0]), join(flow[1], after[1]))
    return flow


def _after_heredoc(walker: Walks, node: Node) -> list[tuple[str, Node]]:
    """The text after a `<<EOF` on the same line: `| sh`, `&& rm x`."""
    if node.type != "heredoc_redirect":
        return []
    found: list[tuple[str, Node]] = []
    operator = "|"
    for child in node.children:
        if child.type in ("&&", "||", ";", "&"):
            operator = child.type
        elif child.type == "ERROR":
            walker.problem("not all of it can be parsed")
        elif (
            child.is_named
            and on_first_line(child, node)
            and child.type not in WORDS
            and not child.type.startswith(("heredoc", "file_"))
        ):
            found.append((operator, child))
    return found


def _redirect_group(walker: Walks, redirects: Sequence[Node], state: State, doubts: Doubts) -> State:
    """The redirections of a group, a loop or a pipeline, as a separate command that only opens files."""
    reader = Reader(walker, state, Choices(), doubts)
    out = Redirections()
    for redirect in redirects:
        read_redirect(redirect, reader, out)
    if out.words:
        walker.problem("not all of it can be parsed")
    made, _ = run(walker, (), None, state, doubts, (), out)
    if made is not None:
        walker.commands.append(structs.replace(made, raw=text_of(redirects[0])))
    return structs.replace(state, stdin=state.stdin if out.stdin is None else out.stdin)


def redirect_only(walker: Walks, node: Node, state: State, doubts: Doubts) -> None:
    """`$(< file)`."""
    _redirect_group(walker, (node,), state, doubts)


def test_command(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """`[ ... ]` and `[[ ... ]]`: bash expands their words, and evaluates those of some operators again."""
    walker.substitutions(node, state, doubts)
    if _EVALUATES.search(text_of(node)) and _tests_code(node, state):
        walker.problem("it tests a text that may hold code")
    reader = Reader(_Silent(), state, Choices(), doubts)  # type: ignore[arg-type]  # substitutions were walked
    operands: list[str] = []
    pending = list(node.named_children)[::-1]
    while pending:
        child = pending.pop()
        if child.type in WORDS:
            operands.extend(word.text for word in reader.fields(child))
        else:
            pending.extend(child.named_children[::-1])
    emit(walker, node, ("test", *operands), state, doubts)
    after = defaulted(text_of(node), reader.state)
    return after, after


def _tests_code(node: Node, state: State) -> bool:
    """Whether an operand of `-eq` and the like in `[[`, or of `-v`, may hold code."""
    double = node.children[0].type == "[["
    pending = [node]
    found = False
    while pending:
        one = pending.pop()
        operators = [text_of(child) for child in one.children if child.type == "test_operator"]
        if any(operator == "-v" or (double and operator in _NUMERIC) for operator in operators):
            found = True
            if any(evaluates_code(text_of(child), state) for child in one.named_children):
                return True
        pending.extend(one.named_children)
    return not found and evaluates_code(text_of(node), state)


class _Silent:
    """A walker that ignores everything: for words that were walked before."""

    def problem(self, _: str) -> None:
        return None

    commands: tuple[Command, ...] = ()

    def substitution(self, *_: object) -> None:
        return None

    def said(self, _: int) -> str:
        return ""

    substitutions = arithmetic = overlooked = substitution
