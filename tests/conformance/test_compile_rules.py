"""Every rule of the compile format as a test; `docs/compile-rules.md` is made from the table built here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.frontmatter import parse as parse_frontmatter
from checkrein.compile.package import Compiled, Options, compile_spec
from checkrein.compile.workspace import instruction_files, kind_of, open_spec
from checkrein.facts import compile as facts
from checkrein.facts.compile_rows import ROWS
from checkrein.facts.signals import CLAUDE

RULES: dict[str, str] = {}
Test = Callable[..., None]
SKILL = "---\nname: demo\ndescription: Does a thing.\n---\n\n# Demo\n\nYou are a helper.\n"
HERE = ".claude/skills/demo/SKILL.md"
HANDLER = {"type": "command", "command": "x"}


def rule(name: str, text: str) -> Callable[[Test], Test]:
    RULES[name] = text
    return lambda test: test


class Box:
    """A project in a directory, with a home of its own beside it."""

    def __init__(self, base: Path) -> None:
        self.root = base / "home" / "project"
        self.home = base / "home"
        self.root.mkdir(parents=True)
        (self.root / ".git").mkdir()

    def write(self, path: str, text: str | dict[str, Any]) -> Path:
        target = (self.home / path[2:]) if path.startswith("~/") else self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return target

    def spec(self, body: str = "", fields: str = "", path: str = HERE) -> Path:
        head = f"---\nname: demo\ndescription: Does a thing.\n{fields}---\n"
        return self.write(path, head + (body or "\n# Demo\n\nYou are a helper.\n"))

    def compile(self, path: str = HERE, *scopes: str, **options: Any) -> Compiled:
        return compile_spec(
            self.root / path,
            Options(**{"scopes": ("project", *scopes), "workspace_scope": "repo"} | options),
            env={"HOME": str(self.home)},
        )

    def settings(self, value: dict[str, Any], path: str = ".claude/settings.json") -> Path:
        return self.write(path, value)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def text(compiled: Compiled, name: str) -> str:
    path = name if name in compiled.files else f"{compiled.package}/{name}"
    return compiled.files[path].decode()


def report(compiled: Compiled) -> str:
    return text(compiled, "mapping_report.md")


def rows(compiled: Compiled, row: str) -> list[Any]:
    return [element for element in compiled.inventory.elements if element.row == row]


def target(compiled: Compiled, element: Any) -> tuple[str, str, str]:
    found = next(one for one in compiled.mappings if one.element_id == element.element_id)
    return found.final_target_file, found.target_symbol, found.primitive


def entry(compiled: Compiled, element: Any) -> Any:
    return next(one for one in compiled.plan if element.element_id in one.source_elements)


# --- Premises


@rule("PRE-1", "Skills of one name: managed counts before user, user before project, project before plugin.")
def test_PRE_1(box: Box) -> None:
    box.spec()
    assert facts.SKILL_ORDER == ("managed", "user", "project", "plugin")
    assert "managed > user > project > plugin" in report(box.compile())


@rule("PRE-2", "Every field of the Agent Skills standard is kept under the Claude Code dialect.")
def test_PRE_2(box: Box) -> None:
    box.spec(fields="license: MIT\ncompatibility: Linux\nmetadata:\n  a: b\nallowed-tools: Read\n")
    compiled = box.compile()
    assert compiled.classification.source_runtime == "claude_code"
    found = {element.source_lines for element in compiled.inventory.elements}
    for field in ("name", "description", "license", "compatibility", "metadata.a", "allowed-tools"):
        assert f"frontmatter.{field}" in found


@rule("PRE-3", "A plugin manifest without a name is invalid.")
def test_PRE_3(box: Box) -> None:
    box.spec()
    box.write(".claude-plugin/plugin.json", {"version": "1.0"})
    compiled = box.compile()
    assert any("no `name`" in warning for warning in compiled.warnings)
    assert not rows(compiled, "M-34")


@rule("PRE-4", "Settings may hold permissions, env, hooks, mcpServers and defaultMode.")
def test_PRE_4(box: Box) -> None:
    box.spec()
    box.settings(
        {
            "permissions": {"deny": ["Bash(rm:*)"]},
            "env": {"A_B": "x"},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
            "mcpServers": {"s": {"command": "x"}},
            "defaultMode": "plan",
        }
    )
    found = {element.row for element in box.compile().inventory.elements}
    assert {"M-28", "M-29", "M-30", "M-31", "M-32"} <= found


@rule("PRE-5", "A command and a skill of the same name: the skill wins.")
def test_PRE_5(box: Box) -> None:
    box.spec()
    box.spec(path=".claude/commands/demo.md")
    assert "the skill wins" in report(box.compile(".claude/commands/demo.md"))


# --- Detection

DETECTION: list[tuple[str, str, dict[str, str], str]] = [
    ("DET-01", HERE, {}, ""),
    ("DET-02", "SKILL.md", {}, "disable-model-invocation: true\n"),
    ("DET-03", "SKILL.md", {}, "user-invocable: true\n"),
    ("DET-04", "SKILL.md", {}, "context: fork\n"),
    ("DET-05", "SKILL.md", {}, "agent: reviewer\n"),
    ("DET-06", "SKILL.md", {}, "hooks:\n  Stop: []\n"),
    ("DET-07", "SKILL.md", {}, "paths: ['*.py']\n"),
    ("DET-08", "SKILL.md", {}, "shell: bash\n"),
    ("DET-09", "SKILL.md", {}, "argument-hint: '[x]'\n"),
    ("DET-10", "SKILL.md", {}, "model: opus\n"),
    ("DET-11", "SKILL.md", {}, "effort: high\n"),
    ("DET-12", HERE, {}, ""),
    ("DET-13", "SKILL.md", {".claude/settings.json": "{}"}, ""),
    ("DET-14", "SKILL.md", {".mcp.json": "{}"}, ""),
    ("DET-15", "SKILL.md", {".claude-plugin/plugin.json": "{}"}, ""),
    ("DET-16", "SKILL.md", {"CLAUDE.md": "x"}, ""),
]
for _fact, _row in zip(CLAUDE, DETECTION, strict=True):
    _strength = {2.0: "strong", 1.0: "medium", 0.5: "weak"}[_fact.weight]
    RULES[_row[0]] = f"A {_strength} signal of Claude Code: {_fact.evidence}."


@pytest.mark.parametrize(("name", "path", "files", "fields"), DETECTION, ids=[row[0] for row in DETECTION])
def test_DET(box: Box, name: str, path: str, files: dict[str, str], fields: str) -> None:
    box.spec(fields=fields, path=path)
    for file, content in files.items():
        box.write(file, content)
    assert name in box.compile(path).classification.source_runtime_signals["claude_code"]


@rule("DET-20", "A SKILL.md with standard fields and no other signal is agent_skills_std.")
def test_DET_20(box: Box) -> None:
    box.spec(fields="license: MIT\n", path="SKILL.md")
    assert box.compile("SKILL.md").classification.source_runtime == "agent_skills_std"


@rule("DET-21", "One extension field or location makes it claude_code.")
def test_DET_21(box: Box) -> None:
    box.spec(fields="user-invocable: true\n", path="SKILL.md")
    assert box.compile("SKILL.md").classification.source_runtime == "claude_code"
    box.spec()
    assert box.compile().classification.source_runtime == "claude_code"


@rule("DET-22", "An exact tie without an extension goes to agent_skills_std.")
def test_DET_22() -> None:
    from checkrein.model.project import Signal
    from checkrein.passes.detect import decide

    tied = [Signal("AS-01", "agent_skills_std", 2.0, ""), Signal("DET-16", "claude_code", 2.0, "")]
    assert decide(tied).dialect == "agent_skills_std"


@rule("DET-23", "A score within 1 of another runtime is hybrid.")
def test_DET_23(box: Box) -> None:
    box.write("SOUL.md", "Be kind.")
    box.write("IDENTITY.md", "Ada.")
    box.write("crew.py", "from crewai import Crew\n@crew\ndef x():\n    pass\n")
    made = compile_spec(box.root, env={"HOME": str(box.home)}).classification
    assert made.source_runtime == "hybrid"
    assert made.hybrid_threshold_triggered
    assert made.hybrid_primary == "openclaw"


# --- Inventory


@rule("2a-T1", "The spec on the command line is primary: a SKILL.md, a command or an agent file.")
def test_2a_T1(box: Box) -> None:
    for path, kind in (
        (HERE, "skill"),
        (".claude/commands/x.md", "command"),
        (".claude/agents/x.md", "agent"),
    ):
        box.spec(path=path)
        compiled = box.compile(path)
        assert compiled.inventory.spec.kind == kind
        assert compiled.inventory.spec.file == path


@rule("2a-T2", "The body is decomposed.")
def test_2a_T2(box: Box) -> None:
    box.spec("\n# X\n\nYou are kind.\n\n## Process\n\n1. Read the file\n2. Write the report\n")
    elements = [e for e in box.compile().inventory.elements if e.source_lines[0].isdigit()]
    assert [(e.source_lines, e.tag) for e in elements] == [
        ("8", "CONFIG"),
        ("12", "EXTRACT"),
        ("13", "GENERATE"),
    ]


@rule("2a-1", "The spec is read once; copies at other tiers are named, never read.")
def test_2a_1(box: Box) -> None:
    box.spec()
    box.write("~/.claude/skills/demo/SKILL.md", SKILL.replace("helper", "SECOND COPY"))
    compiled = box.compile()
    assert "another copy of this spec exists (user: skills/demo/SKILL.md)" in report(compiled)
    assert not any(b"SECOND COPY" in data for data in compiled.files.values())


@rule("2b-T1", "A CLAUDE.md beside the spec is read as identity.")
def test_2b_T1(box: Box) -> None:
    box.spec(path="SKILL.md")
    box.write("CLAUDE.md", "We ship tea.\n")
    [element] = rows(box.compile("SKILL.md"), "M-23")
    assert (element.source_file, element.category) == ("CLAUDE.md", "C1")


@rule("2b-T2", "Every CLAUDE.md above, up to the stop, is read.")
def test_2b_T2(box: Box) -> None:
    box.spec(path="a/b/SKILL.md")
    box.write("CLAUDE.md", "Outer.\n")
    box.write("a/CLAUDE.md", "Inner.\n")
    assert [e.content_full for e in rows(box.compile("a/b/SKILL.md"), "M-23")] == ["Outer.", "Inner."]


@rule("2b-T3", "The user's CLAUDE.md is facts about the user; it is read when the user scope is asked for.")
def test_2b_T3(box: Box) -> None:
    box.spec()
    box.write("~/.claude/CLAUDE.md", "I like tea.\n")
    assert not rows(box.compile(), "M-25")
    [element] = rows(box.compile(HERE, "user"), "M-25")
    assert (element.category, element.source) == ("C3", "user")


@rule("2b-T4", "CLAUDE.local.md is ignored.")
def test_2b_T4(box: Box) -> None:
    box.spec(path="SKILL.md")
    box.write("CLAUDE.local.md", "PRIVATE NOTES\n")
    compiled = box.compile("SKILL.md", "local", "user")
    assert not any(b"PRIVATE" in data or b"CLAUDE.local" in data for data in compiled.files.values())


@rule("2b-T5", "A managed CLAUDE.md is noticed by existence only.")
def test_2b_T5(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = box.home / "managed"
    managed.mkdir()
    (managed / "CLAUDE.md").write_text("COMPANY RULES")
    monkeypatch.setattr("checkrein.facts.claude.managed_dir", lambda: str(managed))
    box.spec()
    compiled = box.compile()
    assert "a managed CLAUDE.md exists" in report(compiled)
    assert not any(b"COMPANY RULES" in data for data in compiled.files.values())


@rule("2b-1", "The walk stops at the repository, the home directory and the edge of the file system.")
def test_2b_1(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    path = box.spec(path="a/SKILL.md")
    box.write("CLAUDE.md", "In the repository.\n")
    box.write("~/CLAUDE.md", "In the home.\n")
    env = {"HOME": str(box.home)}
    spec = open_spec(str(path), env=env)
    assert [os.path.basename(os.path.dirname(found)) for found, _ in instruction_files(spec, user=False)] == [
        "project"
    ]
    (box.root / ".git").rmdir()
    assert len(instruction_files(open_spec(str(path), env=env), user=False)) == 1
    monkeypatch.setattr("checkrein.compile.workspace._device", lambda directory: len(directory))
    assert instruction_files(spec, user=False) == []


@rule("2b-2", "General files come first, so nearer files have higher element ids.")
def test_2b_2(box: Box) -> None:
    box.spec(path="a/SKILL.md")
    box.write("~/.claude/CLAUDE.md", "User.\n")
    box.write("CLAUDE.md", "Root.\n")
    box.write("a/CLAUDE.md", "Near.\n")
    elements = box.compile("a/SKILL.md", "user").inventory.elements
    ids = {e.content_full: e.element_id for e in elements if e.row in ("M-23", "M-25")}
    assert sorted(ids, key=ids.__getitem__) == ["User.", "Root.", "Near."]


@rule("2b-3", "Directories added with --add-dir are not read, whatever the environment says.")
def test_2b_3(box: Box) -> None:
    box.spec("\nStart it with `claude --add-dir ../other`.\n")
    box.write("~/other/CLAUDE.md", "OTHER TREE")
    env = {"HOME": str(box.home), "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}
    compiled = compile_spec(box.root / HERE, env=env)
    assert not any(b"OTHER TREE" in data for data in compiled.files.values())
    assert "--add-dir" in report(compiled)


@rule("2c-T0", "The `.claude/` nearest to the spec counts.")
def test_2c_T0(box: Box) -> None:
    box.spec(path="a/.claude/skills/demo/SKILL.md")
    box.settings({"permissions": {"deny": ["Bash(far:*)"]}})
    box.settings({"permissions": {"deny": ["Bash(near:*)"]}}, "a/.claude/settings.json")
    found = rows(box.compile("a/.claude/skills/demo/SKILL.md"), "M-28")
    assert [e.content_full for e in found] == ["Bash(near:*)"]


@rule("2c-T1", "settings.json is parsed; every top-level key gives elements.")
def test_2c_T1(box: Box) -> None:
    box.spec()
    box.settings({"model": "opus", "env": {"X": "1"}, "includeCoAuthoredBy": False})
    found = {
        e.source_lines for e in box.compile().inventory.elements if e.source_file == ".claude/settings.json"
    }
    assert found == {"json:model", "json:env.X", "json:includeCoAuthoredBy"}


@rule("2c-T2", "settings.local.json is merged when the local scope is asked for; its elements say `local`.")
def test_2c_T2(box: Box) -> None:
    box.spec()
    box.settings({"permissions": {"deny": ["Bash(x:*)"]}}, ".claude/settings.local.json")
    assert not rows(box.compile(), "M-28")
    assert [e.source for e in rows(box.compile(HERE, "local"), "M-28")] == ["local"]


@rule(
    "2c-T3", "The user's settings.json is merged when the user scope is asked for; its elements say `user`."
)
def test_2c_T3(box: Box) -> None:
    box.spec()
    box.write("~/.claude/settings.json", {"permissions": {"deny": ["Bash(x:*)"]}})
    assert not rows(box.compile(), "M-28")
    assert [e.source for e in rows(box.compile(HERE, "user"), "M-28")] == ["user"]


def _others(box: Box, path: str) -> Compiled:
    box.spec()
    box.write(path, "---\nname: other\ndescription: d\n---\nOTHER CONTENT\n")
    return box.compile()


@rule("2c-T4", "Other agents are recorded by existence, not read into the inventory.")
def test_2c_T4(box: Box) -> None:
    compiled = _others(box, ".claude/agents/other.md")
    file = next(f for f in compiled.inventory.files if f.path == ".claude/agents/other.md")
    assert not file.read
    assert not any(b"OTHER CONTENT" in data for data in compiled.files.values())


@rule("2c-T5", "Other skills are only noticed.")
def test_2c_T5(box: Box) -> None:
    compiled = _others(box, ".claude/skills/other/SKILL.md")
    assert not next(f for f in compiled.inventory.files if "skills/other" in f.path).read
    assert not any(b"OTHER CONTENT" in data for data in compiled.files.values())


@rule("2c-T6", "Other commands are only noticed.")
def test_2c_T6(box: Box) -> None:
    compiled = _others(box, ".claude/commands/other.md")
    assert not next(f for f in compiled.inventory.files if "commands/other" in f.path).read


@rule("2c-T7", "`.claude/hooks/hooks.json` is merged with the hooks of the settings.")
def test_2c_T7(box: Box) -> None:
    box.spec()
    box.write(
        ".claude/hooks/hooks.json", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}
    )
    [element] = rows(box.compile(), "M-30")
    assert element.source_lines == "json:hooks.Stop[0]"


@rule("2c-1", "Credentials and workstation paths of settings.local.json are sensitive and reach no file.")
def test_2c_1(box: Box) -> None:
    box.spec()
    key = "sk-ant-" + "a1B2" * 8
    box.settings(
        {"permissions": {"allow": ["Read(/home/me/private/**)", f"Bash(curl -H {key})"]}},
        ".claude/settings.local.json",
    )
    compiled = box.compile(HERE, "local")
    assert all(e.sensitive for e in rows(compiled, "M-26"))
    assert not any(key.encode() in data or b"/home/me" in data for data in compiled.files.values())


@rule("2c-2", "defaultMode is one of six values; plan changes the modality.")
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "bypassPermissions", "auto", "dontAsk"])
def test_2c_2(box: Box, mode: str) -> None:
    box.spec()
    box.settings({"permissions": {"defaultMode": mode}})
    compiled = box.compile()
    assert f'DEFAULT_PERMISSION_MODE: Final[str] = "{mode}"' in text(compiled, "config.py")
    assert ("review_gated" in compiled.classification.secondary_modalities) == (mode == "plan")


@rule("2c-3", "Agents are not expanded; they are cross-skill references of the appendix.")
def test_2c_3(box: Box) -> None:
    assert "cross-skill reference: subagent .claude/agents/other.md" in report(
        _others(box, ".claude/agents/other.md")
    )


@rule("2d-T1", "Every server of .mcp.json is a tool declaration.")
def test_2d_T1(box: Box) -> None:
    box.spec()
    box.write(".mcp.json", {"mcpServers": {"one": {"command": "x"}, "two": {"url": "https://x"}}})
    found = rows(box.compile(), "M-33")
    assert [(e.tag, e.category, e.content_full) for e in found] == [
        ("TOOL_TEMPLATE", "C6", "one"),
        ("TOOL_TEMPLATE", "C6", "two"),
    ]


@rule("2d-T2", "Servers of the settings are merged with .mcp.json; the settings count.")
def test_2d_T2(box: Box) -> None:
    box.spec()
    box.write(".mcp.json", {"mcpServers": {"one": {"command": "x"}}})
    box.settings({"mcpServers": {"one": {"command": "y"}}})
    compiled = box.compile()
    assert len(rows(compiled, "M-31")) == 1
    assert rows(compiled, "M-33") == []
    assert "overridden by the settings" in report(compiled)


@rule("2d-1", "MCP tools keep the form mcp__server__tool.")
def test_2d_1(box: Box) -> None:
    box.spec(fields="allowed-tools: mcp__db__run_query\n")
    [element] = rows(box.compile(), "M-10")
    assert element.content_full == "mcp__db__run_query"


@rule("2d-2", "A server none of whose tools is named is an `unused MCP server`.")
def test_2d_2(box: Box) -> None:
    box.spec(fields="allowed-tools: mcp__used__x\n")
    box.write(".mcp.json", {"mcpServers": {"used": {"command": "x"}, "idle": {"command": "x"}}})
    lint = next(one for one in box.compile().lints if one.lint_id == "unused-mcp-server")
    assert lint.verdict == "warning"
    assert [failure.message for failure in lint.failures] == [
        "unused MCP server: idle; no tool of it is named"
    ]


@rule("2e-T1", "Name, version and dependencies of plugin.json are C8.")
def test_2e_T1(box: Box) -> None:
    box.spec()
    box.write(".claude-plugin/plugin.json", {"name": "p", "version": "1.2", "dependencies": ["httpx>=0.27"]})
    found = [e for e in box.compile().inventory.elements if e.source_file.endswith("plugin.json")]
    assert [(e.source_lines, e.category) for e in found] == [
        ("json:name", "C8"),
        ("json:version", "C8"),
        ("json:dependencies[0]", "C8"),
    ]


@rule("2e-T2", "marketplace.json is only noticed.")
def test_2e_T2(box: Box) -> None:
    box.spec()
    box.write(".claude-plugin/marketplace.json", {"name": "m", "plugins": []})
    assert "marketplace.json" in report(box.compile())


@rule("2f-0", "`@path` imports are followed five files deep and join the inventory.")
def test_2f_0(box: Box) -> None:
    box.spec("\nSee @notes/a.md for more.\n", path="SKILL.md")
    box.write("notes/a.md", "Fact A.\n\n@b.md\n")
    box.write("notes/b.md", "Fact B.\n")
    found = {f.path for f in box.compile("SKILL.md").inventory.files}
    assert {"notes/a.md", "notes/b.md"} <= found


@rule("2f-1", "An import's role names the file that imports it.")
def test_2f_1(box: Box) -> None:
    box.spec("\n@a.md\n", path="SKILL.md")
    box.write("a.md", "Fact.\n")
    file = next(f for f in box.compile("SKILL.md").inventory.files if f.path == "a.md")
    assert file.role == "C1/C2/C3 inline import from SKILL.md"


@rule("2f-2", "A cycle is broken: a file is taken once, the second time is a warning.")
def test_2f_2(box: Box) -> None:
    box.spec("\n@a.md\n", path="SKILL.md")
    box.write("a.md", "A.\n\n@b.md\n")
    box.write("b.md", "B.\n\n@a.md\n")
    compiled = box.compile("SKILL.md")
    assert sum(f.path == "a.md" for f in compiled.inventory.files) == 1
    assert any("b.md imports a.md again" in warning for warning in compiled.warnings)


@rule("2f-3", "The file at depth five is read, what it imports is not.")
def test_2f_3(box: Box) -> None:
    box.spec("\n@f1.md\n", path="SKILL.md")
    for number in range(1, 8):
        box.write(f"f{number}.md", f"Fact {number}.\n\n@f{number + 1}.md\n")
    compiled = box.compile("SKILL.md")
    found = [f.path for f in compiled.inventory.files if f.imported_by]
    assert found == [f"f{n}.md" for n in range(1, 6)]
    assert any("f5.md imports f6.md more than 5 files deep" in one for one in compiled.warnings)


@rule("2g-T1", "The keychain is never accessed.")
def test_2g_T1() -> None:
    source = Path(compile_spec.__code__.co_filename).parent
    for path in source.rglob("*.py"):
        written = path.read_text("utf-8").lower()
        assert "keychain" not in written
        assert "subprocess" not in written


@rule("2g-T2", "`.credentials.json` is recorded by existence and never opened.")
def test_2g_T2(box: Box) -> None:
    box.spec()
    box.settings({"env": {"ANTHROPIC_API_KEY": "x"}})
    path = box.write("~/.claude/.credentials.json", "SECRET CONTENT")
    path.chmod(0)
    compiled = box.compile(HERE, "user")
    assert "`~/.claude/.credentials.json` exists. It was not opened." in text(compiled, "SETUP.md")


@rule("2g-T3", "Names of `env` are read, values are stored nowhere.")
def test_2g_T3(box: Box) -> None:
    box.spec()
    box.settings({"env": {"SERVICE_NAME": "value-of-it"}})
    compiled = box.compile()
    assert "SERVICE_NAME=\n" in text(compiled, ".env.example")
    assert not any(b"value-of-it" in data for data in compiled.files.values())


@rule("2g-T4", "`apiKeyHelper` is recorded and never run.")
def test_2g_T4(box: Box) -> None:
    box.spec()
    mark = box.home / "ran"
    box.settings({"apiKeyHelper": f"touch {mark}", "env": {"X": "1"}})
    compiled = box.compile()
    assert "`apiKeyHelper`" in text(compiled, "SETUP.md")
    assert not mark.exists()
    assert not any(b"touch " in data for data in compiled.files.values())


@rule(
    "2g-1",
    "SETUP section 2 gives the order of Anthropic credentials, only where such a variable is declared.",
)
def test_2g_1(box: Box) -> None:
    box.spec()
    box.settings({"env": {"ANTHROPIC_API_KEY": "x"}})
    shown = " ".join(text(box.compile(), "SETUP.md").split())
    order = (
        "cloud provider, `ANTHROPIC_AUTH_TOKEN`, `ANTHROPIC_API_KEY`, `apiKeyHelper`, "
        "`CLAUDE_CODE_OAUTH_TOKEN`, subscription OAuth"
    )
    assert order in shown
    box.settings({"env": {"OTHER": "x"}})
    assert "subscription OAuth" not in text(box.compile(), "SETUP.md")


@rule("2h-0", "The workspace is the first directory above with `.claude/` or `.git`, or the home directory.")
def test_2h_0(box: Box) -> None:
    path = box.spec(path="a/.claude/skills/x/SKILL.md")
    assert open_spec(str(path), env={"HOME": str(box.home)}).workspace == str(box.root / "a")
    above = box.write("~/notes/SKILL.md", SKILL)
    assert open_spec(str(above), env={"HOME": str(box.home)}).workspace == str(box.home)


@rule("2h-1", "A repository without `.claude/` is the workspace.")
def test_2h_1(box: Box) -> None:
    path = box.spec(path="a/SKILL.md")
    assert open_spec(str(path), env={"HOME": str(box.home)}).workspace == str(box.root)


@rule("2h-2", "Without both, the spec's directory is the workspace, with a warning.")
def test_2h_2(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "SKILL.md").write_text(SKILL)
    compiled = compile_spec(tmp_path / "x" / "SKILL.md", env={"HOME": str(tmp_path / "none")})
    if compiled.inventory.spec.place.root_reason == "fallback":
        assert compiled.inventory.spec.workspace == str(tmp_path / "x")
        assert any("workspace may be incomplete" in warning for warning in compiled.warnings)


for _number, _file in enumerate(("settings.json", "CLAUDE.md", ".mcp.json", ".claude-plugin"), 1):
    RULES[f"2i-{_number}"] = f"No warning when {_file} is absent."
RULES["2i-5"] = "Only the primary spec is required."


@pytest.mark.parametrize("name", ["2i-1", "2i-2", "2i-3", "2i-4", "2i-5"])
def test_2i(box: Box, name: str) -> None:
    box.spec(path="SKILL.md")
    compiled = box.compile("SKILL.md")
    assert compiled.warnings == ()
    assert [f.path for f in compiled.inventory.files] == ["SKILL.md"]


# --- Frontmatter

FIELDS_3A = ("name", "description", "license", "compatibility", "metadata", "allowed-tools", "when_to_use")
FIELDS_3B = (
    *("disable-model-invocation", "user-invocable", "context", "agent", "hooks", "paths", "shell"),
    *("argument-hint", "arguments", "model", "effort"),
)
FIELDS_3C = (
    *("tools", "disallowedTools", "permissionMode", "maxTurns", "skills", "mcpServers", "memory"),
    *("background", "isolation", "color", "initialPrompt"),
)


@rule("3a-F", "The fields of the standard, and when_to_use, are known; allowed-tools is split on blanks.")
def test_3a_F(box: Box) -> None:
    box.spec(
        fields="license: MIT\ncompatibility: any\nmetadata: {a: b}\nallowed-tools: Bash(git log:*) Read\n"
        "when_to_use: Often.\n"
    )
    compiled = box.compile()
    assert not any(e.unknown_frontmatter_field for e in compiled.inventory.elements)
    assert [e.content_full for e in compiled.inventory.elements if e.category == "C6"] == [
        "Bash(git log:*)",
        "Read",
    ]
    assert "Often." in text(compiled, "config.py")


@rule("3b-F", "The extensions of Claude Code are known.")
def test_3b_F(box: Box) -> None:
    box.spec(
        fields="disable-model-invocation: true\nuser-invocable: true\ncontext: fork\nagent: a\nhooks: {}\n"
        "paths: ['*.py']\nshell: bash\nargument-hint: '[a]'\narguments: [b]\nmodel: opus\neffort: low\n"
    )
    assert not any(e.unknown_frontmatter_field for e in box.compile().inventory.elements)


@rule("3c-F", "The fields of agents are known in agent files only.")
def test_3c_F(box: Box) -> None:
    fields = "tools: [Read]\nmaxTurns: 3\nisolation: worktree\ncolor: red\nbackground: true\nmemory: user\n"
    box.spec(fields=fields, path=".claude/agents/demo.md")
    agent = box.compile(".claude/agents/demo.md")
    assert not any(e.unknown_frontmatter_field for e in agent.inventory.elements)
    box.spec(fields="maxTurns: 3\n")
    assert any(e.unknown_frontmatter_field for e in box.compile().inventory.elements)


@rule("3c-1", "An agent's content is never part of another spec.")
def test_3c_1(box: Box) -> None:
    assert not any(b"OTHER CONTENT" in data for data in _others(box, ".claude/agents/o.md").files.values())


@rule("3c-2", "A plugin's agent with hooks, mcpServers or permissionMode is an anomaly.")
def test_3c_2(box: Box) -> None:
    box.write(".claude-plugin/plugin.json", {"name": "p"})
    box.spec(fields="permissionMode: plan\n", path="agents/demo.md")
    assert any("which plugin agents may not use" in w for w in box.compile("agents/demo.md").warnings)


@rule("3d-1", "Frontmatter is safe YAML: tags that build objects are refused.")
def test_3d_1() -> None:
    parsed = parse_frontmatter("---\nname: !!python/object/apply:os.system ['true']\n---\nx\n")
    assert not isinstance(parsed.values.get("name"), int)
    assert parsed.problems


@rule("3d-2", "Known fields are read with their meaning: `context` counts only as `fork`.")
def test_3d_2(box: Box) -> None:
    box.spec(fields="context: other\n")
    assert not rows(box.compile(), "M-13")
    box.spec(fields="context: fork\n")
    assert len(rows(box.compile(), "M-13")) == 1


@rule("3d-3", "Unknown fields are not errors; they are flagged.")
def test_3d_3(box: Box) -> None:
    box.spec(fields="flavour: mint\n")
    compiled = box.compile()
    [element] = [e for e in compiled.inventory.elements if e.unknown_frontmatter_field]
    assert element.source_lines == "frontmatter.flavour"
    assert "- `flavour`" in report(compiled)


@rule("3e-1", "The path decides whether a file is a command or a skill.")
def test_3e_1() -> None:
    assert kind_of("/x/.claude/commands/a.md") == "command"
    assert kind_of("/x/.claude/skills/a/SKILL.md") == "skill"


@rule("3e-2", "Of a command and a skill of one name the skill wins; the report says so.")
def test_3e_2(box: Box) -> None:
    test_PRE_5(box)


# --- Mapping table

ROW_CASES: dict[str, tuple[dict[str, Any], str, str, tuple[str, str, str]]] = {
    "M-01": ({}, "", "", ("__init__.py", "__agent_name__", "bundle")),
    "M-02": ({}, "", "", ("config.py", "AGENT_DESCRIPTION", "bundle")),
    "M-03": ({}, "license: MIT\n", "", ("pyproject.toml", "license", "bundle")),
    "M-04": ({}, "compatibility: Linux\n", "", ("config.py", "COMPATIBILITY_NOTE", "bundle")),
    "M-05": ({}, "metadata: {a: b}\n", "", ("config.py", "METADATA", "bundle")),
    "M-06": ({}, "allowed-tools: TodoWrite\n", "", ("constrained_slots.py", "use_todo_write", "stub")),
    "M-07": ({}, "allowed-tools: Bash(git:*)\n", "", ("constrained_slots.py", "run_bash", "stub")),
    "M-08": ({}, "allowed-tools: Write(src/**)\n", "", ("constrained_slots.py", "write_file", "stub")),
    "M-09": ({}, "allowed-tools: WebFetch(domain:*.x.org)\n", "", ("tools.py", "web_fetch", "real_impl")),
    "M-10": ({}, "allowed-tools: mcp__db__query\n", "", ("constrained_slots.py", "db_query", "stub")),
    "M-11": ({}, "disable-model-invocation: true\n", "", ("mapping_report.md", "", "none")),
    "M-12": ({}, "user-invocable: true\n", "", ("main.py", "--user-invocable-mode", "parameter")),
    "M-13": ({}, "context: fork\n", "", ("mapping_report.md", "", "none")),
    "M-14": ({}, "agent: reviewer\n", "", ("mapping_report.md", "", "none")),
    "M-15": (
        {},
        "hooks:\n  Stop:\n    - hooks: [{type: command, command: x}]\n",
        "",
        ("handlers/stop.py", "handle_stop", "delegate"),
    ),
    "M-16": ({}, "paths: ['*.py']\n", "", ("README.md", "", "none")),
    "M-17": ({}, "shell: bash\n", "", ("config.py", "DEFAULT_SHELL", "bundle")),
    "M-18": ({}, "arguments: [target]\n", "", ("pipeline.py", "run_pipeline", "parameter")),
    "M-19": ({}, "model: opus\n", "", ("config.py", "MODEL_NAME", "bundle")),
    "M-20": ({}, "effort: high\n", "", ("config.py", "REASONING_EFFORT", "bundle")),
    "M-21": ({}, "", "## Steps\n\n1. Write a\n2. Run b\n", ("pipeline.py", "step_01_write_a", "m.instruct")),
    "M-22": (
        {"fact.md": "The sky is blue.\n"},
        "",
        "@../../../fact.md\n",
        ("config.py", "PREFIX_TEXT", "bundle"),
    ),
    "M-23": ({"CLAUDE.md": "We ship tea.\n"}, "", "", ("config.py", "PREFIX_TEXT", "bundle")),
    "M-24": ({"CLAUDE.md": "@t.md\n", "t.md": "Tea.\n"}, "", "", ("config.py", "PREFIX_TEXT", "bundle")),
    "M-25": ({"~/.claude/CLAUDE.md": "I like tea.\n"}, "", "", ("pipeline.py", "run_pipeline", "parameter")),
    "M-26": (
        {".claude/settings.json": {"permissions": {"allow": ["Read"]}}},
        "",
        "",
        ("requirements.py", "ALLOWED_CALLS", "bundle"),
    ),
    "M-27": (
        {".claude/settings.json": {"permissions": {"ask": ["Bash(x:*)"]}}},
        "",
        "",
        ("constrained_slots.py", "confirm_action", "delegate"),
    ),
    "M-28": (
        {".claude/settings.json": {"permissions": {"deny": ["Bash(x:*)"]}}},
        "",
        "",
        ("requirements.py", "OPERATING_REQUIREMENTS", "requirement"),
    ),
    "M-29": ({".claude/settings.json": {"env": {"A_B": "c"}}}, "", "", (".env.example", "A_B", "parameter")),
    "M-30": (
        {".claude/settings.json": {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [HANDLER]}]}}},
        "",
        "",
        ("handlers/pre_tool_use.py", "handle_pre_tool_use", "delegate"),
    ),
    "M-31": (
        {".claude/settings.json": {"mcpServers": {"db": {}}}},
        "",
        "",
        ("constrained_slots.py", "db_call", "stub"),
    ),
    "M-32": (
        {".claude/settings.json": {"defaultMode": "auto"}},
        "",
        "",
        ("config.py", "DEFAULT_PERMISSION_MODE", "bundle"),
    ),
    "M-33": ({".mcp.json": {"mcpServers": {"db": {}}}}, "", "", ("constrained_slots.py", "db_call", "stub")),
    "M-34": ({".claude-plugin/plugin.json": {"name": "p"}}, "", "", ("pyproject.toml", "name", "bundle")),
    "M-35": (
        {".claude-plugin/plugin.json": {"name": "p", "dependencies": ["httpx"]}},
        "",
        "",
        ("pyproject.toml", "dependencies", "bundle"),
    ),
    "M-40": ({}, "", "Run `/loop 5m` for this.\n", ("config.py", "SCHEDULE_CONFIG", "delegate")),
    "M-42": ({}, "", "Keep notes in MEMORY.md.\n", ("constrained_slots.py", "recall_memory", "delegate")),
}
for _name, _case in ROW_CASES.items():
    _row_fact = ROWS[_name]
    _where = " ".join(filter(None, _case[3][:2]))
    RULES[_name] = f"`{_row_fact.signal}`: {_row_fact.category}, {_row_fact.outcome}, {_where}."


@pytest.mark.parametrize("name", ROW_CASES)
def test_M(box: Box, name: str) -> None:
    files, fields, body, expected = ROW_CASES[name]
    box.spec(f"\n# Demo\n\n{body}" if body else "", fields)
    for path, content in files.items():
        box.write(path, content)
    compiled = box.compile(HERE, "user")
    [element, *_] = rows(compiled, name)
    assert target(compiled, element) == expected
    row = ROWS[name]
    if row.category != "—" and row.outcome in facts.DISPOSITIONS:
        assert entry(compiled, element).disposition == row.outcome
    if name not in ("M-21", "M-22"):
        assert element.category == row.category


@rule("M-36", "marketplace.json is not reproduced; it is noted.")
def test_M_36(box: Box) -> None:
    test_2e_T2(box)


@rule("M-37", "Every hook event has a handler of its own, and SETUP section 7 names it.")
def test_M_37(box: Box) -> None:
    box.spec()
    box.settings(
        {"hooks": {"Stop": [{"hooks": [HANDLER]}], "PostToolUse": [{"matcher": "Edit", "hooks": [HANDLER]}]}}
    )
    compiled = box.compile()
    for module in ("stop", "post_tool_use"):
        assert f"def handle_{module}(" in text(compiled, f"handlers/{module}.py")
        assert f"handlers/{module}.py" in text(compiled, "SETUP.md")


@rule("M-38", "A hook's matcher is copied into its handler.")
def test_M_38(box: Box) -> None:
    box.spec()
    box.settings({"hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [HANDLER]}]}})
    assert '("Bash|Edit",)' in text(box.compile(), "handlers/pre_tool_use.py")


@rule("M-39", "The contract of hooks (JSON on standard input, exit status) stands in SETUP section 7.")
def test_M_39(box: Box) -> None:
    box.spec()
    box.settings({"hooks": {"Stop": [{"hooks": [HANDLER]}]}})
    shown = text(box.compile(), "SETUP.md")
    assert "## 7. Host adapter" in shown
    assert "Exit status 0 goes on, 2 blocks" in shown


@rule("M-41", "Routines are not reproduced.")
def test_M_41(box: Box) -> None:
    box.spec("\nUse Claude Code Routines for the nightly run.\n")
    assert "Routines are managed in a cloud" in report(box.compile())


@rule(
    "M-43", "An agent's memory is left to the host: constrained_slots.recall_agent_memory, SETUP section 5."
)
def test_M_43(box: Box) -> None:
    box.spec(fields="memory: project\n", path=".claude/agents/demo.md")
    compiled = box.compile(".claude/agents/demo.md")
    [element] = rows(compiled, "M-43")
    assert target(compiled, element)[:2] == ("constrained_slots.py", "recall_agent_memory")
    assert "## 5. Long-term memory" in text(compiled, "SETUP.md")


@rule("M-44", "A reference to another agent is deferred.")
def test_M_44(box: Box) -> None:
    box.spec(fields="agent: reviewer\n")
    assert "References to other skills and agents are noted, not resolved." in report(box.compile())


@rule("4-O", "Every default can be overridden; the plan says who decided.")
def test_4_O(box: Box, tmp_path: Path) -> None:
    from checkrein.compile.plan import Override, read_overrides

    box.spec(fields="allowed-tools: Bash Read\n")
    wanted = Override("C6:constrained_slots.py:run_bash", "remove", "no shell here")
    compiled = box.compile(overrides=(wanted,))
    [decided] = [one for one in compiled.plan if one.source_of_decision == "config"]
    assert (decided.disposition, decided.override_rationale) == ("remove", "no shell here")
    assert "def run_bash" not in text(compiled, "constrained_slots.py")
    saved = tmp_path / "plan.json"
    saved.write_text(text(compiled, "intermediate/dependency_plan.json"))
    assert read_overrides(str(saved)) == (wanted,)
    answered = compile_spec(
        box.root / HERE,
        Options(mode="ask"),
        env={"HOME": str(box.home)},
        ask=lambda question: question.choices[-1],
    )
    assert {one.source_of_decision for one in answered.plan} >= {"user"}


@rule("4-1", "allowed-tools chooses the tools; an agent's `tools` list is read and not enforced.")
def test_4_1(box: Box) -> None:
    box.spec(fields="tools: Read\n", path=".claude/agents/demo.md")
    compiled = box.compile(".claude/agents/demo.md")
    assert any("Tools of the agent" in e.content_summary for e in compiled.inventory.elements)


# --- Modality

MODALITY: dict[str, tuple[str, str, str, str]] = {
    "5-T1": ("`claude -p` means one shot.", "Run `claude -p x`.", "synchronous_oneshot", ""),
    "5-T2": (
        "`--output-format stream-json` means streaming.",
        "Use --output-format stream-json.",
        "streaming",
        "",
    ),
    "5-T3": (
        "`--resume` and `--continue` of the product mean a conversation.",
        "Use `claude --resume`.",
        "conversational_session",
        "",
    ),
    "5-T4": (
        "`/fork` means a conversation, with a note.",
        "Branch with `/fork`.",
        "conversational_session",
        "`/fork`",
    ),
    "5-T7": ("`/loop` and CronCreate mean a schedule.", "Call CronCreate.", "scheduled", ""),
    "5-T8": ("Without a signal it is one shot.", "Do it.", "synchronous_oneshot", ""),
}
for _name, _modality in MODALITY.items():
    RULES[_name] = _modality[0]


@pytest.mark.parametrize("name", MODALITY)
def test_5_T(box: Box, name: str) -> None:
    _, body, modality, note = MODALITY[name]
    box.spec(f"\n{body}\n")
    compiled = box.compile()
    assert compiled.classification.modality == modality
    assert note in report(compiled)


@rule("5-T5", "permissionMode plan adds review_gated.")
def test_5_T5(box: Box) -> None:
    box.spec(fields="permissionMode: plan\n", path=".claude/agents/demo.md")
    assert box.compile(".claude/agents/demo.md").classification.secondary_modalities == ["review_gated"]


@rule("5-T6", "Hooks anywhere add event_triggered.")
def test_5_T6(box: Box) -> None:
    box.spec(fields="hooks:\n  Stop:\n    - hooks: [{type: command, command: x}]\n")
    assert box.compile().classification.secondary_modalities == ["event_triggered"]


@rule("5-C1", "A conversation may stream.")
def test_5_C1(box: Box) -> None:
    box.spec("\nUse `claude --resume` with --output-format stream-json.\n")
    made = box.compile().classification
    assert (made.modality, made.secondary_modalities) == ("conversational_session", ["streaming"])


@rule("5-C2", "One shot may be gated by a review.")
def test_5_C2(box: Box) -> None:
    box.spec()
    box.settings({"defaultMode": "plan"})
    made = box.compile().classification
    assert (made.modality, made.secondary_modalities) == ("synchronous_oneshot", ["review_gated"])
    assert made.warnings == []


@rule("5-C3", "A hook may start a stream.")
def test_5_C3(box: Box) -> None:
    box.spec(
        "\nUse --output-format stream-json.\n",
        "hooks:\n  SessionStart:\n    - hooks: [{type: command, command: x}]\n",
    )
    made = box.compile().classification
    assert (made.modality, made.secondary_modalities) == ("streaming", ["event_triggered"])


@rule("5-C4", "A schedule with a review is flagged.")
def test_5_C4(box: Box) -> None:
    box.spec("\nRun `/loop 5m` here.\n")
    box.settings({"defaultMode": "plan"})
    assert any("look at it by hand" in warning for warning in box.compile().classification.warnings)


@rule("5-S", "One shot, streaming and conversation have shapes of their own; the rest runs as one shot.")
def test_5_S(box: Box) -> None:
    for body, signature in (
        ("Do it.", "def run_pipeline(request: str) -> SkillResult:"),
        ("Use --output-format stream-json.", "def run_pipeline(request: str) -> Iterator[str]:"),
        ("Use `claude --resume`.", "def run_pipeline(session: MelleaSession[Any], message: str) -> str:"),
        ("Run `/loop 1h` now.", "def run_pipeline(request: str) -> SkillResult:"),
    ):
        box.spec(f"\n{body}\n")
        assert signature in text(box.compile(), "pipeline.py")


@rule("5a-T", "Of the modes only plan changes the modality.")
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "auto", "dontAsk"])
def test_5a_T(box: Box, mode: str) -> None:
    box.spec()
    box.settings({"defaultMode": mode})
    assert box.compile().classification.secondary_modalities == []


@rule("5a-1", "plan leaves the primary modality as it is.")
def test_5a_1(box: Box) -> None:
    box.spec("\nUse --output-format stream-json.\n")
    box.settings({"defaultMode": "plan"})
    assert box.compile().classification.modality == "streaming"


@rule("5b-1", "SETUP section 6 says that /loop lives in a session and what to use instead.")
def test_5b_1(box: Box) -> None:
    box.spec("\nRun `/loop 5m`.\n")
    wanted = (
        "Claude Code /loop is session-scoped. For production deployment, use an external scheduler "
        "(cron, APScheduler, cloud CronJob)."
    )
    assert wanted in text(box.compile(), "SETUP.md")
    assert "7 days, 50 tasks" in report(box.compile())


@rule("5c-1", "A mention of Routines is deferred.")
def test_5c_1(box: Box) -> None:
    test_M_41(box)


# --- Quirks


@rule(
    "6a-1'", "Settings: managed, command line, local, project, user; the product's order. Lists are joined."
)
def test_6a_1(box: Box) -> None:
    box.spec()
    box.settings({"permissions": {"deny": ["Bash(a:*)"]}})
    box.settings({"permissions": {"deny": ["Bash(b:*)"]}}, ".claude/settings.local.json")
    compiled = box.compile(HERE, "local")
    assert [rule.specifier for rule in compiled.blueprint.permissions] == ["a:*", "b:*"]
    assert "managed > command line > local > project > user" in report(compiled)
    assert "deny is judged before ask, ask before allow" in report(compiled)


@rule("6a-2'", "Every merged element says which file it came from, and the report shows it.")
def test_6a_2(box: Box) -> None:
    box.spec()
    box.settings({"permissions": {"deny": ["Bash(b:*)"]}}, ".claude/settings.local.json")
    place = ".claude/settings.local.json:1 json:permissions.deny[0] (local)"
    assert place in report(box.compile(HERE, "local"))


@rule("6b-1'", "CLAUDE.local.md is never read and never mentioned.")
def test_6b_1(box: Box) -> None:
    test_2b_T4(box)


@rule("6c-1", "All allowed tools exist; tools that the body names exist too; nothing restricts to them.")
def test_6c_1(box: Box) -> None:
    box.spec("\n```bash\nls\n```\n\nCall mcp__db__query.\n", "allowed-tools: Read\n")
    compiled = box.compile()
    assert [tool.function for tool in compiled.blueprint.tools] == ["read_file", "run_bash", "db_query"]
    assert "`allowed-tools` is not enforced." in text(compiled, "README.md")


@rule("6d-1'", "For a plugin's agent the report states what plugin agents may not use.")
def test_6d_1(box: Box) -> None:
    box.write(".claude-plugin/plugin.json", {"name": "p"})
    box.spec(path="agents/demo.md")
    assert "plugin agents may not use hooks, mcpServers or permissionMode" in report(
        box.compile("agents/demo.md")
    )


@rule("6e-1'", "Fields of the command line only (allowed-tools, shell) are listed as not reproduced.")
def test_6e_1(box: Box) -> None:
    box.spec(fields="allowed-tools: Read\nshell: bash\n")
    section = report(box.compile()).split("## 8.")[1].split("## 9.")[0]
    assert "`allowed-tools`" in section
    assert "`shell`" in section


@rule("6f-1", "Auto-compaction is not reproduced; the report says so.")
def test_6f_1(box: Box) -> None:
    box.spec("\nThis survives auto-compaction.\n")
    shown = report(box.compile())
    assert "auto-compaction: the package sends its inputs as they are" in shown
    assert "25,000 tokens for all skills, the first 5,000 of each" in shown


@rule("6g-1'", "Variables say settings.json or .env; on a clash settings.json counts.")
def test_6g_1(box: Box) -> None:
    box.spec()
    box.settings({"env": {"A": "1"}})
    box.write(".env", "A=2\nB=3\n")
    compiled = box.compile()
    assert [(e.content_full, e.source) for e in rows(compiled, "M-29")] == [
        ("A", "settings.json"),
        ("B", ".env"),
    ]
    assert "the one in settings.json counts" in report(compiled)


@rule("6h-1'", "An agent's own list of servers is recorded, not enforced.")
def test_6h_1(box: Box) -> None:
    box.spec()
    box.write(".claude/agents/o.md", "---\nname: o\ndescription: d\nmcpServers: [db]\n---\nx\n")
    assert "lists MCP servers of its own; recorded, not enforced" in report(box.compile())


@rule("6i-1'", "apiKeyHelper stands in the report and in SETUP section 2.")
def test_6i_1(box: Box) -> None:
    box.spec()
    box.settings({"apiKeyHelper": "x", "env": {"A": "1"}})
    compiled = box.compile()
    assert "`apiKeyHelper` is noted and never run." in report(compiled)
    assert "apiKeyHelper" in text(compiled, "SETUP.md").split("## 2.")[1].split("## 3.")[0]


# --- Reference output


@rule("7-1", "Places are lines of Markdown, `frontmatter.field` and `json:path`, the last with its line.")
def test_7_1(box: Box) -> None:
    box.spec()
    box.settings({"permissions": {"deny": ["Bash(x:*)"]}, "hooks": {"PreToolUse": [{"hooks": [HANDLER]}]}})
    elements = box.compile().inventory.elements
    found = {e.source_lines for e in elements}
    assert {"frontmatter.name", "json:permissions.deny[0]", "json:hooks.PreToolUse[0]", "8"} <= found
    assert all(e.line == 1 for e in elements if e.source_lines.startswith("json:"))


@rule("7-2", "The tags of the format's own example.")
def test_7_2(box: Box) -> None:
    box.spec("\n## Workflow\n\n1. Run the tool\n2. Call it again\n", "allowed-tools: Bash Read Write\n")
    box.write("CLAUDE.md", "You are the house helper.\n")
    box.settings(
        {"permissions": {"deny": ["Bash(rm -rf:*)"]}, "hooks": {"PreToolUse": [{"hooks": [HANDLER]}]}}
    )
    kinds = {(e.row, e.tag, e.category) for e in box.compile().inventory.elements}
    assert {
        ("M-23", "CONFIG", "C1"),
        ("M-02", "CONFIG", "C1"),
        ("M-07", "TOOL_TEMPLATE", "C6"),
        ("M-21", "ORCHESTRATE", "C2"),
        ("M-28", "VALIDATE_OUTPUT", "C2"),
        ("M-30", "ORCHESTRATE", "C9"),
    } <= kinds


@rule("7-3", "The targets of the format's own example.")
def test_7_3(box: Box) -> None:
    box.spec("\n## Workflow\n\n1. Run the tool\n2. Call it again\n", "allowed-tools: Bash Read Write\n")
    box.write("CLAUDE.md", "You are the house helper.\n")
    box.settings(
        {"permissions": {"deny": ["Bash(rm -rf:*)"]}, "hooks": {"PreToolUse": [{"hooks": [HANDLER]}]}}
    )
    compiled = box.compile()
    found = {(m.final_target_file, m.target_symbol, m.primitive) for m in compiled.mappings}
    assert {
        ("config.py", "PREFIX_TEXT", "bundle"),
        ("config.py", "AGENT_DESCRIPTION", "bundle"),
        ("constrained_slots.py", "run_bash", "stub"),
        ("pipeline.py", "step_01_run_the_tool", "orchestrate"),
        ("requirements.py", "OPERATING_REQUIREMENTS", "requirement"),
        ("handlers/pre_tool_use.py", "handle_pre_tool_use", "delegate"),
    } <= found


@rule(
    "7-N1", "Constructs that are not reproduced are listed: fork, /loop, auto-compaction, plan, marketplaces."
)
def test_7_N1(box: Box) -> None:
    box.spec("\nRun `/loop 5m`.\n", "context: fork\n")
    box.settings({"defaultMode": "plan"})
    box.write(".claude-plugin/marketplace.json", {"name": "m"})
    section = report(box.compile()).split("## 8.")[1].split("## 9.")[0]
    for word in ("context: fork", "/loop", "auto-compaction", "defaultMode: plan", "marketplace.json"):
        assert word in section


@rule("7-N2", "The merge order is noted exactly when settings.local.json exists, with what was overridden.")
def test_7_N2(box: Box) -> None:
    box.spec()
    box.settings({"model": "a"})
    assert "### Settings merge order" not in report(box.compile())
    box.settings({"model": "b"}, ".claude/settings.local.json")
    shown = report(box.compile(HERE, "local"))
    assert "### Settings merge order" in shown
    assert "`model` of .claude/settings.json is overridden by .claude/settings.local.json" in shown


@rule("7-N3", "The CLAUDE.md files above that were read are listed.")
def test_7_N3(box: Box) -> None:
    box.spec(path="a/SKILL.md")
    box.write("CLAUDE.md", "x\n")
    box.write("a/CLAUDE.md", "y\n")
    section = report(box.compile("a/SKILL.md")).split("### Upward-walking CLAUDE.md")[1].split("###")[0]
    assert section.split() == ["-", "CLAUDE.md", "-", "a/CLAUDE.md"]


@rule("7-N4", "The hooks that were found are listed as delegated.")
def test_7_N4(box: Box) -> None:
    box.spec()
    box.settings({"hooks": {"Stop": [{"hooks": [HANDLER]}]}})
    assert "- Stop (.claude/settings.json:1): left to the host" in report(box.compile())


# --- Deferred

DEFERRALS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "8-1": ("Agents are not expanded.", "", {".claude/agents/o.md": "x"}, "Subagents are not expanded"),
    "8-2": (
        "No plugin bundle is written.",
        "",
        {".claude-plugin/plugin.json": {"name": "p"}},
        "no plugin bundle",
    ),
    "8-3": ("Marketplaces are noted.", "", {".claude-plugin/marketplace.json": {}}, "Marketplace manifests"),
    "8-4": (
        "Other skills and agents are not resolved.",
        "Use the Task tool.",
        {},
        "References to other skills",
    ),
    "8-5": ("Forked contexts are not reproduced.", "context: fork", {}, "`context: fork` has no counterpart"),
    "8-6": ("Added directories are not read.", "Use --add-dir ../x.", {}, "--add-dir are not read"),
    "8-7": ("Routines are not reproduced.", "Use Claude Routines.", {}, "Routines are managed"),
    "8-8": ("Auto-compaction is not reproduced.", "Survives auto-compaction.", {}, "Auto-compaction ("),
    "8-9": ("apiKeyHelper is not run.", "", {".claude/settings.json": {"apiKeyHelper": "x"}}, "never run"),
    "8-10": (
        "Permission rules are honoured in part: deny enforced, ask a slot, allow prose.",
        "",
        {".claude/settings.json": {"permissions": {"deny": ["Read"]}}},
        "deny is enforced by the guard",
    ),
}
for _name, _deferral in DEFERRALS.items():
    RULES[_name] = f"{_deferral[0]} The report says so when it is met."


@pytest.mark.parametrize("name", DEFERRALS)
def test_8(box: Box, name: str) -> None:
    _, body, files, said = DEFERRALS[name]
    fields = "context: fork\n" if body == "context: fork" else ""
    box.spec(f"\n{body or 'Do it.'}\n", fields)
    for path, content in files.items():
        box.write(path, content)
    assert said in report(box.compile()).split("## 9.")[1]
