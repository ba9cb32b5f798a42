"""The documentation of every code a Diagnostic may have: of checks, of loading, of configuration."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from bridle.base.diagnostic import Severity


class Page(Struct, frozen=True, kw_only=True):
    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    hint: str
    bad: dict[str, str] = {}
    good: dict[str, str] = {}
    fixable: bool = False


_CONFIG: dict[str, tuple[str, str, str]] = {
    "CFG001": (
        "config-unreadable",
        "A configuration file is not valid TOML.",
        "Correct the line that is named.",
    ),
    "CFG002": (
        "config-unknown-key",
        "A configuration key does not exist.",
        "`bridle config` lists the keys.",
    ),
    "CFG003": (
        "config-layer",
        "A key is set in a layer that may not set it.",
        "Move it to a layer that may.",
    ),
    "CFG004": ("config-type", "A configuration value has the wrong type.", "Give it the type that is named."),
    "CFG006": (
        "config-rule",
        "An entry of `permissions.rules` is no rule.",
        'Write deny = "Bash(rm *)", match = [...], not_match = [...].',
    ),
    "CFG005": ("config-secrets-mode", "Others can read the secrets file.", "Run `chmod 600` on it."),
}


def documentation(code: str) -> Page | None:
    return pages().get(code)


@cache
def pages() -> dict[str, Page]:
    """Code to page, in order of code."""
    from bridle.dialects.codes import CODES
    from bridle.dialects.generic.codes import CODES as WRITING_CODES
    from bridle.passes.checks.table import checks

    found = {
        check.code: Page(
            code=check.code,
            name=check.name,
            severity=check.severity,
            summary=check.summary,
            why=check.why,
            hint=check.hint,
            bad=check.bad,
            good=check.good,
            fixable=check.fixable,
        )
        for check in checks().values()
    }
    for code, (name, summary, hint) in _CONFIG.items():
        severity: Severity = "warning" if code == "CFG002" else "error"
        found[code] = Page(code=code, name=name, severity=severity, summary=summary, why=summary, hint=hint)
    for code, loading in (CODES | WRITING_CODES).items():
        found[code] = Page(
            code=code,
            name=loading.name,
            severity=loading.severity,
            summary=loading.summary,
            why=loading.why,
            hint=loading.hint,
        )
    return dict(sorted(found.items()))
