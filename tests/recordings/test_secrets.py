"""Secrets stay here: the model, the transcript, hooks and frames get masks, and files keep their values."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkrein.llm.script import Call
from checkrein.runtime.session.events import Notice
from checkrein.runtime.store.export import export
from checkrein.testing import Turn

KEY = "AKIA" + "Q3EGRZ7XMPLW2T9B"
TOKEN = "ghp_" + "9aB3xK7mQ2wE5rT8yU1iO4pL6sD0fG"
PEM = "\n".join(
    (
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEAx5T1c0lVq7m3vZk2n8Q4bY6wR9sJ1dF0hG3kL5pM7aX2uC",
        "q9WvB8nE4tY6rU1iO3pA5sD7fG9hJ2kL4zX6cV8bN0mQ1wE3rT5yU7iO9pA2sD",
        "Zm9v",
        "-----END " + "RSA PRIVATE KEY-----",
    )
)
MASK = re.compile(r"«secret:[a-z-]+:[0-9a-f]{10}»")


def call(name: str, **input: Any) -> Turn:
    return Turn(tool_calls=(Call(name, input),))


def everything(run: Any) -> str:
    """All that left the session: requests, events, transcript, spilled files."""
    assert run.result.subtype == "success"
    requests = msgspec.json.encode(run.model.requests).decode()
    events = msgspec.json.encode(run.events, enc_hook=str).decode()
    home = Path(os.environ["CHECKREIN_HOME"])
    kept = [path for path in home.rglob("*") if path.is_file() and "file-history" not in path.parts]
    return requests + events + "".join(path.read_text("utf-8", "replace") for path in kept)


@pytest.fixture
def env_file(project: Path) -> Path:
    path = project / ".env"
    path.write_text(f"# settings\nAWS_KEY={KEY}\nDEBUG=1\n")
    return path


def test_a_read_shows_masks_and_an_edit_keeps_the_value(play, env_file: Path) -> None:
    first = play(call("Read", file_path=".env"), Turn(text="ok"))
    content = first.tools[0].content
    (mask,) = MASK.findall(content)
    assert f"2\tAWS_KEY={mask}" in content
    assert KEY not in everything(first)
    run = play(
        call("Read", file_path=".env"),
        call(
            "Edit",
            file_path=".env",
            old_string=f"AWS_KEY={mask}\nDEBUG=1",
            new_string=f"AWS_KEY={mask}\nDEBUG=0",
        ),
        call("Write", file_path=".env", content=f"NEW=1\nAWS_KEY={mask}\n"),
        Turn(text="ok"),
        mode="acceptEdits",
    )
    assert [tool.is_error for tool in run.tools] == [False, False, False]
    assert env_file.read_text() == f"NEW=1\nAWS_KEY={KEY}\n"
    assert mask in json.dumps(run.tools[1].structured, ensure_ascii=False)
    assert KEY not in everything(run), "not in the result of the edit either"


def test_a_finding_names_file_and_line_once(play, env_file: Path) -> None:
    run = play(
        call("Read", file_path=".env"), call("Grep", pattern="AWS", output_mode="content"), Turn(text="ok")
    )
    (notice,) = run.of(Notice)
    assert notice.finding.code == "SECRET001"
    assert (notice.finding.origin.file, notice.finding.origin.span.line) == (str(env_file), 2)
    assert ".env, line 2," in notice.text
    assert KEY not in everything(run)
    assert MASK.findall(run.tools[0].content) == MASK.findall(run.tools[1].content)[:1]


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "cat .env; exit 3",
        "cat .env >&2",
        "for i in 1 2 3; do cat .env; head -c 60000 /dev/zero | tr '\\0' x; echo; done",
        "head -c 119990 /dev/zero | tr '\\0' x; cat .env; head -c 200000 /dev/zero | tr '\\0' x; false",
        "grep -n AWS .env",
        "printf '\\0\\0\\0\\0\\377\\376'; cat .env",
    ],
)
def test_output_of_commands(play, env_file: Path, command: str) -> None:
    run = play(call("Bash", command=command), Turn(text="ok"), allowed=("Bash",))
    assert KEY not in everything(run)


@pytest.mark.untraced
def test_every_cut_of_a_long_output_leaves_no_half_secret(play, env_file: Path) -> None:
    """A limit may fall into the middle of a secret."""
    for fill in (4_990, 9_985, 14_990, 29_985):
        filler = "x" * (fill - 1)
        (env_file.parent / "out.txt").write_text(f"{filler} {KEY} {'y ' * 40_000}")
        run = play(
            call("Bash", command="cat out.txt"),
            call("Bash", command="cat out.txt; false"),
            Turn(text="ok"),
            allowed=("Bash",),
        )
        assert KEY[:12] not in everything(run)


def test_a_private_key_line_by_line(play, project: Path) -> None:
    (project / "id").write_text(PEM + "\n")
    run = play(
        call("Read", file_path="id", offset=3, limit=1),
        call("Read", file_path="id"),
        call("Grep", pattern="^q9Wv", output_mode="content", path="id"),
        call("Bash", command="sed -n 3,3p id"),
        Turn(text="ok"),
        allowed=("Bash",),
    )
    for line in PEM.splitlines()[1:-1]:
        assert line not in everything(run)
    assert run.tools[1].content.count("\n") >= 5, "the line numbers stay right"


def test_a_key_from_the_middle_by_search_alone(play, project: Path) -> None:
    (project / "id").write_text(PEM + "\n")
    run = play(call("Grep", pattern="^q9Wv", output_mode="content"), Turn(text="ok"))
    assert "q9WvB8nE4tY6" not in everything(run)
    run = play(call("Bash", command="tail -n 3 id"), Turn(text="ok"), allowed=("Bash",))
    assert "q9WvB8nE4tY6" not in everything(run)


def test_a_background_command_whose_secret_comes_in_two_pieces(play, project: Path) -> None:
    script = f"printf 'key {TOKEN[:15]}'; sleep 0.4; printf '{TOKEN[15:]}\\n'; sleep 0.2; printf 'end'"
    (project / "slow.sh").write_text(script)
    run = play(
        call("Bash", command="bash slow.sh", run_in_background=True),
        call("Bash", command="sleep 0.2"),
        call("TaskOutput", task_id="bash_1", block=False),
        call("TaskOutput", task_id="bash_1"),
        Turn(text="ok"),
        allowed=("Bash", "TaskOutput"),
    )
    said = everything(run)
    assert TOKEN not in said
    assert TOKEN[:15] not in said
    assert TOKEN[15:] not in said
    assert MASK.search(run.tools[3].content)
    assert "end" in run.tools[3].content


class TestMasksAreNoWayOut:
    def test_no_other_tool_gets_the_value(self, play, env_file: Path, project: Path) -> None:
        mask = MASK.findall(play(call("Read", file_path=".env"), Turn(text="ok")).tools[0].content)[0]
        run = play(
            call("Read", file_path=".env"),
            call("Bash", command=f"echo '{mask}' > out.txt"),
            call("Write", file_path="copy.txt", content=f"K={mask}\n"),
            Turn(text="ok"),
            mode="acceptEdits",
            allowed=("Bash",),
        )
        assert (project / "out.txt").read_text() == f"{mask}\n"
        assert "used as plain text" in run.tools[1].content
        assert run.tools[2].is_error
        assert "not in this file" in run.tools[2].content
        assert not (project / "copy.txt").exists()

    def test_a_mask_that_the_model_made_up_is_plain_text(self, play, env_file: Path, project: Path) -> None:
        forged = "«secret:aws-key:0123456789»"
        run = play(
            call("Write", file_path="notes.md", content=f"Masks look like {forged}.\n"),
            call("Edit", file_path="notes.md", old_string=forged, new_string="so"),
            Turn(text="ok"),
            mode="acceptEdits",
        )
        assert [tool.is_error for tool in run.tools] == [False, False]
        assert (project / "notes.md").read_text() == "Masks look like so.\n"

    def test_all_masks_that_can_be_guessed(self, play, env_file: Path, project: Path) -> None:
        """No guess of a digest puts a secret of another file into a file."""
        guesses = "\n".join(f"«secret:aws-key:{n:010x}»" for n in range(500))
        run = play(call("Write", file_path="g.txt", content=guesses), Turn(text="ok"), mode="acceptEdits")
        assert run.result.subtype == "success"
        assert not (project / "g.txt").exists() or KEY not in (project / "g.txt").read_text()


def test_masks_are_the_same_in_a_resumed_session(play, env_file: Path) -> None:
    (env_file.parent / "other.env").write_text(f"GITHUB_TOKEN={TOKEN}\n")
    first = play(call("Read", file_path=".env"), call("Read", file_path="other.env"), Turn(text="ok"))
    (mask,) = MASK.findall(first.tools[0].content)
    first.session.close()
    again = play(
        call("Read", file_path="other.env"),
        call("Read", file_path=".env"),
        call("Edit", file_path=".env", old_string=f"={mask}", new_string=f"={mask} # mine"),
        Turn(text="ok"),
        resume=first.session.id,
        mode="acceptEdits",
    )
    assert not again.tools[2].is_error, again.tools[2].content
    assert f"AWS_KEY={KEY} # mine\n" in env_file.read_text()


def test_hooks_get_masks(play, env_file: Path, write: Any) -> None:
    hook = {"type": "command", "command": f"cat >> hooked.txt; echo said {TOKEN}"}
    entry = [{"hooks": [hook]}]
    write(
        ".claude/settings.json", {"hooks": {"PostToolUse": entry, "PreToolUse": entry, "SessionStart": entry}}
    )
    run = play(call("Read", file_path=".env"), Turn(text="ok"))
    told = (env_file.parent / "hooked.txt").read_text()
    assert KEY not in told
    assert MASK.search(told)
    assert TOKEN not in everything(run), "what a hook prints is masked too"


def test_mentions(play, env_file: Path) -> None:
    run = play(Turn(text="ok"), prompt="look at @.env")
    assert KEY not in everything(run)
    assert MASK.search(msgspec.json.encode(run.model.requests[0]).decode())
    assert [notice.finding.origin.span.line for notice in run.of(Notice)] == [2]


def test_a_large_result_in_a_file_has_masks(play, project: Path) -> None:
    lines = "\n".join(f"line {n} {KEY if n == 4_000 else ''}" for n in range(9_000))
    (project / "big.txt").write_text(lines)
    run = play(call("Bash", command="cat big.txt"), Turn(text="ok"), allowed=("Bash",))
    saved = Path(run.tools[0].structured["persistedOutputPath"]).read_text()
    assert KEY not in saved
    assert MASK.search(saved)
    assert saved.count("\n") == lines.count("\n")
    assert KEY not in everything(run)


class TestReveal:
    def test_files_that_the_user_wants_to_show(
        self, play, env_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CHECKREIN_SECRETS__REVEAL", '["Read(.env)"]')
        (env_file.parent / "other.env").write_text(f"GITHUB_TOKEN={TOKEN}\n")
        run = play(
            call("Read", file_path=".env"),
            call("Grep", pattern="=", output_mode="content", glob="*.env"),
            call("Bash", command="cat .env"),
            Turn(text="ok"),
            allowed=("Bash",),
        )
        assert all(KEY in tool.content for tool in run.tools)
        assert TOKEN not in everything(run)

    def test_not_by_a_project(self, play, env_file: Path, write: Any) -> None:
        write("checkrein.toml", '[secrets]\nreveal = ["Read(**)"]\npass = ["ANTHROPIC_API_KEY"]\n')
        assert KEY not in everything(play(call("Read", file_path=".env"), Turn(text="ok")))

    def test_a_tool_but_never_our_own_credentials(
        self, play, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = "plain-credential-of-ours"
        monkeypatch.setenv("CHECKREIN_SECRETS__REVEAL", '["Bash"]')
        monkeypatch.setenv("OPENAI_API_KEY", own)
        (project / "a.txt").write_text(f"{KEY} {own}\n")
        run = play(call("Bash", command="cat a.txt"), Turn(text="ok"), allowed=("Bash",))
        assert KEY in run.tools[0].content
        assert own not in everything(run)


def test_our_own_credentials_by_value(play, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "not.like.any.known.shape"
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", own)
    (project / "log.txt").write_text(f"x{own}y\n")
    run = play(call("Read", file_path="log.txt"), Turn(text="ok"))
    assert own not in everything(run)
    assert "«secret:own-key:" in run.tools[0].content


def test_our_own_credentials_from_configuration_and_settings(play, project: Path, write: Any) -> None:
    write(".checkrein/secrets.toml", '[model]\napi_key = "one.from.the.config"\n').chmod(0o600)
    user = Path(os.environ["HOME"], ".claude", "settings.json")
    user.parent.mkdir()
    user.write_text(json.dumps({"env": {"OPENAI_API_KEY": "one.from.the.settings"}}))
    (project / "log.txt").write_text("one.from.the.config one.from.the.settings\n")
    run = play(
        call("Read", file_path="log.txt"), call("Bash", command="env"), Turn(text="ok"), allowed=("Bash",)
    )
    assert "one.from" not in everything(run)
    assert "OPENAI_API_KEY" not in run.tools[1].content


class TestChildren:
    OWN = (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "GROQ_API_KEY",
    )

    def test_none_has_our_credentials(
        self, play, project: Path, write: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in (*self.OWN, "MY_CLOUD"):
            monkeypatch.setenv(name, f"value-of-{name}")
        monkeypatch.setenv("CHECKREIN_SECRETS__WITHHOLD", '["MY_CLOUD"]')
        hook = {"type": "command", "command": "env > hook.env"}
        write(".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
        write(".claude/commands/env.md", "!`env > skill.env`\n")
        play(call("Bash", command="env > bash.env"), Turn(text="ok"), allowed=("Bash",))
        play(Turn(text="ok"), prompt="/env", allowed=("Bash",))
        for file in ("hook.env", "bash.env", "skill.env"):
            text = (project / file).read_text()
            assert "PATH=" in text
            assert "value-of-" not in text, file

    def test_the_user_may_pass_one(self, play, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "value-of-it")
        monkeypatch.setenv("CHECKREIN_SECRETS__PASS", '["OPENAI_API_KEY"]')
        run = play(call("Bash", command="env > bash.env; env"), Turn(text="ok"), allowed=("Bash",))
        assert "OPENAI_API_KEY=value-of-it" in (project / "bash.env").read_text()
        assert "value-of-it" not in run.tools[0].content, "it still does not go to the model"


def test_the_command_line_prints_and_exports_masks(project: Path, env_file: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(
        '{"tool_calls": [{"name": "Read", "input": {"file_path": ".env"}}]}\n{"text": "done"}\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "checkrein", "-p", "go", "--model", f"scripted:{script}",
         "--output-format", "stream-json", "--verbose", "--trust"],
        cwd=project, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    frames = [json.loads(line) for line in done.stdout.splitlines()]
    (finding,) = [frame["finding"] for frame in frames if "finding" in frame]
    assert (finding["code"], finding["origin"]["span"]["line"]) == ("SECRET001", 2)
    (log,) = Path(os.environ["CHECKREIN_HOME"]).rglob("*.jsonl")
    assert KEY not in log.read_text()
    assert all(KEY not in "".join(export(log, form, redact=False)) for form in ("markdown", "json", "jsonl"))
