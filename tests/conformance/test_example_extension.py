"""The package in `examples/extension`, installed: doctor lists it, check uses it, a project can't fake it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "extension"
SKILL = "---\nname: review\ndescription: Review a change. Use when asked for a review.\n---\nRead the diff.\n"


def install(where: Path) -> None:
    """What an installer makes of the package: its modules, and a folder that describes it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copytree(EXAMPLE / "src" / "checkrein_house", where / "checkrein_house")
    folder = where / f"checkrein_house-{project['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    sections = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(sections))


pytestmark = pytest.mark.project({".claude/skills/review/SKILL.md": SKILL}, git=False)


def checkrein(project: Path, *words: str, path: Path | str = "", **env: str) -> tuple[int, dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": str(path), **env}
    command = [sys.executable, "-m", "checkrein", *words, "--json"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def codes(answer: dict[str, Any]) -> list[str]:
    return [found["code"] for found in answer["data"]["findings"]]


def test_an_installed_package_adds_a_check_and_a_tool(tmp_path: Path, project: Path) -> None:
    install(tmp_path / "packages")
    _, answer = checkrein(project, "doctor", path=tmp_path / "packages")
    assert [
        (row["package"], row["version"], row["group"], row["state"], row["adds"])
        for row in answer["data"]["extensions"]
    ] == [
        ("checkrein-house", "0.1.0", "checks", "ok", ["HOUSE001"]),
        ("checkrein-house", "0.1.0", "tools", "ok", ["CountWords"]),
    ]
    status, answer = checkrein(project, "check", "--select", "HOUSE", path=tmp_path / "packages")
    assert status == 1
    assert codes(answer) == ["HOUSE001"]
    status, answer = checkrein(project, "check", "--explain", "HOUSE001", path=tmp_path / "packages")
    assert status == 0
    assert answer["data"]["summary"] == "A skill names no owner."


def test_without_it_the_code_is_unknown(project: Path) -> None:
    assert checkrein(project, "check", "--select", "HOUSE")[0] == 2
    assert checkrein(project, "check", "--explain", "HOUSE001")[0] == 1
    assert checkrein(project, "doctor")[1]["data"]["extensions"] == []


def test_the_user_switches_it_off_and_a_project_can_not(tmp_path: Path, project: Path) -> None:
    install(tmp_path / "packages")
    off = {"CHECKREIN_EXTENSIONS__DISABLED": '["checkrein-house"]'}
    _, answer = checkrein(project, "check", path=tmp_path / "packages", **off)
    assert codes(answer) == []
    _, answer = checkrein(project, "doctor", path=tmp_path / "packages", **off)
    assert {row["state"] for row in answer["data"]["extensions"]} == {"off"}
    (project / "checkrein.toml").write_text("[extensions]\nenabled = false\n")
    _, answer = checkrein(project, "check", path=tmp_path / "packages")
    assert codes(answer) == ["HOUSE001", "CFG003"]


def test_a_project_that_brings_it_along_is_not_listened_to(tmp_path: Path, project: Path) -> None:
    """The working directory is on the path of `python -m`, and may be on that of the user."""
    install(project)
    (project / "checkrein_house" / "checks.py").write_text("raise SystemExit('loaded')\n")
    for path in ("", ".", str(project)):
        _, answer = checkrein(project, "check", path=path)
        assert codes(answer) == []
        assert checkrein(project, "doctor", path=path)[1]["data"]["extensions"] == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("raise ValueError('no')\n", "EXT001"),
        ("CHECKS = 3\n", "EXT001"),
        (
            "from checkrein.passes.checks.skills.as001_frontmatter_missing import CHECK\nCHECKS = CHECK\n",
            "EXT001",
        ),
        ("{good}\nimport msgspec\nCHECKS = [SKILL_OWNER, SKILL_OWNER]\n", "EXT001"),
        (
            "{good}\nimport msgspec\nCHECKS = msgspec.structs.replace(SKILL_OWNER, run=lambda s: 1 / 0)\n",
            "EXT002",
        ),
        ("{good}\nimport msgspec\nCHECKS = msgspec.structs.replace(SKILL_OWNER, code='x')\n", "EXT001"),
    ],
)
def test_a_broken_one_is_a_finding_and_the_rest_works(
    tmp_path: Path, project: Path, text: str, code: str
) -> None:
    install(tmp_path / "packages")
    module = tmp_path / "packages" / "checkrein_house" / "checks.py"
    module.write_text(text.replace("{good}", module.read_text()))
    (project / ".claude" / "skills" / "review" / "SKILL.md").write_text("---\nname: review\n---\nx\n")
    status, answer = checkrein(project, "check", path=tmp_path / "packages")
    assert status == 1
    assert {code, "AS012"} <= set(codes(answer))
    _, answer = checkrein(project, "doctor", path=tmp_path / "packages")
    states = {row["group"]: row["state"] for row in answer["data"]["extensions"]}
    assert states == {"checks": "ok" if code == "EXT002" else "broken", "tools": "ok"}


def test_a_session_has_its_tool(tmp_path: Path, project: Path) -> None:
    install(tmp_path / "packages")
    script = tmp_path / "script.jsonl"
    call = {"name": "CountWords", "input": {"text": "one two three"}}
    again = {"text": "ok", "expect": {"tool_result": "3 words"}}
    script.write_text(json.dumps({"tool_calls": [call]}) + "\n" + json.dumps(again))
    words = ("-p", "count", "--model", f"scripted:{script}")
    status, answer = checkrein(project, *words, "--allowedTools", "CountWords", path=tmp_path / "packages")
    assert (status, answer["result"], answer["permission_denials"]) == (0, "ok", [])
    script.write_text(json.dumps({"tool_calls": [call]}) + "\n" + json.dumps({"text": "ok"}))
    _, answer = checkrein(project, *words, path=tmp_path / "packages")
    assert [denial["tool_name"] for denial in answer["permission_denials"]] == ["CountWords"]


PEEK = """
from checkrein import Tool, ToolDeclaration, ToolOutput, effects

def work(input, context):
    with open(input["path"]) as file:
        return ToolOutput(content=file.read())

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
DECLARATION = ToolDeclaration(name="Peek", schema=SCHEMA, description="Read a file. Then stop.")
PEEK = Tool(declaration=DECLARATION, work=work, effects=effects("Peek", reads=("path",)), aliases=("Spy",))
"""


@pytest.mark.project(
    {
        ".claude/settings.json": {"permissions": {"allow": ["Peek"], "deny": ["Read(secret.txt)"]}},
        "secret.txt": "hidden",
        "open.txt": "seen",
    }
)
class TestEveryJudgeKnowsTheEffectsOfItsTool:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "packages"
        install(path)
        (path / "checkrein_house" / "tools.py").write_text(PEEK)
        entry = path / "checkrein_house-0.1.0.dist-info" / "entry_points.txt"
        entry.write_text("[checkrein.tools]\npeek = checkrein_house.tools:PEEK\n")
        return path

    @pytest.mark.parametrize(("file", "verdict"), [("secret.txt", "deny"), ("open.txt", "allow")])
    @pytest.mark.parametrize("name", ["Peek", "Spy"])
    def test_they_agree(self, project: Path, path: Path, name: str, file: str, verdict: str) -> None:
        _, answer = checkrein(project, "why", f"{name}({file})", "--trusted", path=path)
        (decision,) = answer["data"]["decisions"].values()
        assert decision["verdict"] == verdict
        record = {"tool": name, "input": {"path": file}, "want": verdict}
        rules = json.loads((project / ".claude" / "settings.json").read_text())["permissions"]
        records = [{**record, "trusted": True}, {**record, "permissions": rules}]
        (path / "calls.jsonl").write_text("\n".join(map(json.dumps, records)))
        environment = {**os.environ, "PYTHONPATH": str(path)}
        command = [sys.executable, "-m", "checkrein", "decide", "--expect", str(path / "calls.jsonl")]
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        words = ("machine", "exec-tool", name, json.dumps({"path": file}), "--trust")
        status, answer = checkrein(project, *words, path=path)
        assert (status == 0) == (verdict == "allow"), answer
        assert verdict == "allow" or "secret.txt" in str(answer)

    def test_the_machine_protocol_lists_it(self, project: Path, path: Path) -> None:
        _, answer = checkrein(project, "machine", "show-tool", "peek", path=path)
        shown = answer["data"]
        assert (shown["name"], shown["source"]) == ("Peek", "package:checkrein-house")
        assert shown["source_hint"] == "checkrein_house.tools:PEEK"
        assert shown["path"].endswith("tools.py")
        assert shown["responsibility"] == "Read a file."
        _, answer = checkrein(project, "machine", "tools", "--query", "peek", path=path)
        assert [row["name"] for row in answer["data"]["entries"]] == ["Peek"]
        words = ("machine", "tools", "--query", "peek", "--deny-tool", "peek")
        _, answer = checkrein(project, *words, path=path)
        assert answer["data"]["entries"] == []

    def test_check_knows_its_name(self, project: Path, path: Path) -> None:
        assert codes(checkrein(project, "check", "--select", "PERM", path=path)[1]) == []
        assert codes(checkrein(project, "check", "--select", "PERM")[1]) == ["PERM008"]

    def test_the_name_alone(self, project: Path, path: Path) -> None:
        """A rule of this name comes first."""
        kinds = {"name": (), "call": ("--kind", "call", "--trusted")}
        for kind, words in kinds.items():
            status, answer = checkrein(project, "why", "Peek", *words, path=path)
            assert (status, answer["data"]["kind"]) == (0, kind)


def test_a_tool_without_effects_can_be_explained(tmp_path: Path, project: Path) -> None:
    install(tmp_path / "packages")
    for thing in ("CountWords(some text)", "CountWords"):
        status, answer = checkrein(project, "why", thing, path=tmp_path / "packages")
        (decision,) = answer["data"]["decisions"].values()
        assert (status, decision["verdict"]) == (0, "ask")
