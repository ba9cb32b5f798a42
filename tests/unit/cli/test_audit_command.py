"""`checkrein audit`, `checkrein policy diff` and `checkrein policy test`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from support.files import lay
from support.repositories import git
from support.transcripts import REJECTED, bash, write_transcript

SECRET = "sk-ant-api03-" + "A1b2" * 10
SETTINGS = ".claude/settings.json"


def data(capfd: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    assert run([*words, "--json"]) == status
    envelope = json.loads(capfd.readouterr().out)
    assert envelope["exit_code"] == status
    assert envelope["schema_version"] == "2.0"
    return envelope["data"]


def permissions(**rules: list[str]) -> dict[str, Any]:
    return {"permissions": rules}


def commit(root: Path, **rules: list[str]) -> None:
    if not (root / ".git").is_dir():
        root.mkdir(exist_ok=True)
        git(root, "init", "-q")
    lay(root, {SETTINGS: permissions(**rules)})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    root = lay(tmp_path / "p", {".git/": None, SETTINGS: permissions(allow=["Bash(npm run *)"])})
    write_transcript(
        tmp_path / "s.jsonl",
        bash("1", "npm run lint", cwd=str(root)),
        bash("2", "git push origin a", cwd=str(root)),
        bash("3", "git push origin b", cwd=str(root)),
        bash("4", "npm run wipe", REJECTED, cwd=str(root)),
        bash("5", f"curl -H 'x-api-key: {SECRET}' https://x.y", cwd=str(root)),
        end="{torn",
    )
    return root


def test_an_audit(audited: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = data(
        capfd,
        "audit",
        str(audited.parent / "s.jsonl"),
        "-C",
        str(audited),
        "--trusted",
        "--suggest",
        status=1,
    )
    assert (told["files"], told["damaged"]) == (1, 1)
    audit = told["audit"]
    assert audit["counts"]["ran"] == {"allow": 1, "ask": 3, "deny": 0}
    (row,) = audit["loosened"]
    assert (row["call"], row["rule"], row["origin"]) == (
        "Bash(npm run wipe)",
        "Bash(npm run *)",
        f"{SETTINGS}:4",
    )
    (rule,) = audit["suggestions"]
    assert (rule["rule"], rule["spares"], audit["spared"], audit["questions"]) == (
        "Bash(git push *)",
        2,
        2,
        3,
    )
    assert SECRET not in json.dumps(told)


def test_an_audit_for_people(audited: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = [
        "audit",
        str(audited.parent),
        "-C",
        str(audited),
        "--trusted",
        "--suggest",
        "--rule",
        "Bash(git *)",
    ]
    assert run(words) == 1
    text = capfd.readouterr().out
    assert "These rules would spare 2 of the 3 questions:" in text
    assert "Bash(git *) would spare 2 questions." in text
    assert SECRET not in text
    assert "1 lines damaged" in text
    assert run(["audit", "-C", str(audited)]) == 0
    assert "No calls in 0 transcripts." in capfd.readouterr().out


def test_wrong_usage_of_an_audit(audited: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "-C", str(audited), "--rule", "Bash(x"]) == 2
    assert run(["audit", "-C", str(audited), "--at-least", "0"]) == 2
    assert run(["audit", "-C", str(audited), "nowhere.jsonl"]) == 1


def test_two_commits(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "p"
    commit(root, allow=["Bash(make *)"], deny=["Bash(git push --force*)"])
    commit(root, allow=["Bash(make *)", "Bash(npm publish)"], ask=["Bash(make deploy*)"])
    before = git(root, "status", "--porcelain")
    told = data(capfd, "policy", "diff", "HEAD~1..HEAD", "-C", str(root), status=1)
    found = {one["call"]: one for one in told["comparison"]["changes"]}
    assert found["Bash(npm publish)"]["became"] == "allowed"
    assert found["Bash(npm publish)"]["after"]["origin"] == f"{SETTINGS}:5"
    pushed = found["Bash(git push --force origin main)"]
    assert (pushed["became"], pushed["looser"], pushed["source"]) == ("asked", True, "built in")
    assert pushed["before"]["rule"] == "Bash(git push --force*)"
    assert (found["Bash(make deploy)"]["looser"], found["Bash(make deploy)"]["source"]) == (False, "rules")
    assert git(root, "status", "--porcelain") == before
    assert run(["policy", "diff", "HEAD~1..HEAD", "-C", str(root), "--fail-on", "never"]) == 0
    assert run(["policy", "diff", "HEAD..HEAD", "-C", str(root), "--fail-on", "any"]) == 0


def test_the_work_tree_a_branch_and_a_directory_below(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "p"
    commit(root, deny=["Bash(make *)"])
    git(root, "checkout", "-qb", "topic")
    commit(root, deny=["Bash(make *)", "Bash(npm *)"])
    git(root, "checkout", "-q", "-")
    commit(root, ask=["Bash(make *)"])
    lay(root / "sub", {SETTINGS: permissions(allow=["Bash(make *)"])})
    told = data(capfd, "policy", "diff", "HEAD", "-C", str(root / "sub"), status=1)
    assert told["after"] == "work tree"
    assert {one["became"] for one in told["comparison"]["changes"]} == {"allowed"}
    assert run(["policy", "diff", "HEAD", "-C", str(root)]) == 0
    capfd.readouterr()
    branched = data(capfd, "policy", "diff", "HEAD...topic", "-C", str(root), "--fail-on", "any", status=1)
    assert {one["after"]["rule"] for one in branched["comparison"]["changes"]} == {"Bash(npm *)"}


def test_calls_of_a_file_and_of_transcripts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "p"
    commit(root, allow=["Bash(rare *)"])
    commit(root)
    name = str(root).replace("/", "-").replace("_", "-").replace(".", "-")
    projects = Path(os.environ["HOME"]) / ".claude" / "projects"
    write_transcript(projects / name / "a.jsonl", bash("1", "rare past", cwd=str(root)))
    calls = tmp_path / "calls.jsonl"
    calls.write_text(
        '// a comment\n{"call": "Bash(rare text)"}\n{"tool": "Bash", "input": {"command": "rare x"}}\n'
    )
    told = data(
        capfd, "policy", "diff", "HEAD~1..", "-C", str(root), "--calls", str(calls), "--calls", "transcripts"
    )
    found = {(one["call"], one["source"]) for one in told["comparison"]["changes"]}
    assert {
        ("Bash(rare text)", "file"),
        ("Bash(rare x)", "file"),
        ("Bash(rare past)", "transcripts"),
    } <= found
    calls.write_text('{"no": 1}\n')
    assert run(["policy", "diff", "HEAD~1..", "-C", str(root), "--calls", str(calls)]) == 2


def test_nothing_of_the_repository_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root, mark = tmp_path / "p", tmp_path / "ran"
    commit(root, deny=["Bash(make *)"])
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "filter.x.smudge", "filter.x.clean", "filter.x.process", "core.pager"):
        git(root, "config", key, str(program))
    lay(root, {".gitattributes": "* filter=x", ".git/hooks/post-checkout": f"#!/bin/sh\ntouch {mark}\n"})
    (root / ".claude" / "settings.local.json").symlink_to("/etc/passwd")
    lay(root, {SETTINGS: permissions()})
    assert run(["policy", "diff", "HEAD", "-C", str(root)]) == 1
    assert not mark.exists()
    assert "settings.local.json" in "".join(capfd.readouterr())


@pytest.mark.parametrize("name", ["--output=x..HEAD", "nope..HEAD", "HEAD^{tree}..HEAD", "a b..HEAD", ""])
def test_names_that_are_no_commits(tmp_path: Path, name: str) -> None:
    commit(tmp_path / "p")
    assert run(["policy", "diff", "-C", str(tmp_path / "p"), "--", name]) in (1, 2)
    assert not (tmp_path / "p" / "x").exists()


def test_outside_a_repository(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "diff", "HEAD", "-C", str(tmp_path)]) == 1
    assert "not in a git repository" in capfd.readouterr().err


ROWS = """# the team's rules
{"call": "Bash(npm run x)", "want": "allow", "rule": "Bash(npm run *)"}
{"tool": "Read", "input": {"file_path": "secrets/a"}, "want": ["ask", "deny"]}
"""


def test_rows_that_pass(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rules = permissions(allow=["Bash(npm run *)"], deny=["Read(./secrets/**)"])
    root = lay(tmp_path / "p", {".git/": None, SETTINGS: rules, ".claude/team.policy.jsonl": ROWS})
    lay(Path(os.environ["HOME"]), {SETTINGS: permissions(deny=["Bash(npm *)"])})
    told = data(capfd, "policy", "test", "-C", str(root))
    assert (told["rows"], told["passed"], told["failures"]) == (2, 2, [])
    (failure,) = data(capfd, "policy", "test", "-C", str(root), "--effective", status=1)["failures"]
    assert (failure["line"], failure["verdict"], failure["rule"]) == (2, "deny", "Bash(npm *)")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"call": "Bash(git push)", "want": "deny", "note": "never"}', "got    ask: no rule allows it"),
        ('{"call": "Bash(npm run x)", "want": "deny"}', f"got    allow: Bash(npm run *) ({SETTINGS}:4)"),
        (
            '{"call": "Bash(npm run x)", "want": "allow", "rule": "Bash(npm *)"}',
            "wanted allow by Bash(npm *)",
        ),
        ('{"call": "Bash(ls", "want": "allow"}', "never closed"),
        ('{"tool": "Bash", "want": "deny", "permissions": {}}', "can't bring `permissions`"),
        ('{"tool": "Bash"}', "needs `want`"),
        ('{"call": "Bash(ls)", "want": "maybe"}', "not 'maybe'"),
        ('{"call": "Bash(ls)", "tool": "Bash", "want": "allow"}', "not both"),
        ('{"call": "Bash(ls)", "want": "allow", "wnat": 1}', "did you mean"),
        ("nonsense", "malformed"),
        ("[" * 9999, "malformed"),
        ("", "no rows"),
    ],
)
def test_rows_that_fail(tmp_path: Path, capfd: pytest.CaptureFixture[str], row: str, said: str) -> None:
    files = {".git/": None, SETTINGS: permissions(allow=["Bash(npm run *)"]), ".claude/a.policy.jsonl": row}
    assert run(["policy", "test", "-C", str(lay(tmp_path / "p", files))]) == 1
    text = capfd.readouterr().out
    assert said.lower() in text.lower()
    assert ".claude/a.policy.jsonl:1" in text or not row


def test_no_tests(tmp_path: Path) -> None:
    assert run(["policy", "test", "-C", str(lay(tmp_path / "p", {".git/": None}))]) == 1
