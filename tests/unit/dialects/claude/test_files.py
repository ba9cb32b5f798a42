from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from checkrein.dialects.claude import files

Tree = Callable[[Mapping[str, str]], Path]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/p/.claude/skills/a/SKILL.md", "skill"),
        ("/p/skill.md", "skill"),
        ("/p/.claude/commands/ns/x.md", "command"),
        ("/p/.claude/agents/x.md", "agent"),
        ("/p/.claude/rules/a/x.md", "rule"),
        ("/p/CLAUDE.md", "instruction"),
        ("/p/AGENTS.md", "instruction"),
        ("/p/.claude/settings.json", "settings"),
        ("/p/.vscode/settings.json", "other"),
        ("/p/.mcp.json", "mcp"),
        ("/p/hooks/hooks.json", "hooks"),
        ("/p/.claude-plugin/plugin.json", "plugin"),
        ("/p/.cursor-plugin/plugin.json", "other"),
        ("/p/.claude-plugin/marketplace.json", "marketplace"),
        ("/p/agents/x.agent.md", "other"),
        ("/p/README.txt", "other"),
    ],
)
def test_kinds(path: str, kind: str) -> None:
    assert files.kind_of(path) == kind


def test_every_kind_is_read(tree: Tree) -> None:
    root = tree(
        {
            "s/SKILL.md": "---\ndescription: d\n---\n",
            "commands/ns/c.md": "---\ndescription: d\n---\n",
            "agents/a.md": "---\nname: a\ndescription: d\n---\n",
            "CLAUDE.md": "text",
            ".claude/settings.json": '{"model": "m", "permissions": {"deny": ["Read(/x)"]}}',
            ".mcp.json": '{"s": {"command": "c"}}',
            "hooks/hooks.json": '{"Stop": [{"hooks": [{"type": "command", "command": "c"}]}]}',
            ".claude-plugin/plugin.json": '{"name": "p"}',
            ".claude-plugin/marketplace.json": '{"name": "m", "owner": {}, "plugins": []}',
            "notes.txt": "x",
        }
    )
    read = {
        name: files.read(str(root / name))
        for name in [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    }
    assert [skill.name for skill in read["s/SKILL.md"].skills] == ["s"]
    assert [command.name for command in read["commands/ns/c.md"].commands] == ["ns:c"]
    assert [agent.name for agent in read["agents/a.md"].agents] == ["a"]
    assert [item.kind for item in read["CLAUDE.md"].instructions] == ["memory"]
    assert [rule.specifier for rule in read[".claude/settings.json"].rules] == ["/x"]
    assert [server.name for server in read[".mcp.json"].servers] == ["s"]
    assert [hook.event for hook in read["hooks/hooks.json"].hooks] == ["Stop"]
    assert [plugin.root for plugin in read[".claude-plugin/plugin.json"].plugins] == [str(root)]
    assert [market.name for market in read[".claude-plugin/marketplace.json"].marketplaces] == ["m"]
    assert [item.kind for item in read["notes.txt"].instructions] == ["import"]
    assert all(sources.diagnostics == () for sources in read.values())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("---\nname: a\ndescription: d\n---\n", "agent"),
        ("---\ndescription: d\n---\n", "command"),
        ("Just text", "instruction"),
    ],
)
def test_a_file_in_no_known_folder_is_judged_by_its_fields(tree: Tree, text: str, kind: str) -> None:
    assert files.guess(str(tree({"x.md": text}) / "x.md")) == kind
