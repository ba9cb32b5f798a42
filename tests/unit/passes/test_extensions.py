from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest

from checkrein.base.errors import UsageError
from checkrein.deploy.sources import source
from checkrein.passes.extensions import installed_dialects, installed_tools
from checkrein.passes.findings import check
from checkrein.passes.load import load
from checkrein.passes.tools import added_tools

Tree = Callable[[Mapping[str, str]], Path]
_numbers = count()

DIALECT = """
from checkrein import Dialect, Origin
from checkrein.facts.agents import Files
from checkrein.model.items import Instruction
from checkrein.model.project import Sources

def read(tree, root):
    {body}
    return Sources(instructions=tuple(
        Instruction(name=path, origin=Origin(f"{{root}}/{{path}}", "project"), kind="memory", text=text)
        for path, text in tree.items()
    ))

VALUE = Dialect(name="{name}", label="Acme", files=Files(instruction=("ACME.md",)), read=read)
"""
TOOL = """
from checkrein import Tool, ToolDeclaration

VALUE = Tool(
    declaration=ToolDeclaration(name="{name}", schema={{}}, description="Acme."),
    work=lambda input, context: None,
)
"""
SCHEMA = TOOL.replace("schema={{}}", "schema={schema}").replace("{name}", "Acme")


@pytest.fixture
def install(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Put a package with one entry point on the path; gives the directory beside it."""

    def make(group: str, text: str) -> Path:
        module = f"acme_extension_{next(_numbers)}"
        declared = f"[checkrein.{group}]\nx = {module}:VALUE\n"
        root = tree(
            {
                f"packages/{module}.py": text,
                f"packages/{module}-1.dist-info/entry_points.txt": declared,
                "p/.git/": "",
                "p/ACME.md": "Be good.\n",
            }
        )
        monkeypatch.syspath_prepend(str(root / "packages"))
        monkeypatch.chdir(root / "p")
        return root

    return make


Install = Callable[[str, str], Path]


def test_a_dialect_is_read_and_kept_apart(install: Install) -> None:
    root = install("dialects", DIALECT.format(name="acme", body="pass"))
    project = load(root / "p", env={}, home=str(root / "home"))
    assert [item.text for item in project.others["acme"].instructions] == ["Be good.\n"]
    assert project.instructions == ()
    files, _ = source("acme", str(root / "p"))
    assert files.instruction == ("ACME.md",)


def test_a_reader_that_raises_is_a_finding(install: Install) -> None:
    root = install("dialects", DIALECT.format(name="acme", body="raise KeyError('x')"))
    found = check(load(root / "p", env={}, home=str(root / "home")))
    assert [one.code for one in found] == ["EXT001"]
    assert "KeyError" in found[0].message


@pytest.mark.parametrize("name", ["codex", "cursor-agent", "claude", "agents_md"])
def test_ours_can_not_be_replaced(install: Install, name: str) -> None:
    install("dialects", DIALECT.format(name=name, body="pass"))
    found = installed_dialects()
    assert found.added == ()
    assert "exists already" in found.problems[0].message


def test_a_dialect_that_nobody_installed(tree: Tree) -> None:
    with pytest.raises(UsageError):
        source("acme")


@pytest.mark.parametrize(
    ("text", "names", "problem"),
    [
        (TOOL.format(name="Acme"), ["Acme"], None),
        (TOOL.format(name="Bash"), [], "exists already"),
        ("from checkrein import Tool\nVALUE = Tool", [], "does not name a tool"),
        ("VALUE = 1", [], "does not name a tool"),
        (
            TOOL.format(name="Acme")
            + "VALUE = __import__('msgspec').structs.replace(VALUE, aliases=('Task',))",
            [],
            "`Task` exists already",
        ),
        (
            TOOL.format(name="Acme") + "import msgspec\nfrom checkrein import effects\nclass Other:\n"
            "    name = 'Acme'; eager = read_only = False; aliases = (); declaration = VALUE.declaration\n"
            "    meaning = effects('Read'); run = None\nVALUE = Other()",
            [],
            "effects are not those of its name",
        ),
        ("", [], "AttributeError"),
    ],
)
def test_tools(install: Install, text: str, names: list[str], problem: str | None) -> None:
    install("tools", text)
    found = installed_tools()
    assert [one.name for one in found.added] == names
    assert [problem in one.message for one in found.problems] == ([True] if problem else [])


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({"properties": {"a": {"type": "string"}}}, "a"),
        ({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}, "b"),
        ({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"]}, "a"),
        ({"properties": {"a": {}, "b": {}}}, None),
        ({"properties": ["a"], "required": 3}, None),
        ({"properties": {"a": 1}, "required": "a"}, "a"),
        ({}, None),
    ],
)
def test_the_field_that_a_text_fills(install: Install, schema: object, field: str | None) -> None:
    install("tools", SCHEMA.format(schema=schema))
    assert added_tools().main_field("Acme") == field
    assert added_tools().main_field("Other") is None
