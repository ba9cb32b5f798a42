"""Specs that want to break the package, reach outside, cost time, or carry a secret along."""

from __future__ import annotations

import ast
import json
import keyword
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from checkrein.compile.package import Compiled, Options, compile_spec
from checkrein.compile.write import write
from checkrein.facts.claude_fields import AGENT_FIELDS, SKILL_FIELDS, names

NASTY = (
    "a \"b\" 'c' \"\"\" ''' \\ \\n \\x41 \\u0041 {{ x }} {% y %} {# z #} %s $HOME `id` \u202e"
    " <!-- | # \t ]\n[tool.evil]"
)
FIELDS = sorted(
    (names(SKILL_FIELDS) | names(AGENT_FIELDS) | {"license", "compatibility", "when_to_use"}) - {"name"}
)
SIZE = 300_000


def spec(base: Path, fields: dict[str, Any], body: str, where: str = ".claude/skills/demo/SKILL.md") -> Path:
    path = base / "project" / where
    path.parent.mkdir(parents=True, exist_ok=True)
    (base / "project" / ".git").mkdir(exist_ok=True)
    head = yaml.safe_dump({"name": "demo", "description": "d", **fields}, allow_unicode=True)
    path.write_text(f"---\n{head}---\n\n{body}\n", encoding="utf-8")
    return path


def build(path: Path, *scopes: str) -> Compiled:
    home = path.parents[len(path.parts) - 2] / "nowhere"
    return compile_spec(path, Options(scopes=("project", *scopes)), env={"HOME": str(home)})


def assert_sound(compiled: Compiled) -> None:
    assert [(one.lint_id, one.failures) for one in compiled.lints if one.verdict == "fail"] == []
    assert compiled.package.isidentifier()
    for path, data in compiled.files.items():
        assert ".." not in Path(path).parts
        assert not os.path.isabs(path)
        if path.endswith(".py"):
            tree = ast.parse(data)
            for node in ast.walk(tree):
                names = [getattr(node, "name", None), getattr(node, "arg", None), getattr(node, "id", None)]
                assert not any(isinstance(name, str) and keyword.iskeyword(name) for name in names)
    parsed = tomllib.loads(compiled.files["pyproject.toml"].decode())
    assert set(parsed["tool"]) == {"setuptools", "pytest", "ruff", "mypy"}
    config = ast.parse(compiled.files[f"{compiled.package}/config.py"])
    for node in config.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            ast.literal_eval(node.value)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("shape", ["text", "list", "map"])
def test_every_field_may_hold_anything(tmp_path: Path, field: str, shape: str) -> None:
    value: Any = {"text": NASTY, "list": [NASTY, {NASTY: NASTY}], "map": {NASTY: [NASTY], "name": NASTY}}[
        shape
    ]
    assert_sound(build(spec(tmp_path, {field: value}, "You are kind.")))


def test_a_package_of_nothing_but_hostile_text_passes_its_own_tests(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    fields = {"name": NASTY, "description": NASTY, "license": NASTY, "compatibility": NASTY, "model": NASTY}
    fields |= {"metadata": {NASTY: NASTY}, "argument-hint": NASTY, "paths": [NASTY], "when_to_use": NASTY}
    flat = NASTY.replace("\n", " ")
    head = f"# {flat}\n\nYou are {flat}.\n\n## Rules\n\n- Never say {flat}\n"
    body = f"{head}\n## Process\n\n1. Read {flat}\n2. Write {flat}\n"
    compiled = build(spec(tmp_path, fields, body))
    assert_sound(compiled)
    write(tmp_path / "out", compiled.package, compiled.files)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_package.py"],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("word", ["class", "None", "import", "match", "print", "self", "__init__", "1", "-"])
def test_keywords_as_names_of_everything(tmp_path: Path, word: str) -> None:
    fields = {
        "name": word,
        "arguments": [word, word],
        "argument-hint": f"[{word}] <{word}>",
        "allowed-tools": f"mcp__{word}__{word} {word} Bash({word}:*)",
        "hooks": {word: [{"matcher": word, "hooks": [{"type": "command", "command": word}]}]},
        "metadata": {word: word},
    }
    body = f"# {word}\n\n## Process\n\n1. {word}\n2. {word}\n\n## Output\n\n```json\n" + json.dumps(
        {word: {word: 1}}
    )
    path = spec(tmp_path, fields, body + "\n```\n")
    (tmp_path / "project" / ".mcp.json").write_text(json.dumps({"mcpServers": {word: {"command": word}}}))
    assert_sound(build(path))


BODIES: dict[str, Callable[[int], str]] = {
    "a line": lambda size: "x" * size,
    "words": lambda size: "word " * (size // 5),
    "steps": lambda size: "".join(
        f"{n}. Run step {n} and check what it gave\n" for n in range(1, size // 80)
    ),
    "rules": lambda size: "- Never do this before that is done, and always say why\n" * (size // 60),
    "prose": lambda size: ("Tea is made of leaves. " * 8 + "\n\n") * (size // 190),
    "sections": lambda size: "## A part of it\n\nIt is what it is, and a little more.\n\n" * (size // 55),
    "fences": lambda size: "```python\nprint('x')\n```\n\nAnd then some words.\n\n" * (size // 50),
    "table": lambda size: "| a | b |\n|---|---|\n" + "| cell | another cell |\n" * (size // 25),
    "deep list": lambda size: "".join("  " * (n % 60) + "- x\n" for n in range(size // 70)),
    "quotes": lambda size: "> " * 60 + "x\n",
    "brackets": lambda size: "[" * size,
    "ticks": lambda size: "`" * size,
    "blank": lambda size: "\n" * size,
    "product": lambda size: "claude " * (size // 7),
    "conditions": lambda size: "must " * (size // 5) + ": x",
    "reports": lambda size: ", report " * (size // 9) + ": x",
    "repetition": lambda size: "until the " * (size // 10),
    "links": lambda size: "](a " * (size // 4),
    "code": lambda size: "`a." * (size // 3),
    "addresses": lambda size: "://a:b " * (size // 7),
    "tokens": lambda size: "eyJ-" * (size // 4),
    "imports": lambda size: "".join(f"@f{n}.md " for n in range(size // 9)),
    "open links": lambda size: "[a](" * (size // 4),
    "titles below prose": lambda size: "x\n\n" * (size // 12) + "# a\n" * (size // 8),
    "one shape": lambda size: "## Output\n\n" + '```json\n{"a": {"b": 1}}\n```\n\n' * (size // 60),
    "tools": lambda size: "".join(f"mcp__s{n}__t{n} " for n in range(size // 60)),
    "procedures": lambda size: "## Do it\n\n1. Read it\n2. Write it\n\n" * (size // 36),
    "led": lambda size: "## Output\n\n" + "report " * (size // 14) + ":\n\n" + "- Say it.\n" * (size // 20),
    "leads": lambda size: "## Output\n\n" + "Report this:\n\n- Say it.\n\n" * (size // 26),
    "labels": lambda size: (
        "## Steps\n\n1. Read it\n2. Classify it as "
        + "`a`, " * (size // 10)
        + "(x, " * (size // 8)
        + "or as a or"
    ),
    "blank item": lambda size: (
        "1. Classify it:\n" + "\n" * (size // 2) + "   - **a**\n" + "   -\n" * (size // 10)
    ),
    "cries": lambda size: "! " * (size // 2) + ":\n\n- Say it.\n",
    "open json": lambda size: "## Output\n\n```json\n" + "[" * 50_000 + "\n```\n",
}


SECONDS = 8
"""The slowest kind, 8,800 procedures, takes 4 to 6 s on two cores, a third of it in the garbage collector."""


@pytest.mark.untraced
@pytest.mark.parametrize("kind", BODIES)
def test_300_kb_of_anything_compile_in_seconds(tmp_path: Path, kind: str) -> None:
    """On a slow machine a quarter of the body is slow too: what is quadratic takes 16 times as long."""
    spent = _seconds(tmp_path / "whole", BODIES[kind](SIZE))
    assert spent < SECONDS or spent < 9 * _seconds(tmp_path / "quarter", BODIES[kind](SIZE // 4))


def _seconds(where: Path, body: str) -> float:
    path = spec(where, {}, body)
    began = time.process_time()
    compiled = build(path)
    spent = time.process_time() - began
    assert [one.lint_id for one in compiled.lints if one.verdict == "fail"] == []
    return spent


@pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", "..", "a/../../b", "C:\\x", "~/x", "a\x00b"])
def test_names_lead_nowhere(tmp_path: Path, name: str) -> None:
    key = name.replace("\x00", " ")
    fields = {
        "name": name,
        "metadata": {key: name},
        "hooks": {key: [{"hooks": [{"type": "command", "command": "x"}]}]},
    }
    path = spec(tmp_path, fields, "You are kind.")
    (tmp_path / "project" / ".mcp.json").write_text(json.dumps({"mcpServers": {name: {"command": "x"}}}))
    compiled = build(path)
    assert_sound(compiled)
    out = tmp_path / "out"
    before = {one for one in tmp_path.rglob("*") if not one.is_relative_to(out)}
    write(out, compiled.package, compiled.files)
    assert {one for one in tmp_path.rglob("*") if not one.is_relative_to(out)} == before


@pytest.mark.parametrize(
    "mention",
    [
        "@../../outside.md",
        "@{}/outside.md",
        "@link.md",
        "@folder/secret.md",
        "[x](../../../../outside.md)",
        "`../../../../outside.md`",
    ],
)
def test_imports_stay_in_the_workspace(tmp_path: Path, mention: str) -> None:
    (tmp_path / "outside.md").write_text("OUTSIDE-TEXT\n")
    (tmp_path / "secret.md").write_text("OUTSIDE-TEXT\n")
    path = spec(tmp_path, {}, f"You are kind.\n\n{mention.format(tmp_path)}\n")
    (path.parent / "link.md").symlink_to(tmp_path / "outside.md")
    (path.parent / "folder").symlink_to(tmp_path)
    (path.parent / "references").symlink_to(tmp_path)
    (path.parents[3] / "CLAUDE.md").write_text(f"{mention.format(tmp_path)}\n")
    compiled = build(path)
    assert not [name for name, data in compiled.files.items() if b"OUTSIDE-TEXT" in data]
    assert str(tmp_path).encode() not in b"".join(
        data for name, data in compiled.files.items() if not mention.startswith("@{")
    )


KEYS = ("sk-ant-" + "q9W8" * 8, "ghp_" + "a1B2c3D4" * 5, "AKIA" + "A1B2C3D4E5F6G7H8")


@pytest.mark.parametrize("key", KEYS, ids=["sk", "ghp", "aws"])
def test_no_secret_of_any_place_is_in_any_file(tmp_path: Path, key: str) -> None:
    plain = "hunter2hunter2"
    settings = {
        "env": {"API_TOKEN": plain, "OTHER": key},
        "apiKeyHelper": f"echo {key}",
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": f"curl -H 'Authorization: Bearer {key}'"}]}]
        },
        "mcpServers": {
            "db": {"command": "x", "args": ["--token", key], "env": {"PASSWORD": plain}},
            "net": {"url": f"https://me:{plain}@host/", "headers": {"Authorization": f"Bearer {key}"}},
        },
        "permissions": {"deny": [f"Bash(curl {key}:*)"], "allow": [f"WebFetch(domain:{key}.com)"]},
    }
    fields = {
        "metadata": {"token": key},
        "hooks": settings["hooks"],
        "allowed-tools": f"Bash(curl {key}:*)",
        "argument-hint": key,
        "license": key,
        "name": key,
        "arguments": [key],
    }
    path = spec(
        tmp_path,
        fields,
        f'Use {key} here.\n\n@more.md\n\n```bash\ncurl {key}\n```\n\n```json\n{{"k": "{key}"}}\n```',
    )
    root, home = tmp_path / "project", tmp_path / "home" / ".claude"
    home.mkdir(parents=True)
    for file in (
        root / ".claude" / "settings.json",
        root / ".claude" / "settings.local.json",
        home / "settings.json",
    ):
        file.write_text(json.dumps(settings))
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": settings["mcpServers"]}))
    (root / ".claude" / "hooks").mkdir()
    (root / ".claude" / "hooks" / "hooks.json").write_text(json.dumps({"hooks": settings["hooks"]}))
    (root / ".env").write_text(f"API_TOKEN={plain}\nOTHER={key}\n")
    (root / ".claude-plugin").mkdir()
    (root / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "p", "dependencies": [key]}))
    (root / "CLAUDE.md").write_text(f"Send {key}.\n")
    (path.parent / "more.md").write_text(f"And {key}.\n")
    compiled = compile_spec(
        path, Options(scopes=("project", "local", "user")), env={"HOME": str(tmp_path / "home")}
    )
    assert_sound(compiled)
    for name, data in compiled.files.items():
        assert key.encode() not in data, name
        assert plain.encode() not in data, name
        assert key.lower().replace("-", "_") not in name.lower()
    assert not any(key in text or plain in text for text in compiled.warnings)
    assert not any(key in str(one) or plain in str(one) for one in compiled.diagnostics)
    assert "API_TOKEN=\n" in compiled.files[".env.example"].decode()
