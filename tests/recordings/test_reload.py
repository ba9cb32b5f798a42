"""What a running session takes up of files that change between its prompts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from checkrein.llm.port import Text
from checkrein.model.project import Project
from checkrein.runtime.session.events import CacheBreak, Notice, ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, ScriptedModel, Turn

Write = Callable[[str, object], Path]


def bash(command: str) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": command}),))


def load(name: str) -> Turn:
    return Turn(tool_calls=(Call("Skill", {"skill": name}),))


OK = Turn(text="ok")


class Steps:
    """A session that is prompted again and again; `say` gives the tool results of one prompt."""

    def __init__(self, project: Path | Project, *turns: Turn, **options: object) -> None:
        self.model = ScriptedModel(turns, idle=5)
        self.session = Session(project, model=self.model, options=Options(trust=True, **options))
        self.events: list[object] = []

    def say(self, prompt: str = "go") -> list[ToolFinished]:
        now = list(self.session.run(prompt))
        self.events += now
        return [event for event in now if isinstance(event, ToolFinished)]

    def texts(self) -> str:
        last = self.model.requests[-1].messages
        return "\n".join(b.text for m in last for b in m.content if isinstance(b, Text))


def skill(body: str, description: str = "d", **fields: str) -> str:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return f"---\ndescription: {description}\n{more}---\n{body}"


def test_the_text_of_a_skill_is_picked_up(project: Path, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", skill("FIRST"))
    run = Steps(project, load("s"), OK, load("s"), OK, allowed=("Skill",))
    (first,) = run.say()
    write(".claude/skills/s/SKILL.md", skill("SECOND"))
    (second,) = run.say()
    assert "FIRST" in first.content
    assert "SECOND" in second.content
    assert not any(isinstance(event, CacheBreak) for event in run.events)


def test_a_new_skill_is_announced_and_grants_nothing(project: Path, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", skill("S"))
    run = Steps(project, OK, load("n"), bash("touch x"), OK, OK, allowed=("Skill",))
    run.say()
    write(".claude/skills/n/SKILL.md", skill("NEW", "the new one", allowed_tools="Bash"))
    loaded, refused = run.say()
    assert "the new one" in run.texts()
    assert "NEW" in loaded.content
    assert refused.refused
    (project / ".claude/skills/n/SKILL.md").unlink()
    run.say()
    assert "gone: n" in run.texts()


def test_a_new_skill_of_the_user_grants_nothing_either(project: Path) -> None:
    home = Path(os.environ["HOME"]) / ".claude/skills"
    for name in ("old", "new"):
        (home / name).mkdir(parents=True)
    text = skill("TEXT", allowed_tools="Bash(touch *)")
    (home / "old/SKILL.md").write_text(text)
    run = Steps(
        project, load("old"), bash("touch a"), OK, load("new"), bash("touch b"), OK, allowed=("Skill",)
    )
    assert [tool.refused for tool in run.say()] == [False, False]
    (home / "new/SKILL.md").write_text(text)
    assert [tool.refused for tool in run.say()] == [False, True]


def test_a_skill_can_not_widen_itself(project: Path, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", skill("S", allowed_tools="Bash(touch a)"))
    run = Steps(project, OK, load("s"), bash("touch a"), bash("touch b"), OK, allowed=("Skill",))
    run.say()
    write(".claude/skills/s/SKILL.md", skill("S2", allowed_tools="Bash(touch a) Bash(touch b)"))
    _, granted, refused = run.say()
    assert not granted.refused
    assert refused.refused


def test_the_text_of_a_command_is_picked_up_and_its_grants_shrink(project: Path, write: Write) -> None:
    write(".claude/commands/c.md", skill("FIRST", allowed_tools="Bash(touch a)"))
    run = Steps(project, OK, bash("touch a"), bash("touch b"), OK, OK)
    run.say("/c")
    write(".claude/commands/c.md", skill("SECOND", allowed_tools="Bash(touch a) Bash(touch b)"))
    write(".claude/commands/sub/new.md", skill("NEW", "the new one"))
    granted, refused = run.say("/c")
    assert "SECOND" in run.texts()
    assert "sub:new: the new one" in run.texts()
    assert (granted.refused, refused.refused) == (False, True)
    run.say("/sub:new")
    assert "NEW" in run.texts()


def test_what_did_not_change_is_not_announced_again(project: Path, write: Write) -> None:
    write(".claude/commands/c.md", skill("C", "the command"))
    write(".claude/skills/s/SKILL.md", skill("S", "the skill"))
    run = Steps(project, OK, OK)
    run.say()
    write(".claude/skills/s/SKILL.md", skill("S2", "the other skill"))
    run.say()
    assert run.texts().count("the command") == 1
    assert run.texts().count("the other skill") == 1


def test_a_folder_that_is_locked_stays_locked(project: Path, write: Write, tmp_path: Path) -> None:
    from checkrein.passes.load import load as read

    managed = tmp_path / "managed"
    managed.mkdir()
    (managed / "managed-settings.json").write_text(json.dumps({"strictPluginOnlyCustomization": True}))
    write(".claude/skills/s/SKILL.md", skill("S"))
    run = Steps(read(project, managed_dir=str(managed)), OK, load("s"), OK, allowed=("Skill",))
    run.say()
    write(".claude/skills/s/SKILL.md", skill("S2"))
    assert [tool.is_error for tool in run.say()] == [True]


def test_settings_only_narrow(project: Path, write: Write) -> None:
    write(".claude/settings.json", {"permissions": {"allow": ["Bash(touch a)", "Bash(touch b)"]}})
    calls = [bash("touch a"), bash("touch b"), bash("touch c"), bash("echo hi"), OK]
    run = Steps(project, *calls, *calls, *calls)
    assert [tool.refused for tool in run.say()] == [False, False, True, False]
    write(
        ".claude/settings.json",
        {"permissions": {"allow": ["Bash(touch b)", "Bash(touch c)"], "deny": ["Bash(echo *)"]}},
    )
    assert [tool.refused for tool in run.say()] == [True, False, True, True]
    notices = [event.text for event in run.events if isinstance(event, Notice)]
    assert any("2 stricter change(s)" in text for text in notices)
    assert any("Bash(touch c)" in text and "new session" in text for text in notices)
    write(".claude/settings.json", {"permissions": {"allow": ["Bash"]}})
    assert [tool.refused for tool in run.say()] == [True, True, True, True]


def test_a_new_settings_file_counts(project: Path, write: Write) -> None:
    run = Steps(project, bash("echo 1"), OK, bash("echo 1"), OK)
    assert [tool.refused for tool in run.say()] == [False]
    write(".claude/settings.local.json", {"permissions": {"deny": ["Bash(echo *)"]}})
    assert [tool.refused for tool in run.say()] == [True]


def test_hooks_are_those_of_the_start(project: Path, write: Write) -> None:
    def hooks(command: str) -> dict[str, object]:
        hook = {"type": "command", "command": command}
        return {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}

    write(".claude/settings.json", hooks("echo first >> seen"))
    run = Steps(project, bash("echo 1"), OK, bash("echo 1"), OK)
    run.say()
    write(".claude/settings.json", hooks("echo second >> seen"))
    run.say()
    seen = (project / "seen").read_text().split() if (project / "seen").exists() else []
    assert "second" not in seen
    assert seen.count("first") == 2


def test_config_change_hooks_are_told_and_may_refuse(project: Path, write: Write) -> None:
    block = {"type": "command", "command": "cat >> told; echo no >&2; exit 2"}
    own = {"hooks": {"ConfigChange": [{"hooks": [block]}]}}
    write(".claude/settings.json", own)
    run = Steps(project, bash("echo 1"), OK, bash("echo 1"), OK)
    run.say()
    write(".claude/settings.json", {**own, "permissions": {"deny": ["Bash(echo *)"]}})
    assert [tool.refused for tool in run.say()] == [False]
    told = json.loads((project / "told").read_text())
    assert (told["hook_event_name"], told["source"]) == ("ConfigChange", "project_settings")
    assert told["file_path"].endswith(".claude/settings.json")
