"""Judge shell text: every command in it by the Bash rules, every file it names by the Read and Edit rules.

Deny and ask rules count for every spelling of a command and for everything it runs. An approval must cover
the command as written. What is unknown needs approval, or is denied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import structs
from msgspec.structs import replace

from checkrein.facts.shell_builtins import BUILTINS
from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_env import SAFE
from checkrein.facts.shell_files import EDIT_COMMANDS
from checkrein.model.rule import Rule
from checkrein.policy.abstract import ANY, is_glob, is_static, shown
from checkrein.policy.approve import Approval
from checkrein.policy.auto import is_broad
from checkrein.policy.effects import Exec
from checkrein.policy.judge_files import judge_removal, may_read, may_write, strict_files
from checkrein.policy.judge_starts import matching, settles
from checkrein.policy.paths import is_device
from checkrein.policy.rare import behind_fences, carried_rules, open_code
from checkrein.policy.rules import CommandRule, RuleSet
from checkrein.policy.shell import analyse
from checkrein.policy.shell.doubts import MILD
from checkrein.policy.shell.files import Touched, touched
from checkrein.policy.shell.forms import granting_forms, plain_git_forms, strict_forms
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.program import Command, Program
from checkrein.policy.shell.readonly import can_be_held, is_read_only
from checkrein.policy.values import Piece
from checkrein.policy.view import View, piece

LONGEST = 10_000
"""Longer text needs approval, unless the mode lets everything run."""


def judge_shell(view: View, effect: Exec, approval: Approval | None, *, bound: bool) -> list[Piece]:
    """`bound`: the text belongs to another tool, so Bash allow rules do not apply."""
    text = effect.text
    if not bound and approval is None:
        approval = _whole(view, text)
    judge = _Judge(view, approval, bound, effect.places)
    program = judge.read(text)
    pieces = [one for command in program.commands for one in judge.command(command)]
    pieces.extend(judge.made_and_run(program.commands))
    made = open_code(view, program.commands, text)
    if made is not None:
        pieces.append(made)
    for problem in program.problems:
        unread = piece(_short(text), "ask", f"Checkrein can't read all of it: {problem}")
        pieces.append(replace(unread, unread=True))
    if len(text) > LONGEST and not view.bypass:
        pieces.append(piece(_short(text), "ask", f"it is longer than {LONGEST} characters"))
    return pieces or [piece(_short(text), "allow", "it runs nothing", effect="exec", reads=True)]


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"


def _whole(view: View, text: str) -> Approval | None:
    """An exact rule on the whole text approves all of it."""
    stripped = text.strip()
    for rule in view.allow.command_rules("Bash", (stripped.split(" ", 1)[0],)):
        if rule.pattern.exact and rule.pattern.text.strip() == stripped:
            return Approval(f"allowed by {rule.rule.text}", rule.rule)
    return None


class _Judge:
    def __init__(self, view: View, approval: Approval | None, bound: bool, places: tuple[str, ...]) -> None:
        self.view = view
        self.approval = approval
        self.bound = bound
        self.places = places
        self.home = view.context.home

    def read(self, text: str) -> Program:
        return analyse(text, self.view.context.cwd, self.home, self.places)

    def command(
        self, command: Command, approved: Approval | None = None, hidden: bool = False
    ) -> list[Piece]:
        """The command and everything it runs. `approved`: what approves the command that runs this one."""
        files = touched(command, self.home) if command.words else Touched()
        approval = approved or self.approval
        left: list[Piece] = []
        found = self._strict(command, files, approval, left)
        if found is not None:
            verdict = found
            through = approval
        else:
            verdict, through = self._approve(command, files, approval)
            if left and verdict.verdict == "allow":
                verdict = replace(verdict, layer=left[0].layer, later=left[0].later)
        pieces = [_named(verdict, command, hidden)]
        held = verdict.reads and (verdict.layer is not None or all(one.found for one in command.inner))
        for inner in command.inner:
            pieces.extend(self.command(inner, through or (None if held else _UNAPPROVED), hidden=True))
        return pieces

    def made_and_run(self, commands: Sequence[Command]) -> list[Piece]:
        """Files that the text writes and runs."""
        rule = self._any_strict()
        if rule is None or not commands or self._judges_starts:
            return []
        from checkrein.policy.made_and_run import made_and_run

        pieces: list[Piece] = []
        for run in made_and_run(commands, self.home):
            inside = self.read(run.content) if run.content is not None else None
            if inside is not None and not inside.problems:
                found = [one for command in inside.commands for one in self.command(command, hidden=True)]
                pieces.extend(one for one in found if one.verdict != "allow")
            else:
                reason = f"it runs a file that it wrote, and the file may do what {rule.text} matches"
                pieces.append(piece(_text(run.command), "ask", reason, effect="exec"))
        return pieces

    # What no approval overrides

    def _strict(
        self, command: Command, files: Touched, approval: Approval | None, left: list[Piece]
    ) -> Piece | None:
        """The first objection that no layer answers later. `left` gets those that one answers."""
        for found in self._objections(command, files, approval):
            if found.layer is None or found.layer not in self.view.context.layers:
                return found
            left.append(found)
        return None

    def _objections(self, command: Command, files: Touched, approval: Approval | None) -> Iterator[Piece]:
        text = _text(command)
        denied = self._rule(self.view.deny, command)
        if denied is not None:
            yield piece(text, "deny", f"denied by {denied.text}", denied, effect="exec")
        behind = behind_fences(self.view, command)
        if behind is not None:
            yield behind
        by_file = strict_files(self.view, command, files, code=not self._is_named(command))
        if by_file is not None and by_file.verdict == "deny":
            yield by_file
        asked = self._rule(self.view.ask, command)
        if asked is not None:
            yield piece(text, "ask", f"needs approval because of {asked.text}", asked, effect="exec")
        if by_file is not None:
            yield by_file
        maybe = self._maybe(command)
        if maybe is not None:
            yield _open(text, f"{maybe.rule.text} may match it", maybe, settles(maybe.pattern, command))
        if command.unknown:
            unknown = piece(text, "ask", command.unknown, effect="exec")
            if approval is not None and self._judges_starts:
                unknown = replace(unknown, layer="exec", later=_EACH_START)
            yield unknown
        for inner in carried_rules(self.view, command):
            reason = f"it may run a command that {inner.text} matches"
            found = piece(text, "ask", reason, inner, effect="exec")
            yield replace(found, layer="exec", later=_EACH_START) if self._judges_starts else found
        if command.opaque_code and (rule := self._any_strict()):
            reason = f"{command.opaque_code}, and it may do what {rule.text} matches"
            found = piece(text, "ask", reason, effect="exec")
            yield replace(found, layer="exec", later=_EACH_START) if self._judges_starts else found
        removal = judge_removal(self.view, command, files)
        if removal is not None:
            yield removal

    @cached_property
    def _judges_starts(self) -> bool:
        """Whether the layers that hold decide everything that code of unknown content may do."""
        view = self.view
        return (
            "exec" in view.context.layers
            and view.settles_effects
            and all(
                rule.pattern.first is not None and _starts(rule.pattern.first)
                for rules in (view.deny, view.ask)
                for rule in rules.all_commands("Bash")
            )
        )

    def _is_named(self, command: Command) -> bool:
        """Whether an allow rule names this interpreter. Such a rule covers what its code mentions."""
        name = nested_name(command.name.rsplit("/", 1)[-1])
        return name in INTERPRETERS and self._granting(command) is not None

    def _rule(self, rules: RuleSet, command: Command) -> Rule | None:
        """The deny or ask rule that matches one of the command's spellings."""
        found = matching(rules, command)
        if found is None and command.words and is_glob(command.words[0]):
            found = self._may(rules, strict_forms(command))
        return found.rule if found is not None else None

    def _maybe(self, command: Command) -> CommandRule | None:
        """The deny or ask rule that may match the command."""
        if not command.words or all(is_static(word) for word in command.words):
            return None
        forms = strict_forms(command)
        return self._may(self.view.deny, forms) or self._may(self.view.ask, forms)

    def _may(self, rules: RuleSet, forms: tuple[str, ...]) -> CommandRule | None:
        for rule in rules.all_commands("Bash"):
            if any(_could(rule, form) for form in forms):
                return rule
        return None

    def _any_strict(self) -> Rule | None:
        for rules in (self.view.deny, self.view.ask):
            for rule in rules.all_commands("Bash"):
                return rule.rule
        return None

    # Approvals

    def _approve(
        self, command: Command, files: Touched, approval: Approval | None
    ) -> tuple[Piece, Approval | None]:
        """The piece of a command that nothing forbids, and the approval that its inner commands inherit."""
        text = _text(command)
        if approval is _UNAPPROVED:
            return piece(text, "ask", "the command that runs it is not allowed", effect="exec"), None
        protected = may_write(self.view, command, files, only_protected=True)
        if protected is not None:
            return protected, None
        if self.view.mode == "plan" and self._writes(command, files):
            return piece(text, "ask", "plan mode does not write", effect="exec"), None
        if approval is not None:
            held = {"reads": approval.reads, "layer": approval.layer, "later": approval.later}
            return piece(text, "allow", approval.reason, approval.rule, effect="exec", **held), approval
        if self.bound:
            return piece(text, "ask", "no rule allows the tool", effect="exec"), None
        if command.doubts and not self._is_clear(command):
            return piece(
                text, "ask", f"{command.doubts[0]}: only a rule for all of Bash allows that", effect="exec"
            ), None
        return self._by_rule(command, files, text)

    def _is_clear(self, command: Command) -> bool:
        """Whether its form is no question: it hides nothing and the command only reads; or all its words are
        known, or it is held to reading, and what it starts is judged again."""
        if command.words and MILD.issuperset(command.doubts) and is_read_only(command, self.home):
            return True
        if "exec" not in self.view.context.layers:
            return False
        return not any(ANY in word for word in command.words) or self._is_held(command)

    def _is_held(self, command: Command) -> bool:
        """Whether the layers hold a command to reading, whatever its words are."""
        return self.view.holds_readers and can_be_held(command)

    def _by_rule(self, command: Command, files: Touched, text: str) -> tuple[Piece, Approval | None]:
        view = self.view
        if command.moved and self._writes(command, files):
            return piece(text, "ask", "it writes after a change of directory", effect="exec"), None
        unsafe = next((name for name, _ in command.assigns if name not in SAFE), None)
        rule = self._granting(command) if command.words and unsafe is None else None
        outside = may_write(
            view,
            command,
            files,
            by_rule=rule is not None and not rule.pattern.exact,
            granted=rule is not None,
        )
        if outside is not None:
            return outside, None
        if rule is not None:
            blocked = None if rule.pattern.exact else may_read(view, command, files)
            if blocked is not None:
                return self._built_in(command, files, text) if self._is_held(command) else (blocked, None)
            reads = is_read_only(command, self.home) and not self._writes(command, files)
            granted = Approval(f"allowed by {rule.rule.text}", rule.rule, reads=reads)
            return piece(text, "allow", granted.reason, rule.rule, effect="exec", reads=reads), granted
        if unsafe is not None and command.words:
            return piece(
                text, "ask", f"it sets {unsafe}, and no rule allows it as written", effect="exec"
            ), None
        if not command.words:
            reads = not self._writes(command, files)
            return may_read(view, command, files) or piece(
                text, "allow", "it opens files that may be opened", effect="exec", reads=reads
            ), None
        if command.transparent and command.inner:
            return self._through(command, text)
        return self._built_in(command, files, text)

    def _through(self, command: Command, text: str) -> tuple[Piece, Approval | None]:
        """A transparent wrapper counts as the command it runs; a reader behind some wrappers only."""
        inner = command.inner[0]
        files = touched(inner, self.home)
        verdict, granted = self._by_rule(inner, files, text)
        held = verdict.reads and self._is_held(inner)
        if (
            verdict.verdict == "allow"
            and granted is None
            and not command.read_only_through
            and not _edits(self.view, inner)
            and not held
        ):
            return piece(text, "ask", "only a rule allows it behind this command", effect="exec"), None
        if verdict.verdict != "allow":
            return verdict, None
        if held:
            verdict = replace(verdict, layer=verdict.layer or "exec", later=verdict.later or _HELD)
        return verdict, granted or Approval(
            verdict.reason, reads=verdict.reads, layer=verdict.layer, later=verdict.later
        )

    def _built_in(self, command: Command, files: Touched, text: str) -> tuple[Piece, Approval | None]:
        view = self.view
        blocked = may_read(view, command, files)
        writes = self._writes(command, files)
        if blocked is None and is_read_only(command, self.home):
            reason = "it only writes files that may be written" if writes else "it only reads"
            return piece(text, "allow", reason, effect="exec", reads=not writes), None
        held = not writes and self._is_held(command)
        if held and (blocked is None or blocked.layer == "files"):
            found = piece(text, "allow", "it only reads", effect="exec", reads=True)
            if blocked is not None:
                return replace(found, layer="files", later=blocked.later), None
            return replace(found, layer="exec", later=_HELD), None
        if _edits(view, command) and blocked is None and all(is_static(word) for word in command.words):
            return piece(text, "allow", f"the mode is {view.mode}", effect="exec"), None
        return blocked or piece(text, "ask", "no rule allows it", effect="exec"), None

    def _granting(self, command: Command) -> CommandRule | None:
        """The allow rule that covers the command as written."""
        name = command.words[0]
        if not is_static(name):
            return None
        forms = (*granting_forms(command), *plain_git_forms(command))
        for rule in self.view.allow.command_rules("Bash", (name,)):
            pattern = rule.pattern
            if pattern.exact:
                if command.raw.strip(" \t\n") == pattern.text.strip():
                    return rule
            elif self.view.mode == "auto" and is_broad(pattern.text):
                continue
            elif command.prefixable and any(pattern.matches(form) for form in forms):
                return rule
        return None

    def _writes(self, command: Command, files: Touched) -> bool:
        """Whether it changes more than devices such as /dev/null."""
        written = (*command.writes, *files.writes)
        return bool(files.removes) or not all(is_device(path) for one in written for path in one.paths)


_UNAPPROVED = Approval("")
_HELD = "it can write nothing, reach nobody and start no other program"
_EACH_START = "every program is judged when it starts"


def _open(text: str, reason: str, rule: CommandRule, settles: bool) -> Piece:
    """A question that the start of the program answers, if the rule `settles` there."""
    found = piece(text, "ask", reason, rule.rule, effect="exec")
    if not settles:
        return found
    would = "would be refused" if rule.rule.verdict == "deny" else "would need approval"
    name = f"`{rule.pattern.first}`" if rule.pattern.first else "a program"
    return replace(found, layer="exec", later=f"{name} {would} when it starts, by {rule.rule.text}")


def _starts(name: str) -> bool:
    """Whether what a rule names runs only by a start: a shell reads a script without starting it."""
    return name not in BUILTINS and "/" not in name and "." not in name


def _could(rule: CommandRule, form: str) -> bool:
    return not is_static(form) and rule.pattern.may_match(form)


def _edits(view: View, command: Command) -> bool:
    return view.mode == "acceptEdits" and command.name in EDIT_COMMANDS


def _text(command: Command) -> str:
    return _short(command.raw or shown(" ".join(command.words)))


def _named(one: Piece, command: Command, hidden: bool) -> Piece:
    """A verdict about a file is a verdict about the command that names it."""
    text = _text(command)
    reason = one.reason if one.text == text else f"{one.reason}: {one.text}"
    return structs.replace(one, text=text, reason=reason, hidden=hidden)
