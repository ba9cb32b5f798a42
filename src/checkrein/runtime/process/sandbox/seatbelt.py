"""Seatbelt, the sandbox of macOS: a profile in its rule language, for `sandbox-exec -p`.

Of two rules that match, the later one counts. So the profile allows everything, then denies broadly, then
allows parts of that, then denies parts again. The text is tested; no test has run it on macOS.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator

from checkrein.model.rule import Rule
from checkrein.policy.globs import compile_path
from checkrein.runtime.process.sandbox.detection import Prepared, SandboxStatus
from checkrein.runtime.process.sandbox.policy import SandboxPolicy

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper")
_RESOLVER = "/private/var/run/mDNSResponder"
_SPECIAL = frozenset(".^$+(){}[]|*?\\")
_ENFORCED = (
    "files are written only in the project, the added directories and the temporary directory",
    "denied files and directories can't be read",
    "denied programs don't start, by their path",
    "the network is off unless a setting opens it",
)
_MISSING = (
    "no test of Checkrein has run this profile on macOS",
    "arguments of programs are judged only before a command starts",
    "a hard link, or a program that the system starts for a command, is outside the profile",
)


def detect() -> SandboxStatus | None:
    """The status if `sandbox-exec` works here."""
    from checkrein.runtime.process.probes import probe

    if (
        sys.platform != "darwin"
        or probe((PROGRAM, "-p", "(version 1)(allow default)", "/usr/bin/true")) is None
    ):
        return None
    return SandboxStatus(kind="seatbelt", enforced=_ENFORCED, missing=_MISSING, program=PROGRAM)


def wrap(argv: tuple[str, ...], policy: SandboxPolicy) -> Prepared:
    return Prepared(argv=(PROGRAM, "-p", profile(policy), *argv))


def profile(policy: SandboxPolicy) -> str:
    """The rules for a policy, one on each line."""
    return "\n".join(
        ("(version 1)", "(allow default)", *_writes(policy), *_reads(policy), *_others(policy), "")
    )


def _writes(policy: SandboxPolicy) -> Iterator[str]:
    if policy.write is not None:
        yield "(deny file-write*)"
    yield _rule("allow file-write*", (f"(literal {quoted(path)})" for path in _DEVICES))
    if policy.write:
        yield _rule("allow file-write*", (f"(subpath {quoted(path)})" for path in policy.write))
    kept = [f"(subpath {quoted(path)})" for path in policy.deny_write]
    kept += [_regex(base, pattern) for base, pattern in policy.deny_write_like]
    if kept:
        yield _rule("deny file-write*", kept)
    above = sorted({one for path in policy.deny_write for one in _between(path, policy.write or ())})
    if above:
        # Nobody moves a directory away with what is kept inside it.
        yield _rule("deny file-write-unlink", (f"(literal {quoted(path)})" for path in above))


def _reads(policy: SandboxPolicy) -> Iterator[str]:
    closed = [f"(subpath {quoted(path)})" for path in policy.deny_read]
    closed += [_regex(base, pattern) for base, pattern in policy.deny_read_like]
    if closed:
        yield _rule("deny file-read*", closed)
        yield _rule("deny file-write*", closed)


def _others(policy: SandboxPolicy) -> Iterator[str]:
    if policy.deny_exec:
        yield _rule("deny process-exec*", (f"(literal {quoted(path)})" for path in policy.deny_exec))
    if policy.network:
        if not policy.unix_sockets:
            yield "(deny network-outbound (remote unix-socket))"
            yield f"(allow network-outbound (literal {quoted(_RESOLVER)}))"
        return
    yield "(deny network*)"
    if policy.unix_sockets:
        yield "(allow network-outbound (remote unix-socket))"
    if policy.proxy is not None:
        yield f'(allow network-outbound (remote tcp "localhost:{policy.proxy.port}"))'


def _rule(head: str, filters: Iterable[str]) -> str:
    return f"({head} {' '.join(filters)})"


def quoted(text: str) -> str:
    """A string of the rule language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _regex(base: str, pattern: str) -> str:
    """A filter for a gitignore pattern below a directory. A match covers everything below it."""
    inside = "^/" if base == "/" else "^" + _plain(base.rstrip("/")) + "/"
    anchored = pattern.startswith("/")
    body = expression(pattern.lstrip("/"))
    depth = "" if anchored else "(.*/)?"
    return f'(regex #"{inside}{depth}{body}(/.*)?$")'


def expression(pattern: str) -> str:
    """A gitignore pattern as a regular expression of the rule language, which knows no look-around."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            parts.append("(.*/)?")
            at += 3
        elif pattern.startswith("**", at):
            parts.append(".*")
            at += 2
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            parts.append(_class(pattern[at + 1 : end]))
            at = end + 1
        elif pattern[at] == "\\" and at + 1 < len(pattern):
            parts.append(_plain(pattern[at + 1]))
            at += 2
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(pattern[at]) or _plain(pattern[at]))
            at += 1
    return "".join(parts)


def _class(inner: str) -> str:
    negated = inner[:1] in ("!", "^")
    body = inner[1:] if negated else inner
    kept = body.replace("\\", "\\\\").replace("[", "\\[").replace('"', '\\"').replace("^", "\\^")
    return f"[^/{kept}]" if negated else f"[{kept}]"


def _plain(text: str) -> str:
    return "".join(f"\\{one}" if one in _SPECIAL or one == '"' else one for one in text)


def _between(path: str, roots: tuple[str, ...]) -> Iterator[str]:
    """The directories above a path that lie below a writable one."""
    above = os.path.dirname(path)
    while any(above.startswith(root.rstrip("/") + "/") for root in roots):
        yield above
        above = os.path.dirname(above)


def patterns(rules: Iterable[Rule], tool: str, *, root: str, home: str) -> tuple[tuple[str, str], ...]:
    """The base directory and the gitignore pattern of each rule that denies this kind of access."""
    found = []
    for rule in rules:
        if rule.verdict != "deny" or rule.tool != tool or rule.problem:
            continue
        compiled = compile_path(rule.specifier or "//**", grants=False)
        base = {"root": root, "home": home, "abs": "/", "anchor": rule.anchor or root}[compiled.base]
        found.append((os.path.realpath(base), compiled.pattern))
    return tuple(found)


def programs(rules: Iterable[Rule], find: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """The paths of programs that rules deny whatever their arguments: `Bash(curl *)`, `Bash(curl:*)`. `find`
    gives the paths of a name."""
    found: set[str] = set()
    for rule in rules:
        text = (rule.specifier or "").strip()
        name = text.removesuffix(":*") if text.endswith(":*") else text.removesuffix(" *").rstrip()
        if rule.verdict != "deny" or rule.tool != "Bash" or rule.problem or name == text:
            continue
        if name and not _SPECIAL & set(name.replace(".", "").replace("+", "")) and " " not in name:
            found.update(find(name))
    return tuple(sorted(found))
