"""What the model is told, and when: instructions, nested files, rules and skills with paths."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from checkrein.llm.port import Text
from checkrein.runtime.session.events import ContextAdded
from checkrein.testing import Call, Turn

Write = Callable[[str, object], Path]


def texts(request) -> str:
    return "\n".join(
        b.text for m in request.messages if m.role == "user" for b in m.content if isinstance(b, Text)
    )


def read(*paths: str) -> Turn:
    return Turn(tool_calls=tuple(Call("Read", {"file_path": path}) for path in paths))


def test_instructions_come_before_the_prompt(play, write: Write) -> None:
    write("CLAUDE.md", "RULE ONE @docs/more.md")
    write("docs/more.md", "RULE TWO")
    run = play(Turn(text="ok"), prompt="PROMPT")
    said = texts(run.model.requests[0])
    assert said.index("RULE ONE") < said.index("RULE TWO") < said.index("PROMPT")
    assert "PROMPT" not in said[: said.index("RULE TWO")]


def test_nested_instructions_load_once_when_a_file_there_is_read(play, write: Write) -> None:
    write("sub/CLAUDE.md", "NESTED")
    write("sub/deep/CLAUDE.md", "DEEPER")
    write("sub/deep/x.txt", "x")
    run = play(read("a.txt"), read("sub/deep/x.txt"), read("sub/deep/x.txt"), Turn(text="ok"))
    assert "NESTED" not in texts(run.model.requests[1])
    said = texts(run.model.requests[-1])
    assert said.count("NESTED") == 1
    assert said.index("NESTED") < said.index("DEEPER")
    assert [event.source for event in run.of(ContextAdded)] == ["instruction", "instruction"]


def test_rules_with_paths_load_when_a_file_matches(play, write: Write) -> None:
    write(".claude/rules/ts.md", "---\npaths: ['src/**/*.{ts,tsx}']\n---\nTYPESCRIPT RULE")
    write(".claude/rules/root.md", "---\npaths: '*.md'\n---\nROOT RULE")
    write("src/a/b.tsx", "x")
    write("docs/c.md", "x")
    run = play(read("docs/c.md"), read("src/a/b.tsx"), Turn(text="ok"))
    first, second, third = (texts(request) for request in run.model.requests)
    assert "RULE" not in first
    assert "RULE" not in second
    assert "TYPESCRIPT RULE" in third
    assert "ROOT RULE" not in third


def test_skills_with_paths_are_listed_when_a_file_matches(play, write: Write) -> None:
    write(
        ".claude/skills/ts/SKILL.md",
        "---\nname: ts\ndescription: For TypeScript.\npaths: '**/*.ts'\n---\nBODY",
    )
    write(".claude/skills/plain/SKILL.md", "---\nname: plain\ndescription: Always there.\n---\nBODY")
    write("x.ts", "x")
    run = play(read("x.ts"), Turn(text="ok"))
    first, second = (texts(request) for request in run.model.requests)
    assert "plain: Always there." in first
    assert "For TypeScript" not in first
    assert "ts: For TypeScript." in second


def test_the_skill_tool_loads_a_skill_and_grants_for_the_turn(play, write: Write, project: Path) -> None:
    write(
        ".claude/skills/make/SKILL.md",
        "---\nname: make\ndescription: Makes.\nallowed-tools: Bash(touch *)\n---\n"
        "Make $0 in ${CLAUDE_SKILL_DIR}.",
    )
    call = Turn(tool_calls=(Call("Bash", {"command": "touch made"}),))
    load = Turn(tool_calls=(Call("Skill", {"skill": "make", "args": "it"}),))
    run = play(call, load, call, Turn(text="ok"), allowed=("Skill",))
    refused, loaded, granted = run.tools
    assert refused.refused
    assert "Make it in" in loaded.content
    assert str(project / ".claude/skills/make") in loaded.content
    assert not granted.refused
    assert (project / "made").exists()
    run.model.script = type(run.model.script)([call, Turn(text="ok")])
    again = list(run.session.run("next"))
    assert any(getattr(event, "refused", False) for event in again)


def test_a_skill_with_a_shell_line_is_refused_when_the_line_is(play, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: S.\n---\nNow: !`touch x`")
    write(".claude/skills/d/SKILL.md", "---\nname: d\ndescription: D.\n---\nNow: !`echo 42`")
    run = play(
        Turn(tool_calls=(Call("Skill", {"skill": "s"}), Call("Skill", {"skill": "d"}))),
        Turn(text="ok"),
        allowed=("Skill",),
    )
    refused, ran = run.tools
    assert "permission check failed" in refused.content
    assert "Now: 42" in ran.content


def test_untrusted_shell_lines_never_run(play, write: Write, project: Path) -> None:
    write(".claude/skills/d/SKILL.md", "---\nname: d\ndescription: D.\n---\nNow: !`echo 42`")
    run = play(
        Turn(tool_calls=(Call("Skill", {"skill": "d"}),)), Turn(text="ok"), allowed=("Skill",), trust=False
    )
    assert "not trusted" in run.tools[0].content


def test_slash_commands(play, write: Write) -> None:
    write(".claude/commands/greet.md", "---\narguments: [who]\n---\nGreet $who, $ARGUMENTS.")
    run = play(Turn(text="ok"), prompt="/greet Ann now")
    last = run.model.requests[0].messages[-1].content
    assert last[-1] == Text("Greet Ann, Ann now.")
    assert last[-2].text.startswith(
        "<command-message>greet</command-message>\n<command-name>/greet</command-name>"
    )


def test_a_path_is_not_a_slash_command(play) -> None:
    run = play(Turn(text="ok"), prompt="/etc/hosts is what?")
    assert run.model.requests[0].messages[-1].content[-1] == Text("/etc/hosts is what?")


def test_mentions_attach_files_that_may_be_read(play, write: Write) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Read(secret.txt)"]}})
    write("secret.txt", "HIDDEN")
    run = play(Turn(text="ok"), prompt="compare @a.txt and @secret.txt, me@example.com")
    said = texts(run.model.requests[0])
    assert "alpha" in said
    assert "HIDDEN" not in said
    assert "not allowed" in said


def test_a_pipe_in_place_of_head_does_not_hold_up_a_start(tmp_path: Path) -> None:
    from checkrein.runtime.context.reminders import git_branch

    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert git_branch(str(tmp_path)) is None
    (tmp_path / ".git" / "HEAD").unlink()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert git_branch(str(tmp_path)) == "main"
