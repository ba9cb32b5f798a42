"""`checkrein deploy`: what guards a project reaches the other agents, or is the first thing it says."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run

SETTINGS = {
    "permissions": {
        "deny": [
            "Bash(rm -rf *)",
            "Bash(git push * --force)",
            "Read(./.env)",
            "Edit(/infra/**)",
            "WebFetch(domain:evil.example)",
            "mcp__docs__erase",
            "mcp__spare",
        ],
        "ask": ["Bash(git push *)"],
        "allow": ["Bash(npm test *)", "Bash(git *)", "Bash(make)", "Read", "Edit(src/**)"],
    }
}
SERVERS = {"mcpServers": {"docs": {"command": "docs"}, "spare": {"command": "spare"}}}
PROJECT = {".claude/settings.json": json.dumps(SETTINGS, indent=1), ".mcp.json": json.dumps(SERVERS)}

pytestmark = pytest.mark.project(PROJECT)


def deploy(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = run(["deploy", *argv, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, document.get("data") or document["error"]


def guards(data: dict[str, Any]) -> set[str]:
    """The rules that do not hold, as they are written."""
    lost = [one["message"] for one in data["losses"] if one["code"] == "DEP016"]
    return {message.split("`")[1] for message in lost}


def test_codex_gets_an_execution_policy(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = deploy(capsys, "--to", "codex")
    text = (at / ".codex/rules/checkrein.rules").read_text()
    rules: list[dict[str, Any]] = []
    exec(text, {"prefix_rule": lambda **values: rules.append(values)})  # Starlark is a part of Python
    assert [(rule["pattern"], rule["decision"]) for rule in rules] == [
        (["rm", "-rf"], "forbidden"),
        (["git", "push"], "prompt"),
        (["git", "push"], "prompt"),
        (["npm", "test"], "allow"),
    ]
    assert rules[0]["justification"] == "deny: Bash(rm -rf *) (.claude/settings.json:4)"
    servers = tomllib.loads((at / ".codex/config.toml").read_text())["mcp_servers"]
    assert servers["docs"]["disabled_tools"] == ["erase"]
    assert servers["spare"]["enabled"] is False
    assert guards(data) == {
        "deny: Bash(git push * --force)",
        "deny: Read(./.env)",
        "deny: Edit(/infra/**)",
        "deny: WebFetch(domain:evil.example)",
    }


def test_an_allow_that_covers_a_lost_guard_is_not_written(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`Bash(git *)` would allow the push that `deny: Bash(git push * --force)` forbids."""
    _, data = deploy(capsys, "--to", "codex,cursor", "--dry-run")
    lost = [one["message"] for one in data["losses"] if "`allow: Bash(git *)`" in one["message"]]
    assert len(lost) == 2
    assert "it would cover what `deny: Bash(git push * --force)` is about" in lost[0]
    assert "it would cover what `ask: Bash(git push *)` is about" in lost[1]


def test_gemini_gets_a_policy_and_keeps_the_users_own(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = deploy(capsys, "--to", "gemini")
    policy = tomllib.loads((at / ".gemini/policies/checkrein.toml").read_text())["rule"]
    by_decision = {decision: [one for one in policy if one["decision"] == decision] for decision in
                   ("deny", "ask_user", "allow")}  # fmt: skip
    assert [one.get("commandPrefix") for one in by_decision["ask_user"]] == ["git push"]
    assert by_decision["deny"][0]["denyMessage"] == "Refused by Bash(rm -rf *) (.claude/settings.json:4)"
    assert {"mcpName": "docs", "toolName": "erase"}.items() <= by_decision["deny"][5].items()
    lowest = {decision: min(one["priority"] for one in rules) for decision, rules in by_decision.items()}
    assert lowest["deny"] > lowest["ask_user"] > lowest["allow"]
    settings = json.loads((at / ".gemini/settings.json").read_text())
    assert settings["policyPaths"] == [".gemini/policies", "~/.gemini/policies"]
    assert guards(data) == set()


def test_gemini_patterns_match_what_they_should(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Patterns are compared with the arguments as JSON; groups with a repeat would be refused there."""
    import re

    deploy(capsys, "--to", "gemini")
    policy = tomllib.loads((at / ".gemini/policies/checkrein.toml").read_text())["rule"]
    force = next(one for one in policy if "commandRegex" in one and one["decision"] == "deny")
    compiled = re.compile('"command":"' + force["commandRegex"])
    assert compiled.search(json.dumps({"command": "git push origin --force"}, separators=(",", ":")))
    assert compiled.search(json.dumps({"command": 'git push "a b" --force'}, separators=(",", ":")))
    assert not compiled.search(json.dumps({"command": "git push origin"}, separators=(",", ":")))
    made = next(one for one in policy if one.get("commandRegex", "").startswith("make"))
    assert re.search('"command":"' + made["commandRegex"], '{"command":"make"}')
    assert not re.search('"command":"' + made["commandRegex"], '{"command":"make install"}')
    read, edit = [one for one in policy if "argsPattern" in one and "read_file" in one["toolName"]], [
        one for one in policy if "argsPattern" in one and "write_file" in one["toolName"]
    ]  # fmt: skip
    for path, refused in {".env": True, "/p/.env": True, "sub/.env": True, "x.env": False}.items():
        assert bool(re.search(read[0]["argsPattern"], json.dumps({"file_path": path}))) is refused, path
    assert re.search(edit[0]["argsPattern"], '{"file_path":"infra/a/b.tf"}')
    assert not re.search(edit[0]["argsPattern"], '{"file_path":"src/infra.ts"}')
    for one in policy:
        assert not re.search(r"\)[*+?{]", one.get("argsPattern", "") + one.get("commandRegex", ""))


def test_cursor_gets_permissions(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = deploy(capsys, "--to", "cursor")
    permissions = json.loads((at / ".cursor/cli.json").read_text())["permissions"]
    assert permissions["deny"] == [
        "Shell(rm:-rf)",
        "Shell(rm:-rf *)",
        "Shell(git:push * --force)",
        "Read(.env)",
        "Read(.env/**)",
        "Read(**/.env)",
        "Read(**/.env/**)",
        "Write(infra/**)",
        "WebFetch(evil.example)",
        "Mcp(docs:erase)",
        "Mcp(spare:*)",
    ]
    assert permissions["allow"] == ["Shell(npm:test)", "Shell(npm:test *)", "Read(**)",
                                    "Write(src/**)"]  # fmt: skip
    assert guards(data) == {"ask: Bash(git push *)"}


def test_copilot_gets_what_a_repository_may_set(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = deploy(capsys, "--to", "copilot")
    settings = json.loads((at / ".github/copilot/settings.json").read_text())
    assert "https://evil.example" in settings["deniedUrls"]
    assert "http://*.evil.example" in settings["deniedUrls"]
    assert settings["disabledMcpServers"] == ["spare"]
    assert "deny: Bash(rm -rf *)" in guards(data)


def test_opencode_gets_files_too(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = deploy(capsys, "--to", "opencode")
    permission = json.loads((at / "opencode.json").read_text())["permission"]
    env = dict.fromkeys((".env", ".env/*", "*/.env", "*/.env/*"), "deny")
    assert permission["read"] == {"*": "allow", **env}
    assert permission["edit"] == {"*": "ask", "infra/*": "deny", "*/infra/*": "deny"}
    assert permission["docs_erase"] == "deny"
    assert list(permission["bash"])[-2:] == ["rm -rf *", "git push * --force"]
    assert guards(data) == {"deny: WebFetch(domain:evil.example)"}, "opencode takes one verdict for all hosts"


@pytest.mark.parametrize(
    ("agent", "file"), [("qwen", ".qwen/settings.json"), ("devin", ".devin/config.json")]
)
def test_agents_with_lists_like_ours(
    at: Path, capsys: pytest.CaptureFixture[str], agent: str, file: str
) -> None:
    deploy(capsys, "--to", agent)
    permissions = json.loads((at / file).read_text())["permissions"]
    assert permissions["ask"] == [{"qwen": "Bash(git push *)", "devin": "Exec(git push)"}[agent]]
    assert permissions["deny"][0] == {"qwen": "Bash(rm -rf *)", "devin": "Exec(rm -rf)"}[agent]


def test_lost_guards_come_first_and_in_full(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = [f"Read(./secret-{number})" for number in range(60)]
    permissions = {"deny": rules, "ask": ["WebSearch"], "allow": ["Bash(ls *)"]}
    (at / ".claude/settings.json").write_text(json.dumps({"permissions": permissions}))
    for number in range(50):
        command = at / f".claude/commands/c{number}.md"
        command.parent.mkdir(exist_ok=True)
        command.write_text("---\nargument-hint: x\n---\nx\n")
    assert run(["deploy", "--to", "codex"]) == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if " DEP" in line]
    assert [" DEP016 " in line for line in lines[:61]] == [True] * 61
    assert all("`deny: Read(./secret-" in line for line in lines[:60])
    assert "`ask: WebSearch`" in lines[60]
    assert "61 guards do not hold there (DEP016). `--strict` makes that an error." in out


def test_strict_writes_nothing(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, data = deploy(capsys, "--to", "codex", "--strict")
    assert (status, data.get("applied", False)) == (1, False)
    assert not (at / ".codex").exists()
    assert data["note"] == "Nothing was written: correct the errors first."
    assert {one["severity"] for one in data["losses"] if one["code"] == "DEP016"} == {"error"}
    assert deploy(capsys, "--to", "codex", "--strict", "--report")[0] == 1
    assert deploy(capsys, "--to", "gemini", "--strict")[0] == 0
    assert (at / ".gemini/policies/checkrein.toml").exists()


def test_convert_of_a_settings_file_lists_every_lost_rule(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (at / ".claude/settings.json").write_text(json.dumps({**SETTINGS, **SERVERS}))
    assert run(["convert", ".claude/settings.json", "--to", "codex", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["kind"] == "settings"
    assert [file["path"] for file in data["files"]] == [".codex/config.toml", ".codex/rules/checkrein.rules"]
    named = " ".join(one["message"] for one in data["losses"])
    for text in (*SETTINGS["permissions"]["deny"], *SETTINGS["permissions"]["allow"][2:]):
        assert f"`{text}`" in named or f": {text}`" in named, text
    assert data["losses"][0]["code"] == "DEP016"
    assert run(["convert", ".claude/settings.json", "--to", "codex", "--strict"]) == 1


def test_a_second_deploy_and_undo(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(at.rglob("*"))
    agents = "codex,gemini,cursor,copilot,opencode,qwen,devin,amp"
    assert deploy(capsys, "--to", agents)[0] == 0
    assert deploy(capsys, "--to", agents, "--check")[0] == 0
    assert deploy(capsys, "--undo")[0] == 0
    assert sorted(path for path in at.rglob("*") if path.is_file()) == [
        path for path in before if path.is_file()
    ]


def test_patterns_of_paths_lose_nothing(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Folders, sets of characters and depth: what a rule covers here, its form covers there."""
    import re

    rules = {
        "Read(secrets)": "secrets/a",
        "Read(keys/**)": "deep/keys/b",
        "Edit(src/[ab]/*.ts)": "src/a/x.ts",
    }
    (at / ".claude/settings.json").write_text(json.dumps({"permissions": {"deny": list(rules)}}))
    deploy(capsys, "--to", "gemini,opencode,cursor")
    policy = tomllib.loads((at / ".gemini/policies/checkrein.toml").read_text())["rule"]
    permission = json.loads((at / "opencode.json").read_text())["permission"]
    cursor = json.loads((at / ".cursor/cli.json").read_text())["permissions"]["deny"]
    for number, (rule, path) in enumerate(rules.items()):
        assert re.search(policy[number]["argsPattern"], json.dumps({"file_path": path})), rule
        patterns = permission["edit" if rule.startswith("Edit") else "read"]
        regexes = [re.escape(one).replace(r"\*", ".*").replace(r"\?", ".") for one in patterns]
        assert any(re.fullmatch(one, path) for one in regexes if one != ".*"), rule
    assert {"Read(secrets/**)", "Read(**/keys/**)", "Write(src/[ab]/*.ts)"} <= set(cursor)
