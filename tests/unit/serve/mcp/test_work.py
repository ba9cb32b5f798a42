"""The work of the kitchen's tools: commands, tests, databases, resets, reports."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.kitchen import OPEN
from checkrein.serve.mcp.work.database import read_db
from checkrein.serve.mcp.work.resets import reset_test_dir
from support.files import lay
from support.mcp_guests import Guest, text
from support.plain_hands import PlainHands

Visit = Callable[..., Any]
FREE = {"mode": "bypassPermissions", "allow_bypass": True, "trust": True}


@pytest.fixture
def use(visit: Visit) -> Callable[..., Any]:
    """`use(tool, ...)`: the answer of a tool in an open kitchen where everything is allowed."""

    def run(tool: str, options: dict[str, Any] = FREE, **input: Any) -> Any:
        async def talk(guest: Guest) -> Any:
            await guest.call(OPEN)
            return json.loads(text(await guest.call(tool, **input)))

        return visit(talk, options=options)

    return run


Use = Callable[..., Any]


def test_a_command_runs_where_it_should_with_both_streams(use: Use, project: Path) -> None:
    (project / "sub dir").mkdir()
    done = use("run_cmd", cmd="pwd; echo oops >&2; exit 3", cwd="sub dir")
    assert done["success"] is False
    assert done["exit_code"] == 3
    assert done["stdout"].strip() == str(project / "sub dir")
    assert done["stderr"] == "oops\n"
    assert use("run_cmd", cmd="sleep 20", cwd=".", timeout=0.3)["error"] == "the time is over"
    assert "not a directory" in use("run_cmd", cmd="true", cwd="nowhere")["error"]


def test_an_editable_install_must_go_into_a_venv(use: Use) -> None:
    """unsafe_install_guard."""
    assert ".venv" in use("run_cmd", cmd="pip install -e .", cwd=".")["error"]


def test_python_runs_in_a_process_of_its_own(use: Use) -> None:
    import os

    assert use("run_python", callable="os.path.basename", args={"p": "a/b"}) == {
        "success": True,
        "result": "b",
    }
    assert use("run_python", callable="os.getpid")["result"] != os.getpid()
    assert "No module" in use("run_python", callable="no_such.thing")["error"]
    assert "dotted" in use("run_python", callable="os.system;x")["error"]
    late = use("run_python", callable="subprocess.getoutput", args={"cmd": "sleep 20"}, timeout=0.5)
    assert "longer" in late["error"]


@pytest.mark.project({"checkrein.toml": '[test_check]\ncommand = "sh tests.sh"\ntimeout = 5\n'})
@pytest.mark.parametrize(
    ("script", "passed"),
    [
        ("exit 0", True),
        ("exit 1", False),
        ("echo '=== 3 passed in 0.1s ==='", True),
        ("echo '=== 1 failed, 3 passed in 0.1s ==='", False),
        ("echo '=== 2 errors in 0.1s ==='", False),
        ("echo '10 failed attempts'", True),
    ],
)
def test_tests_pass_by_status_and_summary(use: Use, project: Path, script: str, passed: bool) -> None:
    lay(project, {"tests.sh": f"{script}\n"})
    assert use("test_check", worktree_path=".")["passed"] is passed


@pytest.mark.project({"checkrein.toml": '[test_check]\ncommand = "touch ran"\n'})
def test_the_command_of_an_untrusted_project_does_not_run(use: Use, project: Path) -> None:
    said = use("test_check", {"mode": "bypassPermissions", "allow_bypass": True}, worktree_path=".")
    assert "checkrein trust" in said["error"]
    assert not (project / "ran").exists()


@pytest.fixture
def database(project: Path) -> Path:
    path = project / "data.db"
    made = sqlite3.connect(path)
    made.executescript(
        "create table t(n integer, b blob); insert into t values (1, x'00ff'), (2, null), (3, null)"
    )
    made.close()
    return path


def test_a_query_reads(use: Use, database: Path) -> None:
    found = use("read_db", db_path="data.db", query="select n, b from t where n < ? order by n", params="[3]")
    assert found["rows"] == [{"n": 1, "b": {"base64": "AP8="}}, {"n": 2, "b": None}]
    assert use("read_db", db_path="data.db", query="with x as (select 1 as a) select * from x")["count"] == 1


@pytest.mark.parametrize(
    "query",
    [
        "delete from t",
        "with x as (select 1) delete from t",
        "select 1; drop table t",
        "attach database 'x.db' as x",
        "select load_extension('x')",
        "pragma writable_schema=1",
        "select * from t where n in (select n from nowhere)",
    ],
)
def test_a_query_that_does_more_is_refused(use: Use, database: Path, query: str) -> None:
    before = database.read_bytes()
    assert use("read_db", db_path="data.db", query=query)["success"] is False
    assert database.read_bytes() == before


@pytest.mark.project({"checkrein.toml": "[read_db]\nmax_rows = 2\ntimeout = 0.2\n"})
def test_a_query_has_limits(use: Use, database: Path) -> None:
    found = use("read_db", db_path="data.db", query="select n from t")
    assert found["count"] == 2
    assert found["truncated"]
    endless = "with recursive x(n) as (select 1 union all select n + 1 from x) select max(n) from x"
    assert "interrupted" in use("read_db", db_path="data.db", query=endless)["error"]


def test_an_answer_has_a_size(database: Path, project: Path) -> None:
    hands = PlainHands(project)
    with pytest.raises(ToolFailure, match="too big"):
        read_db(hands, "data.db", "select hex(zeroblob(300000000))")
    found = read_db(hands, "data.db", "select n, zeroblob(3000000) as z from t")
    assert (found["count"], found["truncated"]) == (1, True)


def test_an_answer_is_json_and_has_every_column(database: Path, project: Path) -> None:
    hands = PlainHands(project)
    found = read_db(hands, "data.db", "select 1 as a, 2 as a, 9e999 as big, -9e999 as low")
    assert found["rows"] == [{"a": 1, "a:2": 2, "big": "inf", "low": "-inf"}]
    for params in ("[99999999999999999999]", "[" * 100_000, "[[1]]"):
        with pytest.raises(ToolFailure):
            read_db(hands, "data.db", "select ?", params)


@pytest.mark.project({".claude/settings.json": {"permissions": {"deny": ["Read(data.db)"]}}})
def test_a_rule_on_the_file_holds_for_a_query(use: Use, database: Path) -> None:
    assert "Read(data.db)" in use("read_db", db_path="data.db", query="select 1")["error"]


RESET = """
[safety]
reset_guard_marker = ".mine"
[reset_workspace]
command = "echo reset > kept/log"
preserve_dirs = ["kept"]
"""


@pytest.mark.project({"checkrein.toml": RESET, "box/a": "", "box/d/b": "", "box/kept/x": ""})
def test_only_a_marked_directory_is_emptied(use: Use, project: Path) -> None:
    box = project / "box"
    assert ".mine" in use("reset_test_dir", test_dir="box")["error"]
    assert ".mine" in use("reset_test_dir", test_dir="box", force=True)["error"]
    assert "not a test directory" in use("reset_test_dir", test_dir=".", force=True)["error"]
    (box / ".mine").touch()
    done = use("reset_workspace", test_dir="box")
    assert done["deleted"] == ["a", "d"]
    assert done["skipped"] == [".mine", "kept"]
    assert (box / "kept" / "log").read_text() == "reset\n"
    assert use("reset_test_dir", test_dir="box")["deleted"] == ["kept"]
    assert sorted(one.name for one in box.iterdir()) == [".mine"]


@pytest.mark.parametrize("marker", ["", ".", "..", "../box/a", "/"])
@pytest.mark.project({"box/a": ""})
def test_a_marker_is_the_name_of_a_file(project: Path, marker: str) -> None:
    hands = PlainHands(project, safety__reset_guard_marker=marker)
    with pytest.raises(ToolFailure, match="reset_guard_marker"):
        reset_test_dir(hands, "box")
    assert (project / "box" / "a").exists()


@pytest.mark.project({"box/a": ""})
def test_no_directory_around_the_project_is_emptied(project: Path) -> None:
    (project.parent / ".checkrein-workspace").touch()
    with pytest.raises(ToolFailure, match="not a test directory"):
        reset_test_dir(PlainHands(project), "..")


def test_what_a_call_got_wrong_is_said(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        said = text(await guest.call(OPEN, nmae="x"))
        assert said == "open_kitchen has no argument 'nmae'. Did you mean 'name'?"
        assert (await guest.names())[0] == OPEN, "nothing is open"
        await guest.call(OPEN)
        assert "not a path" in text(await guest.call("run_cmd", cmd="true", cwd="a\0b"))
        assert "a path" in text(await guest.call("write_telemetry_files", output_dir="a\0b"))
        assert "can't be written" in text(await guest.call("write_telemetry_files", output_dir="/dev/null/x"))
        assert "without a result" in text(await guest.call("run_python", callable="sys.exit"))
        assert len(text(await guest.call("x" * 10_000))) < 200

    visit(talk, options=FREE)


@pytest.mark.project({"checkrein.toml": "[mcp_response]\nalert_threshold_tokens = 10\n"})
def test_reports_of_steps(visit: Visit, project: Path) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        await guest.call("run_cmd", cmd="echo fine", cwd=".", step_name="build")
        await guest.call("run_cmd", cmd="exit 1", cwd=".", step_name="build")
        report = await guest.data("get_pipeline_report")
        assert [one["step"] for one in report["failures"]] == ["build"]
        times = await guest.data("get_timing_summary")
        assert times["steps"][0]["calls"] == 2
        sizes = await guest.data("get_token_summary")
        assert sizes["steps"][0]["large"] == 2
        table = (await guest.data("get_token_summary", format="table"))["table"]
        assert table.splitlines()[0] == "| step | calls | tokens | large |"
        written = await guest.data("write_telemetry_files", output_dir="out")
        assert len(written["files"]) == 3
        assert json.loads((project / "out" / "timing_summary.json").read_text())["steps"]
        await guest.data("get_pipeline_report", clear=True)
        assert (await guest.data("get_pipeline_report"))["total_failures"] == 0
        status = await guest.data("kitchen_status")
        await guest.call(OPEN)
        assert (await guest.data("kitchen_status"))["kitchen_id"] != status["kitchen_id"]
        assert (await guest.data("get_timing_summary"))["steps"][0]["step"] == "kitchen_status"

    visit(talk, options=FREE)


@pytest.mark.project({".claude/settings.json": {"permissions": {"deny": ["Edit(/out/**)"]}}})
def test_telemetry_files_are_judged(use: Use, project: Path) -> None:
    assert "Edit(/out/**)" in use("write_telemetry_files", output_dir="out")["error"]
    assert not (project / "out").exists()
