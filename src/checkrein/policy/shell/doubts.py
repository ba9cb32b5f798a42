"""Forms of shell text that need a rule for all of Bash, although what runs is known."""

from __future__ import annotations

from collections.abc import Sequence

Doubts = tuple[str, ...]

USES_VARIABLE = "it uses a variable"
USES_EXPANSION = "it uses a `${...}` expansion"
USES_BRACES = "it uses brace expansion"
USES_SUBSTITUTION = "it uses a command substitution"
USES_PROCESS = "it uses a process substitution"
USES_ARITHMETIC = "it uses arithmetic"
IN_BACKGROUND = "it runs in the background"
IN_SUBSHELL = "it runs in a subshell"
IN_GROUP = "it is in a group"
IN_FUNCTION = "it is in a function"
IN_CASE = "it is in a case"
IN_UNTIL = "it is in an until loop"
IN_SELECT = "it is in a select loop"
IN_LOOP = "it is in a counting loop"

USES_LOOP = "it uses the variable of a loop"
"""`for f in src/*.ts`, `for i in 1 2 3`: the loop goes over numbers, or over a glob with a known start. Its
values are names below a known directory, which a glob in the command itself would give too."""
IS_COMPARED = "it uses a process substitution to compare"
"""`diff <(a) <(b)`: a program that only compares gets the output of commands. It reads pipes, and what they
print is no name and no code to it."""
IN_PLACE = "it runs in another directory, in a subshell"
"""`(cd src && ls)`: the subshell is there only so that the directory stays as it was."""

MILD = frozenset((USES_LOOP, IS_COMPARED, IN_PLACE))
"""These forms hide nothing: they do not count for a command that only reads."""


def worst(found: Sequence[str]) -> str | None:
    """The doubt that counts most: the first that is not mild."""
    return next((one for one in found if one not in MILD), found[0] if found else None)
