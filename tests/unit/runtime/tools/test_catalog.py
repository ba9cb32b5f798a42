from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.tools import catalog
from checkrein.runtime.tools.catalog import builtin_tools, find
from checkrein.runtime.tools.declarations import TOOLS
from checkrein.runtime.tools.validate import coerce

Desk = Any
HERE = Path(catalog.__file__).parent


def test_the_eager_tools_are_small() -> None:
    eager = [tool.declaration for tool in builtin_tools() if tool.eager]
    assert [tool.name for tool in eager] == [
        "Bash",
        "Read",
        "Write",
        "Edit",
        "Glob",
        "Grep",
        "TodoWrite",
        "Agent",
    ]
    wire = [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in eager]
    assert len(json.dumps(wire, separators=(",", ":")).encode()) < 5_200
    assert all(len(tool.description.encode()) <= 450 for tool in eager)


@pytest.mark.parametrize("entry", TOOLS, ids=lambda entry: entry.name)
def test_every_tool_has_its_parts(entry: Any) -> None:
    module, _, function = entry.place.partition(":")
    assert callable(getattr(import_module(f"checkrein.runtime.tools.{module}"), function))
    assert catalog.describe(entry.name)
    assert set(entry.schema.get("required", ())) <= set(entry.schema["properties"])


def test_no_description_is_left_over() -> None:
    assert {path.stem for path in HERE.glob("*.md")} == {entry.name for entry in TOOLS}


def test_former_names_lead_to_the_tool() -> None:
    for former, name in (("BashOutput", "TaskOutput"), ("KillShell", "TaskStop"), ("NotebookRead", "Read")):
        tool = find(former)
        assert tool is not None
        assert tool.name == name
    assert find("Nothing") is None


def test_documented_inputs() -> None:
    fields = {entry.name: set(entry.schema["properties"]) for entry in TOOLS}
    assert fields["Bash"] == {
        "command",
        "timeout",
        "description",
        "run_in_background",
        "dangerouslyDisableSandbox",
    }
    grep = {"pattern", "path", "glob", "type", "output_mode", "-i", "-n", "-o", "-A", "-B", "-C"}
    assert fields["Grep"] == grep | {"context", "head_limit", "offset", "multiline"}
    assert fields["NotebookEdit"] == {"notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"}
    required = {entry.name: entry.schema.get("required") for entry in TOOLS}
    assert required["Edit"] == ["file_path", "old_string", "new_string"]
    assert required["TaskCreate"] == ["subject", "description"]


def test_declarations_import_no_implementation() -> None:
    code = (
        "import sys\n"
        "from checkrein.runtime.tools.catalog import builtin_tools\n"
        "[tool.declaration for tool in builtin_tools()]\n"
        "ours = {m for m in sys.modules if m.startswith('checkrein.runtime.tools.')}\n"
        "heavy = {'subprocess', 'http.client', 'difflib', 'asyncio'} & set(sys.modules)\n"
        "print(sorted(m.rpartition('.')[2] for m in ours), sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['catalog', 'declarations', 'port'] []\n"


def test_bash_alone_imports_no_other_tool(desk: Desk) -> None:
    code = (
        "import sys\n"
        "from checkrein.runtime.tools import bash\n"
        "print(sorted({'shlex', 'difflib', 'http', 'ctypes', 'json'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def declaration(name: str) -> Any:
    tool = find(name)
    assert tool is not None
    return tool.declaration


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"command": "x", "timeout": "5000"}, {"command": "x", "timeout": 5000}),
        ({"command": "x", "timeout": 5000.0}, {"command": "x", "timeout": 5000}),
        ({"command": "x", "timeout": None}, {"command": "x"}),
        ({"command": "x", "run_in_background": "True"}, {"command": "x", "run_in_background": True}),
        ({"command": 5}, {"command": "5"}),
        ({"command": "x", "unknown": [1]}, {"command": "x", "unknown": [1]}),
    ],
)
def test_what_is_meant_is_taken(given: dict[str, Any], taken: dict[str, Any]) -> None:
    assert coerce(declaration("Bash"), given) == (taken, None)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("Bash", {}, "command is missing"),
        ("Bash", {"command": None}, "command is missing"),
        ("Bash", {"command": ["a"]}, "command must be text"),
        ("Bash", {"command": True}, "command must be text"),
        ("Bash", {"command": "x", "timeout": "soon"}, "timeout must be a whole number, not 'soon'"),
        ("Bash", {"command": "x", "timeout": 1.5}, "timeout must be a whole number"),
        ("Bash", {"command": "x", "timeout": True}, "timeout must be a whole number"),
        ("Bash", {"command": "x", "run_in_background": "maybe"}, "must be true or false"),
        ("Grep", {"pattern": "x", "output_mode": "lines"}, "must be one of 'content'"),
        ("TodoWrite", {"todos": "many"}, "todos must be a list"),
        ("TodoWrite", {"todos": [{"content": "a"}]}, "todos[0].status is missing"),
        ("AskUserQuestion", {"questions": []}, "1 to 4 entries"),
    ],
)
def test_what_is_wrong_is_said(name: str, given: dict[str, Any], said: str) -> None:
    problem = coerce(declaration(name), given)[1]
    assert problem is not None
    assert said in problem


def test_a_list_written_as_text_is_read() -> None:
    todo = {"content": "a", "status": "pending", "activeForm": "b"}
    assert coerce(declaration("TodoWrite"), {"todos": json.dumps([todo])}) == ({"todos": [todo]}, None)
