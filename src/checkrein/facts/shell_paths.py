"""Paths with a meaning of their own: protected ones, devices, places that are other places."""

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
    }
)
"""A write below a directory of this name is never approved by a rule or by acceptEdits."""

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

HARMLESS_DEVICES: frozenset[str] = frozenset(
    {"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"}
    | {f"/dev/fd/{number}" for number in range(10)}
)
"""Reading or writing these touches no file."""

NETWORK_DEVICES: tuple[str, ...] = ("/dev/tcp/", "/dev/udp/")
"""Bash opens a connection for these."""

CRITICAL_PARENTS: tuple[str, ...] = ("/", "/private")
"""Their direct children are never removed without asking."""
