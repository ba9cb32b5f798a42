"""Readers are total: whatever bytes, YAML or JSON a file holds, there is an answer and no exception."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.base import frontmatter
from checkrein.base.frontmatter import yaml_loader
from checkrein.base.jsonpos import Json, decode
from checkrein.dialects.claude import files, imports
from checkrein.dialects.claude.settings import dotted, undotted
from checkrein.facts.claude_fields import AGENT_FIELDS, SKILL_FIELDS
from checkrein.facts.claude_hooks import HANDLER_KEYS, HOOK_EVENTS
from checkrein.facts.claude_plugins import MANIFEST_KEYS
from checkrein.facts.claude_settings import TOP_LEVEL_KEYS
from checkrein.passes.load import load

FEW = settings(
    max_examples=int(os.environ.get("CHECKREIN_EXAMPLES", "30")),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)

NAMES = {
    "skill": "skills/a/SKILL.md",
    "command": "commands/c.md",
    "agent": "agents/a.md",
    "instruction": "CLAUDE.md",
    "rule": "rules/r.md",
    "settings": ".claude/settings.json",
    "mcp": ".mcp.json",
    "hooks": "hooks/hooks.json",
    "plugin": ".claude-plugin/plugin.json",
    "marketplace": ".claude-plugin/marketplace.json",
}
MARKDOWN = [kind for kind, name in NAMES.items() if name.endswith(".md")]
DATA = [kind for kind, name in NAMES.items() if name.endswith(".json")]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
KEYS = sorted(
    {field.name for field in (*SKILL_FIELDS, *AGENT_FIELDS)}
    | set(HANDLER_KEYS)
    | set(HOOK_EVENTS)
    | set(MANIFEST_KEYS)
    | set(TOP_LEVEL_KEYS)
    | {"plugins", "owner", "source", "allow", "deny", "ask", "matcher", "repo", "name"}
)
keys = st.sampled_from(KEYS) | st.text(max_size=6)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4)
)
objects = st.dictionaries(keys, values, max_size=6)


def read_bytes(kind: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / NAMES[kind]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        found = files.read(str(path))
        assert msgspec.json.encode(found)
        assert all(entry.origin.file == str(path) for entry in found.diagnostics)


@pytest.mark.parametrize("kind", sorted(NAMES))
@given(data=st.binary(max_size=200))
@FEW
def test_random_bytes(kind: str, data: bytes) -> None:
    read_bytes(kind, data)


BITS = """
--- | name: a | a: b: c | - x |   k: v | &a [*a] | y: *a | x: &a 1 | <<: {a: 1} | ? x | description: >
hooks: | paths: [ | ' | " | { | } | @x.md | <!-- c --> | !!python/object:os.system x | on: 1 | 2026-01-01: x
# t | ``` | %YAML 9 | allowed-tools: Bash(a b), Read | tools: | - | mcpServers: | - {s: {command: c}} |   text
"""
ODD = ["\t", "\r", "\ufeff", "\x00", "\x85", "\u2028", ""]
YAML_BITS = st.sampled_from([*BITS.strip().replace("\n", " | ").split(" | "), *ODD]).map(
    lambda bit: bit + "\n"
)


@pytest.mark.parametrize("kind", MARKDOWN)
@given(parts=st.lists(YAML_BITS | st.text(max_size=8), max_size=14))
@FEW
def test_random_yaml(kind: str, parts: list[str]) -> None:
    read_bytes(kind, ("---\n" + "".join(parts) + "\n---\nBody").encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("kind", MARKDOWN)
@given(value=objects)
@FEW
def test_known_fields_with_any_value(kind: str, value: dict[str, Any]) -> None:
    import yaml

    text = yaml.safe_dump({"name": "a", "description": "d", **value}, allow_unicode=True, sort_keys=False)
    read_bytes(kind, f"---\n{text}---\nBody".encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("kind", DATA)
@given(value=objects | values)
@FEW
def test_random_json(kind: str, value: Any) -> None:
    read_bytes(kind, json.dumps(value).encode())


@given(value=objects)
@FEW
def test_frontmatter_gives_what_the_c_loader_gives(value: dict[str, Any]) -> None:
    import yaml

    text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
    if "\n---" in text or "\x85" in text or "\u2028" in text:
        return
    expected = yaml.load(text, yaml_loader())
    found = frontmatter.parse(f"---\n{text}---\nBody")
    assert [problem.kind for problem in found.problems] == []
    assert repr(found.values) == repr({str(key): item for key, item in expected.items()})
    assert found.body == "Body"


@given(value=values)
@FEW
def test_places_of_json_lead_to_the_values(value: Any) -> None:
    text = json.dumps(value, indent=1)
    found = decode(text)
    if "NaN" in text or "Infinity" in text:
        return
    assert isinstance(found, Json)
    assert repr(found.value) == repr(json.loads(text))
    assert "$" in found.spans
    lines = text.count("\n") + 1
    assert all(1 <= span.line <= span.last_line <= lines for span in found.spans.values())


@given(text=st.text(max_size=200) | st.lists(YAML_BITS, max_size=20).map("".join))
@FEW
def test_imports_lie_where_they_are_said_to(text: str) -> None:
    _, mentions = imports.scan(text)
    lines = text.split("\n")
    for mention in mentions:
        assert 1 <= mention.span.line <= len(lines)
        assert all(path for path in mention.paths)


@given(
    names=st.lists(
        st.text(alphabet='ab.["]', max_size=4).filter(lambda key: '"' not in key), min_size=1, max_size=4
    )
)
@FEW
def test_dotted_names_go_both_ways(names: list[str]) -> None:
    assert undotted(dotted(names)) == tuple(names)


@given(value=objects, other=objects)
@FEW
def test_a_whole_project_of_random_files_loads(value: dict[str, Any], other: dict[str, Any]) -> None:
    import yaml

    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        head = yaml.safe_dump(other, allow_unicode=True)
        contents = {
            ".claude/settings.json": json.dumps(value),
            "home/.claude/settings.json": json.dumps(other),
            "home/.claude.json": json.dumps({"projects": value, "mcpServers": other}),
            ".mcp.json": json.dumps(other),
            ".claude-plugin/plugin.json": json.dumps({"name": "p", **value}),
            ".claude-plugin/marketplace.json": json.dumps({"name": "m", "plugins": [other, value]}),
            ".claude/skills/a/SKILL.md": f"---\n{head}---\n",
            ".claude/agents/a.md": f"---\n{head}---\n",
        }
        for name, text in contents.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
        project = load(root, env={}, home=str(root / "home"), managed_dir=str(root / "managed"))
        assert project.place.cwd == str(root.resolve())
        assert msgspec.json.encode(project)
