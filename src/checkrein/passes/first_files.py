"""A first CLAUDE.md and first settings, from what a repository shows: its manifests and its commands.

Nothing is guessed: each line of the result stands in a file of the repository. Nothing runs.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checkrein.base.files import read_text

_KINDS = ("build", "test", "lint", "format", "types", "run")
_BY_NAME = {
    "build": ("build", "compile", "dist"),
    "test": ("test", "tests", "check", "spec"),
    "lint": ("lint", "eslint", "clippy"),
    "format": ("format", "fmt", "prettier"),
    "types": ("typecheck", "type-check", "types", "tsc", "mypy"),
    "run": ("start", "dev", "serve", "run"),
}
_ALLOWED = ("build", "test", "lint", "types")
"""Kinds of commands that the settings allow: they change nothing but build results."""
_SECRETS = ("Read(./.env)", "Read(./.env.*)")
_TARGET = re.compile(r"^([A-Za-z][\w.-]*)\s*:(?!=)", re.MULTILINE)
_LANGUAGES = {
    "package.json": "JavaScript",
    "tsconfig.json": "TypeScript",
    "pyproject.toml": "Python",
    "setup.py": "Python",
    "Cargo.toml": "Rust",
    "go.mod": "Go",
    "pom.xml": "Java (Maven)",
    "build.gradle": "Java (Gradle)",
    "build.gradle.kts": "Kotlin (Gradle)",
    "Gemfile": "Ruby",
    "composer.json": "PHP",
    "mix.exs": "Elixir",
    "CMakeLists.txt": "C or C++ (CMake)",
    "Package.swift": "Swift",
}
_MANAGERS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("bun.lock", "bun"))
_LONGEST = 400


class Found(Struct, frozen=True):
    """A command of the repository. `file` is where it stands."""

    kind: str
    command: str
    file: str


class FirstFiles(Struct, frozen=True):
    """What to write: paths from the root, each with its text."""

    files: dict[str, str]
    commands: tuple[Found, ...]


def first_files(root: str) -> FirstFiles:
    commands = tuple(_first_of_each(_commands(root)))
    return FirstFiles(
        {"CLAUDE.md": _instructions(root, commands), ".claude/settings.json": _settings(commands)}, commands
    )


def _instructions(root: str, commands: tuple[Found, ...]) -> str:
    name = os.path.basename(os.path.realpath(root))
    lines = [f"# {name}", ""]
    if os.path.isfile(os.path.join(root, "AGENTS.md")):
        lines += ["@AGENTS.md", ""]
    about = _about(root)
    if about:
        lines += [about, ""]
    languages = dict.fromkeys(
        words for file, words in _LANGUAGES.items() if os.path.isfile(os.path.join(root, file))
    )
    if languages:
        lines += [f"Written in {', '.join(languages)}.", ""]
    if commands:
        lines += ["## Commands", ""]
        lines += [f"- {found.kind}: `{found.command}` ({found.file})" for found in commands]
        lines.append("")
    folders = _folders(root)
    if folders:
        lines += ["## Layout", "", *(f"- `{folder}/`" for folder in folders), ""]
    return "\n".join(lines)


def _settings(commands: tuple[Found, ...]) -> str:
    allowed = [f"Bash({found.command} *)" for found in commands if found.kind in _ALLOWED]
    rules = {"allow": allowed, "deny": list(_SECRETS)} if allowed else {"deny": list(_SECRETS)}
    return json.dumps({"permissions": rules}, indent=2) + "\n"


def _first_of_each(found: Iterator[Found]) -> Iterator[Found]:
    by_kind: dict[str, Found] = {}
    for one in found:
        by_kind.setdefault(one.kind, one)
    return (by_kind[kind] for kind in _KINDS if kind in by_kind)


def _commands(root: str) -> Iterator[Found]:
    yield from _scripts(root)
    yield from _python(root)
    if os.path.isfile(os.path.join(root, "Cargo.toml")):
        yield from _plain("Cargo.toml", build="cargo build", test="cargo test", lint="cargo clippy")
        yield from _plain("Cargo.toml", format="cargo fmt", run="cargo run")
    if os.path.isfile(os.path.join(root, "go.mod")):
        yield from _plain("go.mod", build="go build ./...", test="go test ./...", lint="go vet ./...")
    if os.path.isfile(os.path.join(root, "pom.xml")):
        yield from _plain("pom.xml", build="mvn package", test="mvn test")
    if os.path.isfile(os.path.join(root, "gradlew")):
        yield from _plain("gradlew", build="./gradlew build", test="./gradlew test")
    yield from _targets(root)


def _plain(file: str, **commands: str) -> Iterator[Found]:
    for kind, command in commands.items():
        yield Found(kind, command, file)


def _scripts(root: str) -> Iterator[Found]:
    manifest = _json(os.path.join(root, "package.json"))
    scripts = manifest.get("scripts")
    if not isinstance(scripts, dict):
        return
    manager = next((name for file, name in _MANAGERS if os.path.isfile(os.path.join(root, file))), "npm")
    for kind, names in _BY_NAME.items():
        for name in names:
            if isinstance(scripts.get(name), str):
                short = name == "test" or manager in ("pnpm", "yarn")
                yield Found(kind, f"{manager} {'' if short else 'run '}{name}", "package.json")


def _python(root: str) -> Iterator[Found]:
    project = _toml(os.path.join(root, "pyproject.toml"))
    tools = project.get("tool") if isinstance(project.get("tool"), dict) else {}
    assert isinstance(tools, dict)
    runner = "uv run " if os.path.isfile(os.path.join(root, "uv.lock")) else ""
    if "pytest" in tools or os.path.isfile(os.path.join(root, "pytest.ini")):
        yield Found("test", f"{runner}pytest", "pyproject.toml" if "pytest" in tools else "pytest.ini")
    if "ruff" in tools:
        yield Found("lint", f"{runner}ruff check", "pyproject.toml")
        yield Found("format", f"{runner}ruff format", "pyproject.toml")
    if "mypy" in tools:
        yield Found("types", f"{runner}mypy", "pyproject.toml")


def _targets(root: str) -> Iterator[Found]:
    text = read_text(os.path.join(root, "Makefile"), within=(root,)).text
    targets = set(_TARGET.findall(text))
    for kind, names in _BY_NAME.items():
        for name in names:
            if name in targets:
                yield Found(kind, f"make {name}", "Makefile")


def _about(root: str) -> str:
    """The first paragraph of the README that is prose."""
    for name in ("README.md", "README.rst", "README.txt", "README"):
        text = read_text(os.path.join(root, name), within=(root,)).text
        for paragraph in re.split(r"\n\s*\n", text):
            words = " ".join(paragraph.split())
            if words and words[0].isalnum() and not set(paragraph) <= set("=-~^ \n"):
                return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
    return ""


def _folders(root: str) -> list[str]:
    from checkrein.passes.survey.gitignores import GitIgnores

    ignores = GitIgnores(os.path.realpath(root))
    with os.scandir(os.path.realpath(root)) as found:
        return sorted(
            one.name
            for one in found
            if one.is_dir(follow_symlinks=False)
            and not one.name.startswith(".")
            and one.name.isprintable()
            and not ignores.ignores(one.path, folder=True)
        )[:20]


def _json(path: str) -> dict[str, Any]:
    try:
        value = json.loads(read_text(path, within=(os.path.dirname(path),)).text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _toml(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path, within=(os.path.dirname(path),)).text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
