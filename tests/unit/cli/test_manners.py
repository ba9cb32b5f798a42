"""The manners of the command line: the order of words, help, colours, notes, and what typing errors get."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli import registry
from checkrein.cli.main import run
from checkrein.cli.word_order import ordered
from support.files import lay

Captured = pytest.CaptureFixture[str]
SCRIPT = '{"text": "answered", "repeat": 0}\n'


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory with a script beside it; the default model must never be asked."""
    place = lay(tmp_path, {"work/": None, "script.jsonl": SCRIPT}) / "work"
    monkeypatch.chdir(place)
    return place


# The order of words


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("-C DIR check", "check -C DIR"),
        ("--project DIR --json check PATH", "check --project DIR --json PATH"),
        ("check -C DIR", "check -C DIR"),
        ("-C DIR mcp list", "mcp list -C DIR"),
        ("mcp -C DIR list", "mcp list -C DIR"),
        ("--json -C DIR machine tools", "machine --json -C DIR tools"),
        ("-C DIR", "run -C DIR"),
        ("-p check", "run --print check"),
        ("-C DIR -p check", "run -C DIR -p check"),
        ("check -p", "check -p"),
        ("--model opus doctor", "doctor --model opus"),
        ("--verbose --output-format stream-json", "run --verbose --output-format stream-json"),
        ("help check", "check --help"),
        ("help", "--help"),
        ("config", "config show"),
        ("config .", "config show ."),
        ("config set a b", "config set a b"),
        ("config --help", "config --help"),
        ("--json config", "config show --json"),
    ],
)
def test_options_stand_before_the_verb_or_after_it(given: str, wanted: str) -> None:
    assert ordered(given.split()) == wanted.split()


def test_options_before_the_verb_reach_it(desk: Path, capsys: Captured) -> None:
    lay(desk, {"CLAUDE.md": "x", "sub/CLAUDE.md": "y", "sub/.git/": None})
    assert run(["-C", "sub", "--json", "show", "instructions"]) == 0
    before = json.loads(capsys.readouterr().out)["data"]
    assert run(["show", "instructions", "--json", "-C", "sub"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == before
    assert run(["--json", "-C", "sub", "check"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["data"]["root"].endswith("/sub")
    assert Path.cwd() == desk


def test_a_directory_that_does_not_exist_is_told_by_every_command(capsys: Captured, desk: Path) -> None:
    for verb in ("check", "schema", "doctor", "show"):
        assert run(["-C", "none", verb]) == 1
        assert "none" in capsys.readouterr().err


# Typing errors and misuses


MISUSES: list[tuple[str, int, str]] = [
    ("chekc", 2, "There is no command 'chekc'. Did you mean 'check'?"),
    ("-C . chekc", 2, "There is no command 'chekc'. Did you mean 'check'?"),
    ("--model opus hello", 2, "To ask a model: checkrein -p hello"),
    ("hello", 2, "To ask a model: checkrein -p hello"),
    ("summarise README.md", 2, "There is no command 'summarise'."),
    ("check --fxi", 2, "'--fix'?"),
    ("check --format yaml", 2, "'yaml' is not one of 'text', 'json', 'sarif', 'github', 'gitlab'."),
    ("check --explain AS999", 1, "AS999"),
    ("-p hi --model ollama/qwen3:8b", 2, "Write ollama:qwen3:8b."),
    ("check a b", 1, "a does not exist."),
    ("trust a b", 2, "Got unexpected extra argument (b)"),
    ("check nowhere", 1, "nowhere does not exist."),
    ("deploy --to claud", 2, "claud"),
    ("mcp", 2, "Usage: checkrein mcp"),
    ("mcp lst", 2, "There is no command 'lst'. Did you mean 'list'?"),
    ("mcp get", 2, "Missing argument 'NAME'"),
    (
        "config set model.defalt x",
        2,
        "`model.defalt` is not a configuration key. Did you mean 'model.default'?",
    ),
    ("config set session.max_turns many", 2, "session.max_turns can't be 'many'"),
    ("config set --shared model.base_url http://x", 2, "model.base_url can't be set in the project."),
    ("-p hi --model olama:x", 2, "There is no model provider 'olama'. Did you mean 'ollama'?"),
    ("-p hi --model scripted", 2, "'scripted' does not name a file."),
    ("-p hi --model scripted:none.jsonl", 1, "none.jsonl"),
    ("-p hi --effort loud", 2, "'loud' is not one of"),
    ("-p", 2, "There is no prompt."),
    ("-p hi --resume nothing --model scripted:../script.jsonl", 1, "nothing"),
    ("serve mcp --port 99999", 2, "99999 is not in the range"),
    ("mock-model x.jsonl --port -1", 2, "-1 is not in the range"),
    ("config sett", 2, "There is no command 'config sett'. Did you mean 'set'?"),
    ("config sett model.default x", 2, "Did you mean 'set'?"),
    ("-C . config unst model.default", 2, "Did you mean 'unset'?"),
    ("sessions serch x", 2, "Did you mean 'search'?"),
    ("worktree clen", 2, "Did you mean 'clean'?"),
    ("skill tst", 2, "Did you mean 'test'?"),
    ("mcp aprove x", 2, "Did you mean 'approve'?"),
    ("-p hi --add-dir", 2, "Option '--add-dir' requires an argument."),
    ("-p hi --betas --verbose", 2, "Option '--betas' requires an argument."),
    ("-p hi --settings none.json", 2, "--settings none.json can't be read: No such file or directory."),
    ("-p hi --settings {bad", 2, "--settings is not JSON"),
    ("-p hi --append-system-prompt-file none", 2, "none can't be read: No such file or directory."),
    ("-p hi --mcp-config none.json", 2, "none.json does not exist."),
    ("-p hi --agent nobody", 2, "There is no agent 'nobody'."),
    ("-p hi --agents [1]", 2, "--agents must be a JSON object."),
    ('-p hi --json-schema {"type":"objct"} --model scripted:../script.jsonl', 2, "'objct'"),
    ("-p hi --setting-sources usr", 2, "does not know 'usr'"),
    ("-p hi --max-turns -3", 2, "--max-turns must be at least 0"),
    ("-p hi --max-budget-usd -1", 2, "--max-budget-usd must be at least 0"),
    ("-p hi --task-budget x", 2, "'x' is not a valid integer"),
    ("-p hi --output-format jsno", 2, "'jsno' is not one of"),
    ("-p hi --permission-mode yolo", 2, "'yolo' is not one of"),
    ("-p hi there", 2, "Got unexpected extra argument (there)"),
    ("-p hi --resume-session-at x --model scripted:../script.jsonl", 2, "need a session to resume"),
    ("run --input-format stream-json", 2, "needs --output-format stream-json"),
    ("-p hi --debug-file /none/x", 2, "--debug-file /none/x can't be written"),
    ("trust --remvoe", 2, "'--revoke'?"),
    ("doctor --modle x", 2, "'--model'"),
    ("mock-model none.jsonl", 1, "none.jsonl does not exist"),
    ("check --select XX999", 2, "No code starts with XX999."),
    ("why", 2, "Name one thing to explain"),
    ("why permisions.deny", 1, "permissions.deny"),
    ("why x --model opus", 2, "--model only works with --prompt."),
    ("schema modle", 1, "Did you mean 'model'?"),
    ("completion tcsh", 2, "'tcsh' is not one of 'bash', 'zsh', 'fish'."),
    ("machine", 1, "A verb is missing."),
    ("machine shw-tool Bash", 1, "Did you mean 'show-tool'?"),
    ("machine show-tool Bsh", 1, "Did you mean 'Bash'?"),
]


@pytest.mark.parametrize(("line", "status", "part"), MISUSES, ids=[row[0] for row in MISUSES])
def test_what_a_misuse_gets(line: str, status: int, part: str, desk: Path, capsys: Captured) -> None:
    assert run(line.split()) == status
    said = capsys.readouterr()
    assert part in said.out + said.err
    assert "Traceback" not in said.err
    assert "answered" not in said.out


def test_no_misuse_is_silent_in_json(desk: Path, capsys: Captured) -> None:
    for line, status, _ in MISUSES:
        words = line.split()
        if words[0] in ("-p", "run", "mock-model") or (words[0] in ("mcp", "machine") and len(words) == 1):
            continue
        ended = run([*words, "--json"])
        document = json.loads(capsys.readouterr().out)
        assert (ended, document["exit_code"]) == (status, status), line
        assert document["error"]["message"], line


def test_an_option_that_does_not_exist_is_named_before_the_word_after_it(
    desk: Path, capsys: Captured
) -> None:
    assert run(["--modle", "x"]) == 2
    assert "No such option '--modle'." in capsys.readouterr().err


def test_a_prompt_of_several_words_runs_with_options_before_it(desk: Path, capsys: Captured) -> None:
    assert run(["--model", "scripted:../script.jsonl", "say something"]) == 0
    assert "answered" in capsys.readouterr().out


# Help


@pytest.mark.parametrize("name", ["", *registry.GROUPS, *registry.names()])
def test_help_fits_and_shows_an_example(name: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    if name in registry.names():
        declared = registry.command(name)
        assert f"  checkrein {name.partition(' ')[0]}" in text or "  checkrein -p" in text, "an example"
        usage = " ".join(text.partition("\n\n")[0].split())
        for arg in declared.args:
            if not arg.flags:
                shown = (arg.metavar or arg.name.upper().replace("_", "-")).removesuffix("...")
                assert (f"[{shown}" in usage) is not arg.required, f"{shown} in {usage}"
                assert shown in usage


# Colours


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}])
def test_no_color_is_obeyed_on_a_terminal(env: dict[str, str], tmp_path: Path) -> None:
    import pty

    shown, slave = pty.openpty()
    given = {**os.environ, "TERM": "xterm", **env}
    given.pop("NO_COLOR", None) if "NO_COLOR" not in env else None
    subprocess.run(
        [sys.executable, "-m", "checkrein", "doctor", "--offline"],
        stdout=slave,
        stderr=slave,
        stdin=subprocess.DEVNULL,
        env=given,
        cwd=tmp_path,
        check=False,
    )
    os.close(slave)
    data = os.read(shown, 65536)
    os.close(shown)
    assert (b"\x1b[" in data) is not bool(env)
    assert b"bash" in data


# Pipes


def piped(desk: Path, *argv: str, sends: bytes = b"") -> tuple[int, str, str, float]:
    """A process whose standard input stays open after what it sends."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "checkrein", *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=desk,
    )
    assert process.stdin is not None
    if sends:
        process.stdin.write(sends)
        process.stdin.close()
        process.stdin = None
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        out, err = process.stdout.read(), process.stderr.read()
        return process.wait(), out.decode(), err.decode(), time.monotonic() - began
    finally:
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


def test_an_open_pipe_is_not_waited_for(desk: Path) -> None:
    status, out, err, seconds = piped(desk, "-p", "hi", "--model", "scripted:../script.jsonl")
    assert (status, out) == (0, "answered\n")
    assert "Nothing came on standard input within 3 s" in err
    assert 2.5 < seconds < 30
    status, _, err, _ = piped(desk, "-p", "--model", "scripted:../script.jsonl")
    assert status == 2
    assert "There is no prompt." in err


def test_a_pipe_that_sends_is_read(desk: Path) -> None:
    status, out, err, _ = piped(desk, "-p", "--model", "scripted:../script.jsonl", sends=b"hi")
    assert (status, out) == (0, "answered\n")
    assert "Nothing came" not in err


def test_a_dash_waits_for_a_slow_pipe(desk: Path) -> None:
    line = f"(sleep 4; echo hi) | '{sys.executable}' -m checkrein -p - --model scripted:../script.jsonl"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=desk, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "answered\n", "")


# Tools, commands, flags


def script(desk: Path, *turns: dict[str, Any]) -> str:
    file = desk.parent / "turns.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    return f"scripted:{file}"


def test_a_failed_tool_shows_why(desk: Path, capsys: Captured) -> None:
    bash = {"name": "Bash", "input": {"command": "echo one; echo 'it broke here' >&2; exit 3"}}
    read = {"name": "Read", "input": {"file_path": str(desk / "none.txt")}}
    model = script(desk, {"tool_calls": [bash, read]}, {"text": "done"})
    assert run(["run", "try it", "--model", model, "--dangerously-skip-permissions"]) == 0
    out = capsys.readouterr().out
    assert "it broke here" in out
    assert "none.txt" in out.partition("Read")[2]
    assert "does not exist" in out


def test_an_unknown_command_is_an_error_with_the_nearest_name(desk: Path, capsys: Captured) -> None:
    lay(desk, {".claude/commands/review.md": "Look.", ".git/": None})
    for prompt in ("/reviw", "/reviw the last commit"):
        assert run(["-p", prompt, "--model", "scripted:../script.jsonl"]) == 1
        said = capsys.readouterr()
        assert "There is no command /reviw. Did you mean /review?" in said.err
        assert "answered" not in said.out
    assert run(["-p", "/nope", "--model", "scripted:../script.jsonl", "--output-format", "json"]) == 1
    frame = json.loads(capsys.readouterr().out)
    assert (frame["is_error"], frame["subtype"]) == (True, "error_during_execution")
    assert "/nope" in frame["errors"][0]
    for prompt in ("/etc/passwd is what?", "/tmp", "/review", "/ what"):
        assert run(["-p", prompt, "--model", "scripted:../script.jsonl"]) == 0, prompt
        capsys.readouterr()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--verbose",), "--verbose changes nothing here"),
        (("--include-partial-messages",), "--include-partial-messages changes nothing here"),
        (("--include-hook-events",), "--include-hook-events"),
        (("--replay-user-messages",), "--replay-user-messages"),
        (("--fork-session",), "--fork-session changes nothing here: there is no --continue"),
        (("--name", "x", "--no-session-persistence"), "--name"),
        (("--permission-mode", "plan", "--dangerously-skip-permissions"), "--permission-mode"),
        (("--bare", "--agents", "{}"), "--agents changes nothing here: --bare"),
        (("--init", "--maintenance"), "--maintenance"),
        (("--verbose", "--output-format", "stream-json"), None),
        (
            ("--disallowedTools", "Bassh"),
            "--disallowedTools names 'Bassh', which is not a tool. Did you mean",
        ),
        (("--allowedTools", "Bash(git"), "--allowedTools Bash(git is not a rule"),
        (("--tools", "Raed,Bash"), "Did you mean 'Read'?"),
        (("--allowedTools", "mcp__a__b", "MyOwnTool", "Task", "Bash(git *)"), None),
        (("--plugin-dir", "none"), "--plugin-dir none does not exist."),
        (("--permission-prompt-tool", "nope"), "what needs approval is refused"),
        ((), None),
    ],
)
def test_flags_without_use_warn(
    flags: tuple[str, ...], told: str | None, desk: Path, capsys: Captured
) -> None:
    assert run(["-p", "hi", "--model", "scripted:../script.jsonl", *flags]) == 0
    err = capsys.readouterr().err
    assert (told in err) if told else not err


# Why


def test_why_finds_a_plugins_item_by_its_short_name(desk: Path, ask: Callable[..., Any]) -> None:
    lay(desk, {".git/": None, ".claude/skills/kit:polish/SKILL.md": "---\ndescription: Polish.\n---\nGo.\n"})
    assert [one["name"] for one in ask("why", "polish", status=0)["explanations"]] == ["kit:polish"]


def test_why_needs_no_kind_for_tools_of_servers(desk: Path, ask: Callable[..., Any]) -> None:
    rules = {"permissions": {"deny": ["mcp__tracker__create"]}}
    lay(desk, {".git/": None, ".claude/settings.json": rules})
    found = ask("why", "mcp__tracker__create", status=0)
    assert found["kind"] == "call"
    assert found["decisions"]["mcp__tracker__create"]["verdict"] == "deny"


# Configuration


def test_a_broken_configuration_is_told_by_every_command(desk: Path, capsys: Captured) -> None:
    lay(desk, {".git/": None, "checkrein.toml": "[check\n"})
    for line in (
        "show",
        "trust",
        "sessions list",
        "schema model",
        "mcp list",
        "-p hi --model scripted:../script.jsonl",
    ):
        run(line.split())
        assert "checkrein.toml:1" in capsys.readouterr().err, line
    for line in ("check", "doctor --offline"):
        assert run(line.split()) == 1
        assert "checkrein.toml:1" in capsys.readouterr().out, line
    for line in ("show", "machine tools", "machine show-tool nope", "config"):
        run([*line.split(), "--json"])
        said = capsys.readouterr()
        assert said.err == ""
        assert json.loads(said.out)["warnings"][0]["code"] == "CFG001", line


def test_config_set_and_unset_keep_the_rest_of_the_file(desk: Path, capsys: Captured) -> None:
    file = Path(os.environ["CHECKREIN_HOME"]) / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("# mine\n[model]\n# the fast one\ndefault = 'a'\nfallback = [\n  'b',\n]\n")
    for line in (
        "config set model.default ollama:x",
        'config set model.fallback ["c"]',
        "config set guard.enabled false",
        'config set mcp.effects {"a":{"b":"exec:c"}}',
    ):
        assert run(line.split()) == 0, capsys.readouterr().err
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    assert text.startswith('# mine\n[model]\n# the fast one\ndefault = "ollama:x"\nfallback = ["c"]\n')
    assert "[guard]\nenabled = false\n" in text
    capsys.readouterr()
    assert run(["config", "--json"]) == 0
    values = {row["name"]: row["value"] for row in json.loads(capsys.readouterr().out)["data"]["values"]}
    assert values["mcp.effects"] == {"a": {"b": "exec:c"}}
    assert run(["config", "unset", "model.default"]) == 0
    assert run(["config", "unset", "model.default", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["data"]["changed"] is False
    assert "default" not in file.read_text()
    assert run(["config", "set", "check.select", '["AS"]', "--shared"]) == 0
    assert (desk / "checkrein.toml").read_text() == '[check]\nselect = ["AS"]\n'


def test_a_secret_is_read_from_standard_input_and_never_printed(
    desk: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("sk-ant-very-secret\n"))
    assert run(["config", "set", "model.api_key", "-"]) == 0
    run(["config"])
    assert "very-secret" not in capsys.readouterr().out
    assert "very-secret" in (Path(os.environ["CHECKREIN_HOME"]) / "config.toml").read_text()
    (Path(os.environ["CHECKREIN_HOME"]) / "config.toml").write_text("[model\n")
    assert run(["config", "set", "model.default", "x"]) == 2
    assert "Correct it first" in capsys.readouterr().err
