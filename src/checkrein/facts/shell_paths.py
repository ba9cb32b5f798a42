"""Paths with a special meaning: protected ones, devices, places that lead to other places."""

from __future__ import annotations

PROTECTED_DIRS: frozenset[str] = frozenset(
    {
        ".git",
        ".vscode",
        ".idea",
        ".husky",
        ".cargo",
        ".devcontainer",
        ".yarn",
        ".mvn",
        ".claude",
        ".checkrein",
    }
)
"""No rule and no acceptEdits approves a write below a directory with this name."""

PROTECTED_SUBDIRS: tuple[tuple[str, str], ...] = ((".config", "git"),)

UNPROTECTED_SUBDIRS: tuple[tuple[str, str], ...] = ((".claude", "worktrees"),)

PROTECTED_FILES: frozenset[str] = frozenset(
    [
        ".gitconfig",
        ".gitmodules",
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_aliases",
        ".bash_logout",
        ".zshrc",
        ".zprofile",
        ".zshenv",
        ".zlogin",
        ".zlogout",
        ".profile",
        ".envrc",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".pnp.cjs",
        ".pnp.loader.mjs",
        ".pnpmfile.cjs",
        "bunfig.toml",
        ".bunfig.toml",
        ".bazelrc",
        ".bazelversion",
        ".bazeliskrc",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yml",
        ".lefthook.yaml",
        "gradle-wrapper.properties",
        "maven-wrapper.properties",
        ".devcontainer.json",
        ".ripgreprc",
        "pyrightconfig.json",
        ".mcp.json",
        ".claude.json",
    ]
)

KEPT_PLACES: tuple[str, ...] = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude/rules",
    ".mcp.json",
    "checkrein.toml",
    ".git/hooks",
    ".husky",
    ".envrc",
)
"""Settings, hooks and rules of a project. No command changes them unless a rule allows it."""

WATCHED_PLACES: tuple[str, ...] = (".git/config", ".vscode", ".idea")
"""Their content later runs or counts too, but git and editors write them all the time."""

HARMLESS_DEVICES: frozenset[str] = frozenset(
    {"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"}
    | {f"/dev/fd/{number}" for number in range(10)}
)
"""Reading or writing these touches no file."""

NETWORK_DEVICES: tuple[str, ...] = ("/dev/tcp/", "/dev/udp/")
"""Bash opens a connection for these."""

CRITICAL_PARENTS: tuple[str, ...] = ("/", "/private")
"""Removing their direct children always needs approval."""
