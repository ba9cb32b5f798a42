"""Parts of the judgement of shell text that need rules of their own. Each is imported where there is one: the
first command of a session waits for the imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrein.model.rule import Rule
from checkrein.policy.shell.files import Touched
from checkrein.policy.shell.program import Command
from checkrein.policy.values import Piece
from checkrein.policy.view import View


def behind_fences(view: View, command: Command) -> Piece | None:
    if not view.fences:
        return None
    from checkrein.policy.judge_fences import judge_place

    return judge_place(view, command)


def carried_rules(view: View, command: Command) -> Iterator[Rule]:
    """The deny rule and the ask rule for a command that this one may run."""
    for rules in (view.deny, view.ask):
        if rules.heads("Bash") is not None:
            from checkrein.policy.carried import carried

            rule = carried(rules, command)
            if rule is not None:
                yield rule


def open_code(view: View, commands: Sequence[Command], text: str) -> Piece | None:
    """What code in the text may open, where no layer decides that later."""
    if view.settles_effects:
        return None
    from checkrein.policy.judge_made import judge_made

    return judge_made(view, commands, text)


def named_hosts(view: View, command: Command, files: Touched, *, code: bool) -> Piece | None:
    if not (view.deny.domains or view.ask.domains):
        return None
    from checkrein.policy.judge_hosts import strict_hosts

    return strict_hosts(view, command, files, code=code)
