"""From the nodes of a word to its fields, as bash expands them: braces, tilde, variables, splitting, globs.

While a word is built, each character carries a mark: `u` as written, `q` quoted, `e` from an
unquoted expansion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from checkrein.base.later import later
from checkrein.facts.shell_env import SHOWN
from checkrein.facts.shell_words import words
from checkrein.policy.abstract import ANY
from checkrein.policy.shell.braces import Marked, expand, has_braces
from checkrein.policy.shell.doubts import (
    IS_COMPARED,
    USES_ARITHMETIC,
    USES_BRACES,
    USES_EXPANSION,
    USES_LOOP,
    USES_PROCESS,
    USES_SUBSTITUTION,
    USES_VARIABLE,
    worst,
)
from checkrein.policy.shell.escapes import ansi_c, double_quoted, unquoted
from checkrein.policy.shell.evaluated import computed_code, defaulted, is_name
from checkrein.policy.shell.grammar import decode, is_list, text_of, translates
from checkrein.policy.shell.program import Word
from checkrein.policy.shell.split_fields import BREAK, split_fields, with_home
from checkrein.policy.shell.state import UNKNOWN, Choices, State
from checkrein.policy.shell.walks import WalksWords
from checkrein.policy.shell.wildcards import EMPTY, globbed

if TYPE_CHECKING:
    from tree_sitter import Node

WORDS = words(
    "word number string raw_string ansi_c_string concatenation simple_expansion expansion"
    " command_substitution process_substitution arithmetic_expansion brace_expression"
)
"""Nodes that are a word, or a part of one."""

_PLAIN = later(r"[A-Za-z0-9_./:=@%+,^-]+")
_BLANKS = later(r"[ \t\n]+")
_NUMBERS = frozenset("?$!#-")


class Reader:
    """Reads the words of one command in one state, and walks the substitutions in them in order."""

    def __init__(self, walker: WalksWords, state: State, choices: Choices, doubts: tuple[str, ...]) -> None:
        self.walker = walker
        self.state = state
        self.choices = choices
        self.doubts = doubts
        self.found: list[str] = []
        self.fed = ""
        self.compares = False
        """The words are those of a program that only compares."""

    def fields(self, node: Node) -> list[Word]:
        """The words that one word of the source becomes: none, one, or several."""
        following = node.next_sibling
        if following is not None and following.start_byte == node.end_byte and following.type in WORDS:
            self.walker.problem("not all of it can be parsed")  # the grammar split a word in two
        if node.type == "word":
            text = text_of(node)
            if _PLAIN.fullmatch(text):
                return [Word(text, node.start_byte, node.end_byte)]
        self.found = []
        fields: list[Word] = []
        marked = self._mark(node, quoted=False)
        for one in self._braced(marked):
            for field in split_fields(with_home(one, self.state, self.choices), self.state):
                fields.append(
                    Word(
                        globbed(field, known=self.state.globs),
                        node.start_byte,
                        node.end_byte,
                        worst(self.found),
                    )
                )
        return fields

    def token(self, node: Node) -> Word:
        """A word that is a grammar token elsewhere: `==`, `$`."""
        text = text_of(node)
        following = node.next_sibling
        if text != node.type or (following is not None and following.start_byte == node.end_byte):
            self.walker.problem("not all of it can be parsed")
        return Word(text, node.start_byte, node.end_byte)

    def value(self, node: Node) -> str:
        """The text of an assignment's value, a here-string or a redirection's target."""
        text, _ = with_home(self._mark(node, quoted=False), self.state, self.choices)
        return text.replace(BREAK, " ").replace(EMPTY, "")

    # Nodes

    def _mark(self, node: Node, *, quoted: bool) -> Marked:
        kind = node.type
        handler = PARTS.get(kind)
        if handler is None:
            self.walker.problem(f"`{text_of(node)[:40]}` is not understood ({kind})")
            return ANY, "e"
        return handler(self, node, quoted)

    def _join(self, node: Node, quoted: bool) -> Marked:
        """The children one after another, with the literal text between them."""
        texts: list[str] = []
        marks: list[str] = []
        source = node.text or b""
        done = 0
        for child in node.children:
            start = child.start_byte - node.start_byte
            if start > done:
                gap = decode(source[done:start])
                texts.append(gap)
                marks.append("u" * len(gap))
            if child.is_named:
                text, mark = self._mark(child, quoted=quoted)
            else:
                if child.text != b"$":
                    self.walker.problem("not all of it can be parsed")
                text, mark = _literal("" if translates(child) else text_of(child))
            texts.append(text)
            marks.append(mark)
            done = child.end_byte - node.start_byte
        return "".join(texts), "".join(marks)

    def _string(self, node: Node, _: bool) -> Marked:
        """Inside double quotes: literal text between the expansions, all of it quoted."""
        source = node.text or b""
        first = source.find(b'"')
        done = first + 1
        texts: list[str] = []
        for child in node.children:
            if not child.is_named or child.type in ("string_content", "heredoc_content"):
                continue
            start = child.start_byte - node.start_byte
            texts.append(double_quoted(self.literal(decode(source[done:start]))))
            texts.append(self._mark(child, quoted=True)[0])
            done = child.end_byte - node.start_byte
        end = len(source) - 1 if source.endswith(b'"') else len(source)
        texts.append(double_quoted(self.literal(decode(source[done:end]))))
        text = "".join(texts)
        if not text and not is_list(node):
            text = EMPTY
        return text, "q" * len(text)

    def _literal_word(self, node: Node, quoted: bool) -> Marked:
        if node.child_count:
            return self._join(node, quoted)
        text = text_of(node)
        if "\n" in text:
            self.walker.problem("not all of it can be parsed")
        return unquoted(self.literal(text))

    def literal(self, source: str) -> str:
        """Text between expansions. It walks substitutions that the grammar missed."""
        if self.choices.first:
            self.walker.overlooked(source, self.state, self.doubts)
        return source

    def _raw(self, node: Node, quoted: bool) -> Marked:
        """Single quotes; inside of double quotes, as in `"${x:-'...'}"`, they are letters."""
        if quoted:
            text = self.literal(text_of(node))
            if any(char in text for char in "$`\\}"):
                self.walker.problem("single quotes inside of double quotes do not quote")
                text = ANY
            return text, "q" * len(text)
        text = text_of(node)[1:-1] or EMPTY
        return text, "q" * len(text)

    def _ansi(self, node: Node, quoted: bool) -> Marked:
        if quoted:
            return self._raw(node, quoted)
        text = ansi_c(text_of(node)[2:-1]) or EMPTY
        return text, "q" * len(text)

    def _simple(self, node: Node, quoted: bool) -> Marked:
        name = text_of(node)[1:]
        if name[:1].isdigit() and len(name) > 1:
            text, mark = self._variable(name[0], quoted)
            return text + name[1:], mark + "u" * (len(name) - 1)
        return self._variable(name, quoted)

    def _variable(self, name: str, quoted: bool) -> Marked:
        mark = "q" if quoted else "e"
        if name in ("@", "*"):
            self.found.append(USES_VARIABLE)
            if name == "*" and not self.state.splits:
                return ANY, mark
            text = self._params(BREAK if name == "@" or not quoted else " ")
            return text, mark * len(text)
        if name in _NUMBERS:
            return ANY, mark
        if name.isdigit():
            self.found.append(USES_VARIABLE)
            text = self._named(name, quoted)[0]
        else:
            if name not in SHOWN or name in self.state.variables:
                self.found.append(self._doubt(name))
            text = self.choices.pick(self.state.values(name))
        return text, mark * len(text)

    def _doubt(self, name: str) -> str:
        return USES_LOOP if name in self.state.looped and not self.state.unsure else USES_VARIABLE

    def _params(self, between: str) -> str:
        params = self.state.params
        return ANY if params is None else between.join(one or EMPTY for one in params)

    def _expansion(self, node: Node, quoted: bool) -> Marked:
        """`${...}`: plain names, arrays and defaults are known; other operators are not."""
        self.found.append(USES_EXPANSION)
        source = text_of(node)
        if computed_code(source, self.state):
            self.walker.problem("arithmetic may evaluate text that holds code")
        if source.startswith("${!") and not source.endswith(("*}", "@}", "[*]}", "[@]}")):
            text = self._indirect(source[3:-1], node)
        else:
            text = self._expanded(node, quoted)
        return text, ("q" if quoted else "e") * len(text)

    def _indirect(self, name: str, node: Node) -> str:
        """`${!x}`: bash evaluates the value of x as a name."""
        self.walker.substitutions(node, self.state, self.doubts)
        values = self.state.values(name)
        if not all(is_name(value) and "[" not in value for value in values):
            if name in self.state.variables or not is_name(name) or self.state.unsure:
                self.walker.problem("`${!...}` evaluates a value as the name of a variable")
            return ANY
        found = dict.fromkeys(one for value in values for one in self.state.values(value))
        return self.choices.pick(tuple(found))

    def _expanded(self, node: Node, quoted: bool) -> str:
        inner = [child for child in node.children if child.type not in ("${", "}")]
        if not inner or inner[0].type not in ("variable_name", "special_variable_name", "subscript"):
            self.walker.substitutions(node, self.state, self.doubts)
            return ANY
        head = inner[0]
        if head.type == "subscript":
            options = self._element(head, quoted)
        else:
            options = self._named(text_of(head), quoted)
        if len(inner) == 1:
            return self.choices.pick(options)
        operator = text_of(inner[1])
        if operator not in ("-", ":-", "=", ":=", "+", ":+"):
            self.walker.substitutions(node, self.state, self.doubts)
            if operator.startswith("@") and text_of(node).endswith(("@P}", "@E}")):
                self.walker.problem("`${...@P}` expands a value as code")
            return ANY
        other = "".join(self._mark(child, quoted=quoted)[0] for child in inner[2:])
        if "=" in operator and head.type == "variable_name":
            self.state = self.state.assign(
                text_of(head), tuple(dict.fromkeys((*(one for one in options if one), other)))
            )
        if "+" in operator:
            return self.choices.pick(("", other))
        if all(option and ANY not in option for option in options):
            return self.choices.pick(options)
        return self.choices.pick(tuple(dict.fromkeys((*(option for option in options if option), other))))

    def _named(self, name: str, quoted: bool) -> tuple[str, ...]:
        if name == "*" and not self.state.splits:
            return UNKNOWN
        if name in ("@", "*"):
            return (self._params(BREAK if name == "@" or not quoted else " "),)
        if name.isdigit():
            params = self.state.params
            if params is None or name == "0":
                return UNKNOWN
            return (params[int(name) - 1],) if int(name) <= len(params) else ("",)
        if name in _NUMBERS:
            return UNKNOWN
        return self.state.values(name)

    def _element(self, node: Node, quoted: bool) -> tuple[str, ...]:
        """`${A[@]}`, `${A[*]}`, `${A[0]}`."""
        name = text_of(node.children[0])
        index = text_of(node)[len(name) + 1 : -1]
        elements = self.state.arrays.get(name)
        if index in ("@", "*"):
            if elements is None or self.state.unsure or (index == "*" and not self.state.splits):
                return UNKNOWN
            return ((BREAK if index == "@" or not quoted else " ").join(one or EMPTY for one in elements),)
        self.walker.substitutions(node, self.state, self.doubts)
        if (
            elements is not None
            and not self.state.unsure
            and index.lstrip("-").isdigit()
            and -len(elements) <= int(index) < len(elements)
        ):
            return (elements[int(index)],)
        return UNKNOWN

    def _substitution(self, node: Node, quoted: bool) -> Marked:
        from checkrein.policy.shell.heredoc import printed

        self.found.append(USES_SUBSTITUTION)
        if self.choices.first:
            self._walk(node, self.state, USES_SUBSTITUTION)
        literal = printed(text_of(node)) if quoted and "cat" not in self.state.functions else None
        if literal is not None:
            return literal, "q" * len(literal)
        return ANY, "q" if quoted else "e"

    def _process(self, node: Node, _: bool) -> Marked:
        """`<(...)` is the name of a pipe."""
        writes = (node.text or b"").startswith(b">")
        doubt = IS_COMPARED if self.compares and not writes else USES_PROCESS
        self.found.append(doubt)
        if self.choices.first:
            state = structs.replace(self.state, stdin=ANY) if writes else self.state
            self._walk(node, state, doubt)
        return "/dev/fd/9", "q" * 9

    def _walk(self, node: Node, state: State, doubt: str) -> None:
        before = len(self.walker.commands)
        self.walker.substitution(node, state, (*self.doubts, doubt))
        self.fed += self.walker.said(before)

    def _arithmetic(self, node: Node, quoted: bool) -> Marked:
        self.found.append(USES_ARITHMETIC)
        self.walker.arithmetic(node, self.state, self.doubts)
        self.state = defaulted(text_of(node), self.state)
        return ANY, "q" if quoted else "e"

    # Marked text

    def _braced(self, word: Marked) -> list[Marked]:
        if not has_braces(word):
            return [word]
        expanded = expand(word)
        if expanded is None:
            self.found.append(USES_BRACES)
            return [(ANY, "q")]
        if len(expanded) > 1:
            self.found.append(USES_BRACES)
        return expanded


def _literal(text: str) -> Marked:
    return text, "u" * len(text)


def _dollar(reader: Reader, node: Node, quoted: bool) -> Marked:
    """`$"..."`: a translated string."""
    inner = next((child for child in node.children if child.type == "string"), None)
    return reader._string(inner, quoted) if inner is not None else (ANY, "e")


def _as_it_stands(_: Reader, node: Node, _quoted: bool) -> Marked:
    return _literal(text_of(node))


def _unclear(reader: Reader, node: Node, _: bool) -> Marked:
    reader.walker.substitutions(node, reader.state, reader.doubts)
    return ANY, "e"


PARTS = {
    "word": Reader._literal_word,
    "number": Reader._literal_word,
    "variable_name": Reader._literal_word,
    "special_variable_name": Reader._literal_word,
    "test_operator": Reader._literal_word,
    "brace_expression": _as_it_stands,
    "concatenation": Reader._join,
    "command_name": Reader._join,
    "string": Reader._string,
    "string_content": Reader._literal_word,
    "translated_string": _dollar,
    "raw_string": Reader._raw,
    "ansi_c_string": Reader._ansi,
    "simple_expansion": Reader._simple,
    "expansion": Reader._expansion,
    "command_substitution": Reader._substitution,
    "process_substitution": Reader._process,
    "arithmetic_expansion": Reader._arithmetic,
    "extglob_pattern": _unclear,
    "regex": _unclear,
    "subscript": _unclear,
}
"""How to read each kind of node."""
