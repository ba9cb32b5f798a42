"""Judge the files that a shell command reads, writes and removes, and the hosts it connects to."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from checkrein.base.later import later
from checkrein.facts.shell_paths import NETWORK_DEVICES
from checkrein.model.rule import Rule
from checkrein.policy.abstract import ANY, ONE, STAR, is_glob, is_static
from checkrein.policy.judge_trees import held
from checkrein.policy.links import links_below
from checkrein.policy.paths import (
    is_critical,
    is_device,
    is_protected,
    join,
    may_be_process_path,
    normal,
    spellings,
)
from checkrein.policy.rare import named_hosts
from checkrein.policy.shell.files import Touched
from checkrein.policy.shell.program import Access, Command
from checkrein.policy.values import Piece
from checkrein.policy.view import View, piece

READ = ("Read",)
_EDIT = ("Edit",)
BOTH = ("Edit", "Read")
_CLIMBS = later(rf"/\.[{STAR}{ONE}]+/")


def strict_files(view: View, command: Command, files: Touched, *, code: bool = True) -> Piece | None:
    """What deny and ask rules say about every file and host that a command names.

    `code`: names in code of another language count too.
    """
    found: Piece | None = None
    for one in (
        _reads(view, command, files, code=code),
        _writes(view, command, files, code=code),
        _renames(view, files),
        named_hosts(view, command, files, code=code),
        _computed(view, command, files) if code else None,
    ):
        if one is not None and (found is None or one.verdict == "deny"):
            found = one
    return found


def _reads(view: View, command: Command, files: Touched, *, code: bool) -> Piece | None:
    if not _speak(view, READ):
        return None
    from checkrein.policy.shell.mentions import mentioned

    asked: Piece | None = None
    uncertain = (*files.arguments, *(mentioned(command, files, view.context.home) if code else ()))
    known = (*files.reads, *command.reads)
    for access, certain in (*((one, True) for one in known), *((one, False) for one in uncertain)):
        for path in _files(_places(view, access)):
            rule = view.hit(view.deny, READ, path)
            sweeping = rule is not None and _is_sweeping(path) and not _above(view, path)
            if rule is not None and not access.content and (sweeping or ANY in path):
                continue  # it shows names, and which ones is unknown
            if rule is not None:
                if certain and ANY not in path and not sweeping:
                    return piece(
                        access.shown, "deny", f"reading is denied by {rule.text}", rule, effect="read"
                    )
                asked = _left(access.shown, f"it may read what {rule.text} denies", rule, effect="read")
            elif access.tree and access.content:
                below = held(view, view.deny, READ, access, path)
                if below is not None:
                    reason = f"it reads everything below, and {below.text} denies part of that"
                    asked = asked or _left(access.shown, reason, below, effect="read")
            rule = view.hit(view.ask, READ, path) if asked is None else None
            if rule is not None:
                asked = piece(
                    access.shown, "ask", f"reading needs approval because of {rule.text}", rule, effect="read"
                )
    return asked


def _places(view: View, access: Access) -> tuple[str, ...]:
    """A repository may be larger than the directory of the command; links lead out of a tree."""
    places = (*access.paths, view.context.start) if access.repository else access.paths
    if access.tree and access.follows and view.context.links:
        reached = (one for path in access.paths for one in links_below(normal(path), view.context.links))
        return (*places, *dict.fromkeys(reached))
    return places


def _is_sweeping(path: str) -> bool:
    """Whether the last segment is a glob without any letters. Such a glob means everything there."""
    last = path.rsplit("/", 1)[-1]
    return not is_static(last) and last.strip("\ue001\ue002.") == "" and is_static(path[: -len(last)])


def _above(view: View, path: str) -> bool:
    return view.hit(view.deny, READ, path.rsplit("/", 1)[0] or "/") is not None


def _writes(view: View, command: Command, files: Touched, *, code: bool) -> Piece | None:
    if not _speak(view, BOTH):
        return None
    asked: Piece | None = None
    for access in (*files.writes, *command.writes):
        for path in _files(_places(view, access)):
            rule = view.hit(view.deny, _EDIT if access.repository else BOTH, path)
            if rule is not None:
                if ANY not in path and not access.repository:
                    return piece(
                        access.shown, "deny", f"writing is denied by {rule.text}", rule, effect="write"
                    )
                asked = _left(access.shown, f"it may write what {rule.text} denies", rule, effect="write")
            elif access.tree or (access in files.writes and files.recursive and files.removes):
                below = held(view, view.deny, _EDIT, access, path)
                below = below or (_removed(view, path) if files.removes else None)
                if below is not None:
                    reason = f"it changes everything below, and {below.text} denies part of that"
                    asked = asked or _left(access.shown, reason, below, effect="write")
            rule = view.hit(view.ask, _EDIT, path) if asked is None else None
            if rule is not None:
                asked = piece(
                    access.shown,
                    "ask",
                    f"writing needs approval because of {rule.text}",
                    rule,
                    effect="write",
                )
    return asked or (_maybe_written(view, command, files) if code else None)


def _removed(view: View, path: str) -> Rule | None:
    """A Read rule that points to a place below a directory that is removed."""
    for rule, name in view.below(view.deny, READ, path):
        if not rule.pattern.floating or name == normal(view.base(rule)):
            return rule.rule
    return None


def _maybe_written(view: View, command: Command, files: Touched) -> Piece | None:
    if not _speak(view, _EDIT):
        return None
    from checkrein.policy.shell.mentions import may_be_written

    for access in may_be_written(command, files, view.context.home):
        for path in _files(access.paths):
            rule = view.hit(view.deny, _EDIT, path) or view.hit(view.ask, _EDIT, path)
            rule = rule or (held(view, view.deny, _EDIT, access, path) if access.tree else None)
            if rule is not None:
                reason = f"it may write a path that {rule.text} matches"
                found = _left(access.shown, reason, rule, effect="write")
                return found if rule.verdict == "deny" else replace(found, layer=None, later="")
    return None


def _left(shown: str, reason: str, rule: Rule, effect: str) -> Piece:
    """A question that the opening of the file answers, where that layer holds."""
    verb = "opened" if effect == "read" else "written"
    later = f"what {rule.text} denies can't be {verb}"
    return piece(shown, "ask", reason, rule, effect=effect, layer="files", later=later)


def _renames(view: View, files: Touched) -> Piece | None:
    """A link to a denied file, or a new place for it, is another name that no rule matches."""
    for access in files.links:
        for path in _files(access.paths):
            rule = view.hit(view.deny, BOTH, path) or held(view, view.deny, BOTH, access, path)
            if rule is not None:
                reason = f"it gives a path that {rule.text} matches another name"
                return _left(access.shown, reason, rule, effect="write")
    return None


def _computed(view: View, command: Command, files: Touched) -> Piece | None:
    """Code that opens files or connections whose names it computes."""
    rule = None if view.settles_effects else view.first_strict()
    if rule is not None and files.runs:
        text = f"its script runs a command, and {rule.text} may match what that opens"
        return piece(command.raw or command.name, "ask", text, rule, effect="exec")
    if rule is None:
        return None
    from checkrein.policy.shell.code_names import hides_names

    if not hides_names(command):
        return None
    text = f"its code computes the names of what it opens, and {rule.text} may match one"
    return piece(command.raw or command.name, "ask", text, rule, effect="exec")


def _speak(view: View, families: Iterable[str]) -> bool:
    return any(
        family in rules.paths or family in rules.names
        for rules in (view.deny, view.ask)
        for family in families
    )


def _files(paths: Iterable[str]) -> Iterable[str]:
    for path in paths:
        if not is_device(normal(path)):
            yield ANY if may_be_process_path(path) else path


def judge_removal(view: View, command: Command, files: Touched) -> Piece | None:
    """To remove the system, the home or the working directory always needs approval."""
    for target in files.removes:
        for cwd in command.cwds:
            path = normal(join(target, cwd, view.context.home))
            if _is_critical(view, target, path, files.recursive):
                return piece(target.replace(ANY, "…"), "ask", "it could remove everything", effect="write")
    return None


def _is_critical(view: View, target: str, path: str, recursive: bool) -> bool:
    if ANY in path:
        _, _, tail = path.rpartition(ANY)
        # `"$DIR"/*`: if the variable is empty this is the root.
        return (tail.startswith("/") and tail.strip("/\ue001\ue002.") == "") or (
            recursive and target.startswith(ANY) and target == ANY
        )
    return any(is_critical(name, view.context, view.added) for name in spellings(path, view.context))


def may_write(
    view: View,
    command: Command,
    files: Touched,
    *,
    only_protected: bool = False,
    by_rule: bool = False,
    granted: bool = False,
) -> Piece | None:
    """The first write without approval, or None.

    `only_protected`: protected paths and connections, which no approval covers. `granted`: a rule allows the
    command, so its own words may write in the working directories (`by_rule`: only that).
    """
    if files.runs and not granted and not only_protected:
        return piece(command.raw or command.name, "ask", "it runs a command", effect="exec")
    for access in (*command.writes, *files.writes):
        for path in access.paths:
            if is_device(path):
                continue
            if only_protected:
                if not view.bypass and any(is_protected(name) for name in spellings(path, view.context)):
                    return piece(access.shown, "ask", "it is a protected path", effect="write")
                continue
            reason = _unapproved(view, access, path, granted=granted, by_rule=by_rule)
            if reason is not None:
                return piece(access.shown, "ask", reason, effect="write")
    return None


def _unapproved(view: View, access: Access, path: str, *, granted: bool, by_rule: bool) -> str | None:
    if granted and not by_rule and not access.redirect:
        return None
    if not is_static(path):
        return "it is unknown which file it writes"
    if view.covered(view.allow, _EDIT, path) is not None:
        return None
    if not view.in_dirs(path):
        return "it writes outside the working directories"
    if (granted and not access.redirect) or view.mode in ("acceptEdits", "auto"):
        return None
    return "no rule allows writing it"


def may_read(view: View, command: Command, files: Touched) -> Piece | None:
    """The first read outside the working directories that no rule covers, or None."""
    for access in (*command.reads, *files.reads):
        for path in _places(view, access):
            if is_device(path):
                continue
            if path.startswith(NETWORK_DEVICES):
                return piece(access.shown, "ask", "it opens a connection", effect="net")
            if ANY in path:
                later = "it can open files in the working directories only"
                reason = "it is unknown which file it reads"
                return piece(access.shown, "ask", reason, effect="read", layer="files", later=later)
            if (
                not _in_dirs(view, f"{path}/" if access.tree else path)
                and view.covered(view.allow, BOTH, path) is None
            ):
                return piece(access.shown, "ask", "it reads outside the working directories", effect="read")
    return None


def _in_dirs(view: View, path: str) -> bool:
    """A glob stays below the directory in which it is written. Before bash 5.2, `.*` is `..` too."""
    if is_glob(path) and ("/.." in path or _CLIMBS.search(path)):
        return False
    return view.in_dirs(path)
