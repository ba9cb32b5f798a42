"""Whole packages: shapes, hostile specs, stale and edited output, decisions, other runtimes."""

from __future__ import annotations

import ast
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError, PolicyError, UsageError
from checkrein.compile.artifacts import ARTIFACTS, make_schema
from checkrein.compile.lint import lint
from checkrein.compile.package import Compiled, Options, compile_spec
from checkrein.compile.plan import Override, read_overrides
from checkrein.compile.write import compare, write
from checkrein.passes.load import load
from checkrein.runtime.trust import trust

SETTINGS: dict[str, Any] = {
    "permissions": {
        "deny": ["Bash(rm:*)", "Read(./.env)", "WebFetch(domain:evil.com)"],
        "ask": ["Bash(git push:*)"],
        "allow": ["Bash(ls:*)"],
        "defaultMode": "plan",
    },
    "env": {"SERVICE_TOKEN": "sk-ant-" + "q9W8" * 8},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]},
    "mcpServers": {"db": {"command": "x", "env": {"PASSWORD": "hunter2hunter2"}}},
}
BODY = """
# Class

You are careful.

## Process

1. Read the input
2. Classify the issue:
   - **High**: bad
   - **Low**: fine
3. If it is bad, stop
4. Check the result
5. Fix all issues and re-run until all tests pass
6. Ask the user for approval
7. Write the report

## Output

- Keep the response under 200 words
- The report must include `Summary`
- Never use emojis in the output

```json
{"class": "x", "items": [{"file-name": "a", "n": 1}], "any": null}
```

```bash
git log
```
"""
FIELDS = (
    "allowed-tools: Bash(git log:*) Read Write(src/**) WebFetch(domain:*.example.com) mcp__db__query\n"
    "argument-hint: '[target] [class] [json]'\nuser-invocable: true\nmodel: opus\neffort: high\nshell: bash\n"
    "compatibility: Linux\nmetadata: {version: '2.1', author: Ada}\nlicense: MIT\n"
)


def project(base: Path, body: str = BODY, name: str = "class", fields: str = FIELDS) -> Path:
    root = base / "project"
    path = root / ".claude" / "skills" / "demo" / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    (root / ".git").mkdir(exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: Does a thing.\n{fields}---\n{body}", encoding="utf-8")
    (root / ".claude" / "settings.json").write_text(json.dumps(SETTINGS))
    return path


def build(path: Path, **options: Any) -> Compiled:
    return compile_spec(path, Options(**options), env={"HOME": str(path.parents[4] / "home")})


def python_files(compiled: Compiled) -> dict[str, str]:
    return {path: data.decode() for path, data in compiled.files.items() if path.endswith(".py")}


SHAPES = {
    "oneshot": BODY,
    "streaming": BODY + "\nUse --output-format stream-json.\n",
    "conversation": BODY + "\nUse `claude --resume`. Keep notes in MEMORY.md.\n",
    "scheduled": BODY + "\nRun `/loop 5m` on it.\n",
    "knowledge": "\n# Tea\n\nTea is hot.\n",
    "closed": BODY.replace("7. Write the report", "7. Check the report"),
    "closed stream": BODY.replace("7. Write the report", "7. Check it")
    + "\nUse --output-format stream-json.\n",
}


@pytest.mark.parametrize("name", ["class", "a-name-" * 11 + "end"], ids=["short", "long"])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_formatted_and_linted(tmp_path: Path, shape: str, name: str) -> None:
    compiled = build(project(tmp_path, SHAPES[shape], name=name), host="local")
    assert [one for one in compiled.lints if one.verdict == "fail"] == []
    write(tmp_path / "out", compiled.package, compiled.files)
    ruff = shutil.which(
        "ruff", path=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
    )
    if ruff is None:
        pytest.skip("ruff is not installed")
    for command in (["format", "--diff"], ["check", "--select", "E9,F,I"]):
        done = subprocess.run(
            [ruff, *command, str(tmp_path / "out")], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def removed(source: str) -> list[tuple[str, str]]:
    """What a module is without each of its constants, each of their elements and each call of the guard."""
    lines = source.split("\n")
    found: list[tuple[str, str]] = []

    def without(name: str, first: int, last: int, instead: list[str] | None = None) -> None:
        found.append((name, "\n".join([*lines[: first - 1], *(instead or []), *lines[last:]])))

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and "GUARD.check" in ast.unparse(node):
            indent = " " * node.col_offset
            without(f"line {node.lineno}", node.lineno, node.end_lineno or 0, [f"{indent}pass"])
        if not isinstance(node, ast.AnnAssign) or not ast.unparse(node.target).isupper():
            continue
        named = ast.unparse(node.target)
        without(named, node.lineno, node.end_lineno or 0)
        value = node.value
        inside: list[tuple[ast.expr | None, ast.expr]] = []
        if isinstance(value, ast.Tuple | ast.List):
            inside = [(one, one) for one in value.elts]
        elif isinstance(value, ast.Dict):
            inside = list(zip(value.keys, value.values, strict=True))
        elif isinstance(value, ast.Call):
            inside = [
                (one, one)
                for key in value.keywords
                if isinstance(key.value, ast.Tuple)
                for one in key.value.elts
            ]
        for number, (first, last) in enumerate(inside):
            if first is not None and first.lineno > node.lineno:
                without(f"{named}[{number}]", first.lineno, last.end_lineno or 0)
    return found


@pytest.mark.untraced
def test_a_package_notices_whatever_is_removed(tmp_path: Path) -> None:
    """Every constant, every element of one, every requirement, every rule and call of the guard: some of each
    file in CI, all with CHECKREIN_CAMPAIGN=1."""
    pytest.importorskip("pydantic")
    compiled = build(project(tmp_path))
    write(tmp_path / "out", compiled.package, compiled.files)
    package = tmp_path / "out" / compiled.package
    changed = [
        (file, name, text)
        for file in ("config.py", "requirements.py", "constrained_slots.py")
        for name, text in removed((package / file).read_text())
    ]
    assert len(changed) > 20
    assert {"GUARD", "OPERATING_REQUIREMENTS", "PREFIX_TEXT"} <= {name for _, name, _ in changed}

    def passes(file: str, text: str) -> bool:
        out = tmp_path / f"out_{threading.get_ident()}"
        shutil.copytree(tmp_path / "out", out, dirs_exist_ok=True)
        (out / compiled.package / file).write_text(text)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "tests/test_package.py",
        ]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return (
            subprocess.run(command, cwd=out, capture_output=True, check=False, env=environment).returncode
            == 0
        )

    if os.environ.get("CHECKREIN_CAMPAIGN") != "1":
        changed = random.Random(24).sample(changed, 10)
    assert passes("config.py", (package / "config.py").read_text())
    with ThreadPoolExecutor(2) as pool:
        survived = pool.map(lambda one: (one[:2], passes(one[0], one[2])), changed)
        assert [name for name, passed in survived if passed] == []


def test_modules_without_the_library_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = build(project(tmp_path, name="import-me"))
    write(tmp_path / "out", compiled.package, compiled.files)
    monkeypatch.syspath_prepend(str(tmp_path / "out"))
    for module in (
        "config",
        "guards",
        "constrained_slots",
        "requirements",
        "fixtures",
        "handlers.pre_tool_use",
    ):
        importlib.import_module(f"{compiled.package}.{module}")
    slots = importlib.import_module(f"{compiled.package}.constrained_slots")
    made: list[str] = []
    slots.provide("run_bash", lambda command: made.append(command) or "done")
    slots.provide("confirm_action", lambda tool, argument: False)
    assert "is refused" in slots.call("run_bash", {"command": "rm -rf /"})
    assert "was not confirmed" in slots.call("run_bash", {"command": "git push"})
    assert slots.call("run_bash", {"command": "git log"}) == "run_bash: done"
    assert made == ["git log"]
    assert "does not supply" in slots.call("read_file", {"path": "x"})


def test_the_local_host_goes_through_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project(tmp_path, name="local-host")
    compiled = build(path, host="local")
    assert '"checkrein>=0.1"' in compiled.files["pyproject.toml"].decode()
    write(tmp_path / "out", compiled.package, compiled.files)
    monkeypatch.syspath_prepend(str(tmp_path / "out"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    host_local = importlib.import_module(f"{compiled.package}.host_local")
    slots = importlib.import_module(f"{compiled.package}.constrained_slots")
    root = path.parents[3]
    (root / "note.txt").write_text("hello")
    host_local.install(str(root))
    assert "checkrein trust" in slots.call("run_bash", {"command": "cat note.txt"}), "its hook is not heard"
    trust(load(root))
    host_local.install(str(root))
    assert slots.call("read_file", {"path": "note.txt"}) == "read_file: hello"
    assert "hello" in slots.call("run_bash", {"command": "cat note.txt"})
    assert "refused" in slots.call("run_bash", {"command": "touch made.txt"})
    assert not (root / "made.txt").exists()
    assert "refused" in slots.call("read_file", {"path": "../../../etc/passwd"})


HOSTILE = {
    "keyword": ("class", "x"),
    "quotes": ('"a\\"\'\'b"', "He said \"\"\" and ''' \\ \\n \\x41 {{ x }} {% y %} \x07 \u202e"),
    "traversal": ("../../etc/passwd", "@../../../../etc/passwd\n\n@/etc/passwd\n\n@~/.ssh/id_rsa"),
    "unicode": ("日本語", "漢字 🙂 é ﷽"),
    "digits": ("123", "1. Run \"\"\"\n2. Write \\\\\n3. Check '''"),
    "empty": ("''", ""),
    "newline": ('"a\\nimport os\\nos.system(1)"', "x"),
    "toml": ('"x]\\n[tool.evil]"', "x"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_specs_give_sound_packages(tmp_path: Path, case: str) -> None:
    import tomllib

    name, body = HOSTILE[case]
    compiled = build(project(tmp_path, f"\n{body}\n", name))
    assert [one for one in compiled.lints if one.verdict == "fail"] == []
    assert compiled.package.isidentifier()
    for text in python_files(compiled).values():
        ast.parse(text)
    parsed = tomllib.loads(compiled.files["pyproject.toml"].decode())
    assert "evil" not in parsed["tool"]
    for path in compiled.files:
        assert ".." not in Path(path).parts
        assert not os.path.isabs(path)
    config = ast.parse(python_files(compiled)[f"{compiled.package}/config.py"])
    for node in config.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            ast.literal_eval(node.value)
    assert not any(b"root:x:0:0" in data for data in compiled.files.values())


def test_texts_come_through_unchanged(tmp_path: Path) -> None:
    body = 'You are "x" \\ and \'y\' """ z\\x41 \t {{ a }}.'
    compiled = build(project(tmp_path, f"\n{body}\n"))
    tree = ast.parse(python_files(compiled)[f"{compiled.package}/config.py"])
    values = {
        n.target.id: n.value
        for n in tree.body
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    value = values["PREFIX_TEXT"]
    assert value is not None
    assert ast.literal_eval(value) == body.strip()


def test_large_bodies(tmp_path: Path) -> None:
    body = "\n# Big\n\n## Process\n\n" + "".join(
        f'{n}. Run step {n} """ {"x" * 300}\n' for n in range(1, 300)
    )
    compiled = build(project(tmp_path, body))
    assert len(compiled.blueprint.steps) == 299
    assert compiled.inventory.coverage.coverage_ratio == 1.0


def test_no_secret_reaches_a_file(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4" * 5
    path = project(
        tmp_path, f"\nUse {key} here.\n", fields=f"metadata: {{token: {key}}}\ncompatibility: '{key}'\n"
    )
    scripts = path.parent / "scripts"
    scripts.mkdir()
    (scripts / "a.sh").write_text(f"curl -H {key}\n")
    (scripts / "b.sh").write_text("true\n")
    (path.parents[3] / ".env").write_text(f"GITHUB_TOKEN={key}\n")
    compiled = build(path, scopes=("project", "local", "user"))
    for name, data in compiled.files.items():
        assert key.encode() not in data, name
        assert b"sk-ant-q9" not in data, name
        assert b"hunter2" not in data, name
    assert f"{compiled.package}/scripts/b.sh" in compiled.files
    assert f"{compiled.package}/scripts/a.sh" not in compiled.files
    assert "GITHUB_TOKEN=\n" in compiled.files[".env.example"].decode()


def test_two_runs_and_a_move_give_the_same_bytes(tmp_path: Path) -> None:
    path = project(tmp_path)
    first = build(path).files
    assert build(path).files == first
    moved = tmp_path / "elsewhere" / "deep"
    moved.mkdir(parents=True)
    shutil.move(str(tmp_path / "project"), str(moved / "project"))
    again = compile_spec(
        moved / "project" / ".claude" / "skills" / "demo" / "SKILL.md", env={"HOME": str(tmp_path / "home")}
    )
    assert again.files == first
    assert not any(str(tmp_path).encode() in data for data in first.values())


def test_edited_files_are_kept_and_nothing_is_deleted(tmp_path: Path) -> None:
    path, out = project(tmp_path), tmp_path / "out"
    compiled = build(path)
    write(out, compiled.package, compiled.files)
    assert {change.action for change in compare(out, compiled.package, compiled.files)} == {"unchanged"}
    edited = out / compiled.package / "pipeline.py"
    edited.write_text("# mine\n")
    with pytest.raises(PolicyError) as caught:
        write(out, compiled.package, compiled.files)
    assert caught.value.kind == "output_conflict"
    assert edited.read_text() == "# mine\n"
    write(out, compiled.package, compiled.files, force=True)
    assert "run_pipeline" in edited.read_text()
    shorter = build(project(tmp_path, "\nYou are kind.\n", fields=""))
    changes = write(out, shorter.package, shorter.files)
    left = [change.path for change in changes if change.action == "left"]
    assert left
    assert all((out / path).exists() for path in left)


def test_links_below_the_output_are_refused(tmp_path: Path) -> None:
    compiled = build(project(tmp_path))
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.mkdir()
    (out / compiled.package).symlink_to(other)
    with pytest.raises(PolicyError):
        write(out, compiled.package, compiled.files, force=True)
    assert list(other.iterdir()) == []


def test_companions_travel_without_links(tmp_path: Path) -> None:
    path = project(tmp_path)
    (path.parent / "references").mkdir()
    (path.parent / "references" / "a.md").write_text("Fact.\n")
    (path.parent / "references" / "out.md").symlink_to("/etc/passwd")
    (path.parent / "LICENSE").write_text("MIT License\n")
    compiled = build(path)
    assert compiled.files[f"{compiled.package}/references/a.md"] == b"Fact.\n"
    assert f"{compiled.package}/references/out.md" not in compiled.files
    assert compiled.files["LICENSE"] == b"MIT License\n"


def test_decisions(tmp_path: Path) -> None:
    path = project(tmp_path)
    with pytest.raises(PolicyError) as caught:
        build(path, mode="strict")
    assert caught.value.kind == "strict_halt"
    mocked = build(path, overrides=(Override("C6:constrained_slots.py:db_query", "mock", "offline"),))
    assert f"{mocked.package}/fixtures/mock_tools.py" in mocked.files
    loaded = build(path, overrides=(Override("C1:config.py:PREFIX_TEXT", "load_from_disk", "long"),))
    assert (
        loaded.files[f"{loaded.package}/references/compiled/prefix_text.md"].decode().strip()
        == "You are careful."
    )
    with pytest.raises(UsageError):
        build(path, overrides=(Override("C9:nowhere", "remove"),))
    with pytest.raises(UsageError):
        build(path, overrides=(Override("C2:requirements.py:OPERATING_REQUIREMENTS", "remove"),))
    bad = tmp_path / "bad.json"
    bad.write_text('{"overrides": [{"signal": "x", "disposition": "nonsense"}]}')
    with pytest.raises(UsageError):
        read_overrides(str(bad))


def test_artifacts_fit_their_schemas(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    compiled = build(project(tmp_path))
    for name in ARTIFACTS:
        if name == "model_advice.json":  # only with a model; test_advice.py
            continue
        path = f"{compiled.package}/{name}"
        data = compiled.files.get(path) or compiled.files[f"{compiled.package}/intermediate/{name}"]
        jsonschema.Draft202012Validator(make_schema(name)).validate(json.loads(data))


INNER = "def _x() -> None:\n    from mellea import nothing\n\n\n"
UNJUDGED = '    print("GUARD.check(")  # GUARD.check('


@pytest.mark.parametrize(
    ("path", "old", "new", "found"),
    [
        ("tests/mock_model.py", "def ", "def (", "parseable"),
        ("tests/mock_model.py", "class ", f"{INNER}class ", "import-soundness"),
        ("tests/test_run.py", "def ", f"{INNER}def ", "import-soundness"),
        ("{}/config.py", "MAX_ATTEMPTS: Final[int] = 2", "A = (1, [Boom(1)])", "import-side-effects"),
        ("{}/constrained_slots.py", "    GUARD.check(", UNJUDGED, "guard-before-host"),
    ],
)
def test_lints_read_what_is_not_as_it_was_written(
    tmp_path: Path, path: str, old: str, new: str, found: str
) -> None:
    """Modules that are the same in every package are read as soon as they differ, and inner lines always."""
    compiled = build(project(tmp_path))
    name = path.format(compiled.package)
    text = compiled.files[name].decode()
    assert old in text
    files = {**compiled.files, name: text.replace(old, new, 1).encode()}
    made = lint(compiled.package, files, compiled.inventory.elements, compiled.mappings)
    assert found in {one.lint_id for one in made if one.verdict == "fail"}


def test_what_is_no_spec(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        compile_spec(tmp_path / "nothing.md", env={"HOME": str(tmp_path)})
    empty = tmp_path / "SKILL.md"
    empty.write_text("")
    compiled = compile_spec(empty, env={"HOME": str(tmp_path / "none")})
    assert any("says nothing" in warning for warning in compiled.warnings)
    assert len(compiled.blueprint.steps) == 1


FOREIGN: dict[str, tuple[dict[str, str], str, int]] = {
    "openclaw": (
        {
            "SOUL.md": "# Soul\n\nYou are Ada.\n",
            "AGENTS.md": "# Rules\n\nNever shout.\n",
            "HEARTBEAT.md": "Look at the queue.\n",
            "openclaw.json": '{"agents": {"defaults": {"heartbeat": {"every": "30m"}}}}',
        },
        "heartbeat",
        1,
    ),
    "letta": (
        {
            "agent.af": json.dumps(
                {
                    "agent_type": "memgpt_agent",
                    "core_memory": [
                        {"label": "persona", "value": "I am Ada."},
                        {"label": "human", "value": "Bob"},
                    ],
                    "tools": [{"name": "send_message"}],
                    "tool_exec_environment_variables": [{"key": "API_TOKEN", "value": "hunter2hunter2"}],
                }
            ),
            "letta.config.yaml": "x: 1\n",
        },
        "conversational_session",
        1,
    ),
    "crewai": (
        {
            "crew.py": "from crewai import Crew\n@CrewBase\nclass X: ...\n",
            "config/agents.yaml": "ada:\n  role: Writer\n  goal: Write\n  backstory: Long\n",
            "config/tasks.yaml": "plan:\n  description: Plan it\n  agent: ada\n"
            "write:\n  description: Write it\n  agent: bob\n",
        },
        "synchronous_oneshot",
        2,
    ),
    "langgraph": (
        {
            "graph.py": 'from langgraph.graph import StateGraph\n\ndef plan(s):\n    """Plan it."""\n\n'
            'g = StateGraph(dict)\ng.add_node("plan", plan)\ng.add_node("act", plan)\n',
            "langgraph.json": "{}",
        },
        "synchronous_oneshot",
        2,
    ),
    "autogen": (
        {
            "a.py": "from autogen import AssistantAgent\nOAI_CONFIG_LIST=1\n"
            'x = AssistantAgent(name="ada", system_message="Be kind.")\n'
        },
        "synchronous_oneshot",
        1,
    ),
    "openai_agents_sdk": (
        {
            "a.py": "from agents import Agent, Runner\n@function_tool\ndef look(): ...\n"
            'x = Agent(name="ada", instructions="Be kind.")\nRunner.run_sync(x)\n'
        },
        "synchronous_oneshot",
        1,
    ),
    "smolagents": (
        {
            "a.py": "from smolagents import CodeAgent\n"
            'x = CodeAgent(tools=[], additional_authorized_imports=["numpy"])\n'
        },
        "synchronous_oneshot",
        1,
    ),
}


@pytest.mark.parametrize("dialect", FOREIGN)
def test_other_runtimes_are_read(tmp_path: Path, dialect: str) -> None:
    files, modality, steps = FOREIGN[dialect]
    root = tmp_path / "agent"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    compiled = compile_spec(root, env={"HOME": str(tmp_path / "home")})
    assert compiled.classification.source_runtime == dialect
    assert compiled.classification.modality == modality
    assert len(compiled.blueprint.steps) == steps
    assert [one for one in compiled.lints if one.verdict == "fail"] == []
    assert not any(b"hunter2" in data for data in compiled.files.values())
    for text in python_files(compiled).values():
        ast.parse(text)
    report = compiled.files[f"{compiled.package}/mapping_report.md"].decode()
    assert dialect in report.split("## 8.")[1]


def test_a_named_runtime_skips_detection(tmp_path: Path) -> None:
    path = project(tmp_path)
    compiled = build(path, runtime="agent_skills_std")
    assert compiled.classification.source_runtime == "agent_skills_std"
    assert compiled.classification.source_runtime_override == "agent_skills_std"


def test_inputs_of_the_text_become_parameters(tmp_path: Path) -> None:
    body = "\n# X\n\n## Inputs\n\n- `${input:ProblemSummary}`\n- `${input:class}` (optional)\n"
    compiled = build(project(tmp_path, body, fields=""))
    assert [one.name for one in compiled.blueprint.parameters] == ["problemsummary", "class_"]


def test_no_input_takes_a_name_of_the_pipeline(tmp_path: Path) -> None:
    names = (
        "given",
        "step",
        "steps",
        "m",
        "run",
        "request",
        "config",
        "slots",
        "Run",
        "STEPS",
        "print",
        "class",
    )
    body = "\n# X\n\n## Inputs\n\n" + "".join(f"- `{name}`: what is given\n" for name in names)
    made = build(project(tmp_path, body, fields=""))
    module = ast.parse(made.files[f"{made.package}/pipeline.py"].decode())
    run = next(n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == "run_pipeline")
    arguments = [argument.arg for argument in run.args.args]
    assert len(arguments) == len(names) + 1
    assigned = {n.id for n in ast.walk(run) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id for n in ast.walk(run) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert not assigned & set(arguments)
    assert not {"Run", "STEPS", "open_session", "config"} & set(arguments)
    assert set(arguments) <= used


def test_broken_files_are_no_errors(tmp_path: Path) -> None:
    path = project(tmp_path, fields="metadata: [unclosed\n")
    (path.parents[3] / ".claude" / "settings.json").write_text("{broken")
    (path.parents[3] / ".mcp.json").write_text("[]")
    compiled = build(path)
    assert compiled.diagnostics


@pytest.mark.parametrize(
    ("description", "request_text"),
    [
        ('Reviews pages. Use for "review the design" or "x".', "review the design"),
        ("Cleans exports in CSV form. Use when asked.", "Please do this: Cleans exports in CSV form"),
        ("Does " + "long " * 60, "Please do this: Does " + ("long " * 31).strip()),
    ],
)
def test_the_typical_fixture_is_a_request(tmp_path: Path, description: str, request_text: str) -> None:
    spec = tmp_path / "SKILL.md"
    spec.write_text(f"---\nname: x\ndescription: {json.dumps(description)}\n---\n\nDo it.\n")
    made = compile_spec(spec, env={"HOME": str(tmp_path)}).files["x_mellea/fixtures/typical.py"].decode()
    assert request_text in made


def test_a_table_of_inputs_gives_parameters(tmp_path: Path) -> None:
    table = (
        "| Parameter | Required | Description |\n|---|---|---|\n"
        "| `--host` | yes | Where the server is |\n| `port` | no | Its port; `sk-ant-" + "a1B2" * 8 + "` |\n"
    )
    made = build(project(tmp_path, f"\n# X\n\n## Inputs\n\n{table}\n", fields=""))
    found = {one.name: one.about for one in made.blueprint.parameters}
    assert found["host"] == "Required: yes; Description: Where the server is"
    assert list(found) == ["host", "port"]
    assert not any(b"sk-ant-a1B2" in data for data in made.files.values())
