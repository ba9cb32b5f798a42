"""Nothing gets around the rules and hooks: a helper of a hook does not, the line of a skill does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

SECRET = "the code word is marigold"
Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def frames(project: Path, tmp_path: Path) -> Run:
    """The frames of `checkrein -p` with these replies of the model."""

    def run(*replies: dict[str, Any], words: Sequence[str] = (), prompt: str = "go") -> list[dict[str, Any]]:
        script = tmp_path / "script.jsonl"
        script.write_text("\n".join(json.dumps(reply) for reply in replies))
        argv = [sys.executable, "-m", "checkrein", "-p", prompt, "--model", f"scripted:{script}", "--trust"]
        argv += ["--output-format", "stream-json", "--verbose", "--include-hook-events", *words]
        done = subprocess.run(
            argv,
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def call(name: str, **input: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "input": input}]}


def settings(project: Path, **values: Any) -> None:
    (project / ".claude").mkdir(exist_ok=True)
    (project / ".claude" / "settings.json").write_text(json.dumps(values, indent=1))


def hook(event: str, **handler: Any) -> dict[str, Any]:
    return {event: [{"matcher": "Bash", "hooks": [handler]}]}


def transcripts() -> dict[str, list[dict[str, Any]]]:
    found = Path(os.environ["CHECKREIN_HOME"]).rglob("*.jsonl")
    return {path.name: [json.loads(line) for line in path.read_text().splitlines()] for path in found}


class TestHelper:
    """An agent hook asks a child of the session."""

    LOOK = call("Read", file_path="secret.txt")
    FINE: ClassVar[dict[str, Any]] = {"text": '{"ok": true}'}

    @pytest.fixture(autouse=True)
    def _project(self, project: Path) -> None:
        (project / "secret.txt").write_text(SECRET)
        agent = hook("PreToolUse", type="agent", prompt="Look at secret.txt. $ARGUMENTS")
        settings(project, hooks=agent, permissions={"deny": ["Read(secret.txt)"], "allow": ["Bash(echo *)"]})

    def test_it_is_bound_by_the_rules_of_its_parent(self, frames: Run) -> None:
        told = frames(call("Bash", command="echo 1"), self.LOOK, self.FINE, {"text": "done"})
        lines = transcripts()
        assert SECRET not in json.dumps(told)
        assert SECRET not in json.dumps(lines)
        denied = next(frame for frame in told if frame.get("subtype") == "permission_denied")
        assert denied["decision_reason"] == "Read(secret.txt)"
        assert told[-1]["result"] == "done"

    def test_frames_and_lines_say_whose_they_are(self, frames: Run) -> None:
        told = frames(call("Bash", command="echo 1"), self.LOOK, self.FINE, {"text": "done"})
        bash = next(
            block["id"]
            for frame in told
            if frame["type"] == "assistant"
            for block in frame["message"]["content"]
            if block.get("name") == "Bash"
        )
        children = {frame["agent_id"] for frame in told if "agent_id" in frame}
        assert len(children) == 1
        (child,) = children
        theirs = [frame for frame in told if frame.get("agent_id") == child and frame["type"] != "system"]
        assert {frame["parent_tool_use_id"] for frame in theirs} == {bash}
        assert sum(frame["type"] == "result" for frame in told) == 1
        lines = transcripts()
        own = lines.pop(f"agent-{child}.jsonl")
        said = [line for line in own if line["type"] in ("user", "assistant")]
        assert {line["agentId"] for line in said} == {child}
        assert {line["checkrein"]["parent_call"] for line in said} == {bash}
        (parent,) = lines.values()
        assert not any(line.get("agentId") for line in parent)
        assert "Look at secret.txt" not in json.dumps([line for line in parent if line["type"] == "user"])

    def test_hooks_judge_its_calls(self, frames: Run, project: Path) -> None:
        """A command hook on Read stops the helper; the agent hook itself does not ask another helper."""
        values = json.loads((project / ".claude" / "settings.json").read_text())
        guard = {"matcher": "*", "hooks": [{"type": "command", "command": "echo not that >&2; exit 2"}]}
        agent = values["hooks"]["PreToolUse"][0] | {"matcher": "*"}
        (project / "plain.txt").write_text(SECRET)
        settings(project, hooks={"PreToolUse": [agent, guard | {"matcher": "Read"}]}, permissions={})
        read = call("Read", file_path="plain.txt")
        told = frames(call("Glob", pattern="*"), read, self.FINE, {"text": "done"})
        assert SECRET not in json.dumps(told)
        assert any(frame.get("subtype") == "permission_denied" for frame in told)
        assert told[-1]["result"] == "done"

    def test_its_use_counts_for_the_session(self, frames: Run) -> None:
        used = {"input": 10, "output": 1}
        replies = (call("Bash", command="echo 1"), self.LOOK, self.FINE, {"text": "done"})
        told = frames(*(reply | {"usage": used} for reply in replies))
        assert told[-1]["usage"]["input_tokens"] == 40
        assert told[-1]["num_turns"] == 2, "requests of the session's own conversation"


class TestSkillLine:
    """A line `!` of a skill is a call of Bash like any other."""

    @pytest.fixture(autouse=True)
    def _project(self, project: Path) -> None:
        folder = project / ".claude" / "skills" / "state"
        folder.mkdir(parents=True)
        text = (
            "---\nname: state\ndescription: The state.\nallowed-tools: Bash(touch *)\n---\nNow: !`touch ran`"
        )
        (folder / "SKILL.md").write_text(text)

    USE = call("Skill", skill="state")

    def test_a_hook_that_blocks_bash_blocks_it(self, frames: Run, project: Path) -> None:
        settings(project, hooks=hook("PreToolUse", type="command", command="echo no bash here >&2; exit 2"))
        told = frames(self.USE, {"text": "done"}, words=("--allowedTools", "Skill"))
        assert not (project / "ran").exists()
        answer = next(frame for frame in told if frame["type"] == "user" and "tool_use_result" in frame)
        assert "no bash here" in json.dumps(answer)

    def test_hooks_and_events_hear_of_it(self, frames: Run, project: Path) -> None:
        log = f"cat >> {project}/heard"
        settings(project, hooks=hook("PreToolUse", type="command", command=log))
        told = frames(self.USE, {"text": "done"}, words=("--allowedTools", "Skill"))
        assert (project / "ran").exists()
        assert '"touch ran"' in (project / "heard").read_text()
        line = next(frame for frame in told if frame.get("subtype") == "tool_call")
        skill = next(frame for frame in told if frame["type"] == "assistant")["message"]["content"][0]["id"]
        assert (line["caller"], line["tool_input"]) == ("skill", {"command": "touch ran"})
        assert line["parent_tool_use_id"] == skill
        (lines,) = transcripts().values()
        marks = [
            entry["checkrein"] for entry in lines if (entry.get("checkrein") or {}).get("event") == "call"
        ]
        assert [(mark["name"], mark["parent_call"]) for mark in marks] == [("Bash", skill)]

    def test_typed_by_the_user_too(self, project: Path, frames: Run) -> None:
        settings(project, hooks=hook("PreToolUse", type="command", command="exit 2"))
        folder = project / ".claude" / "commands"
        folder.mkdir()
        (folder / "go.md").write_text("---\nallowed-tools: Bash(touch *)\n---\nNow: !`touch ran`")
        told = frames({"text": "done"}, prompt="/go")
        assert not (project / "ran").exists()
        assert told[-1]["type"] == "result"
