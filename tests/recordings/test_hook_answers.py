"""What hooks may answer, through the whole command line, with the scripted server."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Text
from checkrein.runtime.session.events import AssistantBlock, ContextAdded, Streamed
from checkrein.testing import Call, Fault, ScriptedServer, Turn

Write = Callable[[str, object], Path]
SECRET = "the host is zeus.internal"


class Ran:
    """A finished process, what the model was asked, and what was kept."""

    def __init__(self, done: subprocess.CompletedProcess[str], bodies: list[dict[str, Any]]) -> None:
        self.stdout = done.stdout
        self.stderr = done.stderr
        self.status = done.returncode
        self.bodies = bodies

    @property
    def frames(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    def said(self, index: int) -> str:
        """All the texts of the user's side of a request."""
        return json.dumps([m["content"] for m in self.bodies[index]["messages"] if m["role"] == "user"])

    @property
    def transcript(self) -> list[dict[str, Any]]:
        (file,) = Path(os.environ["CHECKREIN_HOME"]).rglob("projects/*/*.jsonl")
        return [json.loads(line) for line in file.read_text().splitlines()]


Checkrein = Callable[..., Ran]


@pytest.fixture
def checkrein(project: Path) -> Checkrein:
    """Runs `checkrein` with hooks; a hook that is no text answers with this as its JSON."""

    def run(*words: str, turns: list[dict[str, Any]], **hooks: object) -> Ran:
        settings = {
            "hooks": {
                event: [{"hooks": [{"type": "command", "command": command(event, answer)}]}]
                for event, answer in hooks.items()
            }
        }
        with ScriptedServer(turns) as server:
            env = {**os.environ, "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "none"}
            given = ["--settings", json.dumps(settings), "--model", "anthropic:claude-sonnet-4-5"]
            argv = [sys.executable, "-m", "checkrein", *words, *given]
            done = subprocess.run(
                argv,
                env=env,
                cwd=project,
                capture_output=True,
                text=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            return Ran(done, [json.loads(request.body) for request in server.requests])

    return run


def command(event: str, answer: object) -> str:
    if isinstance(answer, str):
        return answer
    assert isinstance(answer, dict)
    top = answer.pop("top", {})
    said = top | {"hookSpecificOutput": {"hookEventName": event, **answer}}
    return f"echo {shlex.quote(json.dumps(said))}"


class TestFirstMessage:
    def test_it_is_a_turn_of_its_own_before_the_prompt(self, checkrein: Checkrein) -> None:
        turns = [{"text": "I am ready"}, {"text": "and done"}]
        first = {"initialUserMessage": "GET READY"}
        ran = checkrein("-p", "DO IT", "--output-format", "json", turns=turns, SessionStart=first)
        assert len(ran.bodies) == 2
        assert "GET READY" in ran.said(0)
        assert "DO IT" not in ran.said(0)
        assert [m["role"] for m in ran.bodies[1]["messages"]] == ["user", "assistant", "user"]
        assert "DO IT" in ran.said(1)
        (result,) = ran.frames
        assert (result["result"], result["num_turns"], result["is_error"]) == ("and done", 2, False)

    def test_it_goes_the_way_of_every_prompt(self, checkrein: Checkrein, write: Write) -> None:
        write(".claude/commands/warm.md", "WARM UP $ARGUMENTS")
        note = {"additionalContext": "NOTED"}
        ran = checkrein(
            *("-p", "go", "--output-format", "stream-json"),
            turns=[{"text": "warm"}, {"text": "done"}],
            SessionStart={"initialUserMessage": "/warm slowly"},
            UserPromptSubmit=note,
        )
        assert "WARM UP slowly" in ran.said(0)
        assert ran.said(1).count("NOTED") == 2
        kinds = [frame["type"] for frame in ran.frames]
        assert (kinds.count("result"), kinds[-1]) == (1, "result")

    def test_when_it_fails_the_prompt_is_not_tried(self, checkrein: Checkrein) -> None:
        ran = checkrein(
            *("-p", "DO IT", "--output-format", "json"),
            turns=[{"fault": {"status": 401}}, {"text": "never"}],
            SessionStart={"initialUserMessage": "GET READY"},
        )
        assert len(ran.bodies) == 1
        assert ran.status == 1

    def test_a_person_writes_the_first_message(self, checkrein: Checkrein) -> None:
        first = {"initialUserMessage": "GET READY"}
        ran = checkrein("run", "DO IT", turns=[{"text": "done"}], SessionStart=first)
        assert len(ran.bodies) == 1
        assert "GET READY" not in ran.said(0)


class TestBlockedPrompt:
    BLOCK: dict[str, Any] = {"decision": "block", "reason": "not like this"}  # noqa: RUF012

    @pytest.mark.parametrize("suppressed", [False, True])
    def test_the_prompt_is_repeated_unless_it_is_suppressed(
        self, checkrein: Checkrein, suppressed: bool
    ) -> None:
        answer = {"top": dict(self.BLOCK), "suppressOriginalPrompt": suppressed}
        ran = checkrein("-p", "my password is x", turns=[{"text": "never"}], UserPromptSubmit=answer)
        assert ran.bodies == []
        assert "not like this" in ran.stdout
        assert ("my password" in ran.stdout) is not suppressed

    def test_it_suppresses_nothing_that_is_not_blocked(self, checkrein: Checkrein) -> None:
        answer = {"suppressOriginalPrompt": True}
        ran = checkrein("-p", "HELLO", turns=[{"text": "done"}], UserPromptSubmit=answer)
        assert "HELLO" in ran.said(0)
        assert ran.stdout.strip() == "done"


def test_a_prompt_gives_the_session_its_title(checkrein: Checkrein) -> None:
    ran = checkrein("-p", "fix it", turns=[{"text": "done"}], UserPromptSubmit={"sessionTitle": "Fixing"})
    assert [e["customTitle"] for e in ran.transcript if e["type"] == "custom-title"][-1] == "Fixing"


class TestReloadedSkills:
    def install(self, then: str, body: str = "FRESH TEXT", **fields: str) -> str:
        front = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
        skill = f"---\ndescription: freshly made\n{front}---\n{body}\n"
        made = f"mkdir -p .claude/skills/fresh .claude/commands; printf %s {shlex.quote(skill)}"
        return f"{made} > .claude/skills/fresh/SKILL.md; echo HI '$0' > .claude/commands/hi.md; {then}"

    def say(self, value: bool) -> str:
        return command("SessionStart", {"reloadSkills": value})

    @pytest.mark.parametrize("asked", [True, False])
    def test_they_count_from_the_first_prompt_on(
        self, checkrein: Checkrein, project: Path, asked: bool
    ) -> None:
        load = {"tool_calls": [{"name": "Skill", "input": {"skill": "fresh"}, "id": "t1"}]}
        ran = checkrein(
            *("-p", "/hi there" if asked else "hi there", "--allowedTools", "Skill"),
            turns=[load, {"text": "done"}],
            SessionStart=self.install(self.say(asked)),
        )
        assert ("fresh: freshly made" in ran.said(0)) is asked
        assert ("HI there" in ran.said(0)) is asked
        assert ("FRESH TEXT" in ran.said(1)) is asked
        assert "Working directory" in ran.said(0)

    def test_they_grant_nothing(self, checkrein: Checkrein, project: Path) -> None:
        load = {"tool_calls": [{"name": "Skill", "input": {"skill": "fresh"}, "id": "t1"}]}
        touch = {"tool_calls": [{"name": "Bash", "input": {"command": "touch z"}, "id": "t2"}]}
        ran = checkrein(
            *("-p", "go", "--allowedTools", "Skill"),
            turns=[load, touch, {"text": "done"}],
            SessionStart=self.install(self.say(True), allowed_tools="Bash"),
        )
        assert "FRESH TEXT" in ran.said(1)
        assert not (project / "z").exists()


class TestShownText:
    HIDE = """python3 -c '
import json, sys
shown = json.load(sys.stdin)["delta"].replace("zeus.internal", "[host]")
print(json.dumps({"hookSpecificOutput": {"hookEventName": "MessageDisplay", "displayContent": shown}}))'"""

    @pytest.mark.parametrize("form", ["text", "json", "stream-json"])
    def test_programs_get_what_the_hook_says(self, checkrein: Checkrein, form: str) -> None:
        ran = checkrein(
            *("-p", "go", "--output-format", form), turns=[{"text": SECRET}], MessageDisplay=self.HIDE
        )
        assert "the host is [host]" in ran.stdout
        assert "zeus" not in ran.stdout
        assert SECRET in json.dumps(ran.transcript)

    @pytest.mark.parametrize("words", [("run", "go"), ("-p", "go", "--output-format", "stream-json")])
    def test_nothing_is_streamed_before_the_hook_has_seen_it(
        self, checkrein: Checkrein, words: tuple[str, ...]
    ) -> None:
        partial = ("--include-partial-messages",) if words[0] == "-p" else ()
        ran = checkrein(*words, *partial, turns=[{"text": SECRET, "chunk": 4}], MessageDisplay=self.HIDE)
        assert "the host is [host]" in ran.stdout
        assert "zeus" not in ran.stdout

    def test_the_model_and_other_hooks_keep_the_words(self, checkrein: Checkrein, project: Path) -> None:
        call = {"text": SECRET, "tool_calls": [{"name": "Bash", "input": {"command": "echo 1"}, "id": "t1"}]}
        seen = "cat > stop.json"
        ran = checkrein("-p", "go", turns=[call, {"text": SECRET}], MessageDisplay=self.HIDE, Stop=seen)
        assert SECRET in json.dumps(ran.bodies[1])
        assert json.loads((project / "stop.json").read_text())["last_assistant_message"] == SECRET

    def test_once_for_each_message_with_text(self, checkrein: Checkrein, project: Path) -> None:
        calls = [{"name": "Bash", "input": {"command": "echo 1"}, "id": "t1"}]
        turns = [{"text": "one", "tool_calls": calls}, {"tool_calls": [{**calls[0], "id": "t2"}]}]
        ran = checkrein("-p", "go", turns=[*turns, {"text": "two"}], MessageDisplay="cat >> log; echo >> log")
        told = [json.loads(line) for line in (project / "log").read_text().splitlines() if line]
        assert [(t["delta"], t["index"], t["final"]) for t in told] == [("one", 0, True), ("two", 0, True)]
        assert len({t["message_id"] for t in told}) == 2
        assert len({t["turn_id"] for t in told}) == 1
        assert ran.stdout.strip() == "two"

    @pytest.mark.parametrize("broken", ["exit 1", "echo '{\"hookSpecificOutput\": 7}'", "exit 2"])
    def test_one_that_fails_shows_the_original(self, checkrein: Checkrein, broken: str) -> None:
        ran = checkrein("-p", "go", turns=[{"text": SECRET}], MessageDisplay=broken)
        assert ran.stdout.strip() == SECRET


def test_a_reply_of_several_parts_is_shown_once(play, write: Write) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "MessageDisplay", "displayContent": "SHOWN"}}
    hook = {"type": "command", "command": f"echo '{json.dumps(answer)}'"}
    write(".claude/settings.json", {"hooks": {"MessageDisplay": [{"hooks": [hook]}]}})
    call = Call("Bash", {"command": "echo 1"})
    flaky = Turn(fault=Fault(status=529))
    run = play(flaky, Turn(text="one", tool_calls=(call,)), Turn(text="two"), partial=True)
    shown = [b.block.text for b in run.of(AssistantBlock) if isinstance(b.block, Text)]
    assert shown == ["SHOWN", "SHOWN"]
    streamed = [e.event.text for e in run.of(Streamed) if type(e.event).__name__ == "TextDelta"]
    assert streamed == ["SHOWN", "SHOWN"]
    assert run.result.text == "SHOWN"
    spoken = [b.text for b in run.model.requests[-1].messages[1].content if isinstance(b, Text)]
    assert spoken == ["one"]


def test_the_opening_comes_before_what_async_hooks_say(play, write: Write) -> None:
    """Words of an async hook that are there before the first prompt do not push out the instructions."""
    write("CLAUDE.md", "THE RULES")
    said = json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "EARLY"}})
    early = {"type": "command", "command": f"echo '{said}'", "async": True}
    hooks = [early, {"type": "command", "command": "sleep 0.7"}]
    write(".claude/settings.json", {"hooks": {"SessionStart": [{"hooks": hooks}]}})
    run = play(Turn(text="done"))
    texts = [b.text for b in run.model.requests[0].messages[0].content if isinstance(b, Text)]
    order = [next(i for i, t in enumerate(texts) if word in t) for word in ("THE RULES", "EARLY", "go")]
    assert order == sorted(order)
    assert any("EARLY" in context.text for context in run.of(ContextAdded))


def test_the_parts_of_a_plugin_find_its_files_its_data_and_its_options(project: Path, tmp_path: Path) -> None:
    """The real command line with `--plugin-dir`: a hook, and a skill."""
    plugin = tmp_path / "tools"
    told = 'test -d ${CLAUDE_PLUGIN_ROOT}/hooks && env | grep ^CLAUDE_PLUGIN_ > "$CLAUDE_PROJECT_DIR/told"'
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": told}]}]}}
    options = {
        "region": {"type": "string", "title": "t", "description": "d", "default": "north"},
        "token": {"type": "string", "title": "t", "description": "d", "sensitive": True, "default": "hush"},
    }
    files = {
        ".claude-plugin/plugin.json": {"name": "tools", "userConfig": options},
        "hooks/hooks.json": hooks,
    }
    for name, content in files.items():
        file = plugin / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    (plugin / "skills/s").mkdir(parents=True)
    body = "IN ${CLAUDE_PLUGIN_ROOT} AT ${user_config.region} WITH ${user_config.token}"
    (plugin / "skills/s/SKILL.md").write_text(f"---\ndescription: d\n---\n{body}\n")
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "done"}\n')
    argv = [sys.executable, "-m", "checkrein", "-p", "/tools:s", "--plugin-dir", str(plugin), "--trust"]
    argv += ["--model", f"scripted:{script}"]
    subprocess.run(argv, cwd=project, stdin=subprocess.DEVNULL, timeout=60, check=True, capture_output=True)
    (transcript,) = Path(os.environ["CHECKREIN_HOME"]).rglob("projects/*/*.jsonl")
    assert f"IN {plugin} AT north WITH ${{user_config.token}}" in transcript.read_text()
    found = dict(line.split("=", 1) for line in (project / "told").read_text().splitlines())
    assert found["CLAUDE_PLUGIN_ROOT"] == str(plugin)
    assert found["CLAUDE_PLUGIN_DATA"].startswith(str(Path.home() / ".claude/plugins/data/tools"))
    assert found["CLAUDE_PLUGIN_OPTION_REGION"] == "north"
    assert "hush" not in found.values()
