"""A file that a Read rule denies enters no request, whichever way it would come."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.runtime.memory.place import memory_dir
from checkrein.runtime.session.events import Notice
from checkrein.testing import Call, Turn

Write = Callable[[str, object], Path]
SECRET = "SECRET-OF-THE-FILE"
DONE = Turn(text="done")


@pytest.fixture(autouse=True)
def _rules(write: Write) -> None:
    rules = ["Read(**/.env)", "Read(private/**)", "Read(**/denied/**)"]
    write(".claude/settings.json", {"permissions": {"deny": rules}})
    write(".env", SECRET)
    write("private/x.md", SECRET)


def sent(run) -> str:
    return repr(run.model.requests)


def notices(run) -> str:
    return "\n".join(event.text for event in run.of(Notice))


def test_imports(play, write: Write) -> None:
    write("CLAUDE.md", "Use it.\nSee @.env and @docs/more.md\n")
    write("docs/more.md", "MORE @../private/x.md")
    run = play(DONE)
    assert SECRET not in sent(run)
    assert "MORE" in sent(run)
    told = notices(run)
    assert "CLAUDE.md:2: " in told
    assert "Read(**/.env)" in told
    assert ".claude/settings.json:" in told
    assert "docs/more.md:1: " in told
    assert [one.code for one in run.result.skipped].count("READ001") == 2


def test_a_link_to_a_denied_file(play, write: Write, project: Path) -> None:
    (project / "CLAUDE.md").symlink_to(".env")
    (project / ".claude/rules").mkdir()
    (project / ".claude/rules/r.md").symlink_to("../../private/x.md")
    assert SECRET not in sent(play(DONE))


def test_what_a_denied_file_imports(play, write: Write) -> None:
    write("denied/in.md", "IN @../other.md")
    write("other.md", "OTHER")
    write("CLAUDE.md", "@denied/in.md")
    run = play(DONE)
    assert "OTHER" not in sent(run)


def test_nested_instructions(play, write: Write) -> None:
    write("sub/CLAUDE.md", "NESTED @../.env")
    write("sub/a.txt", "a")
    write("denied/CLAUDE.md", SECRET)
    write("denied/.claude/rules/r.md", SECRET)
    run = play(Turn(tool_calls=(Call("Read", {"file_path": "sub/a.txt"}),)), DONE)
    assert "NESTED" in sent(run)
    assert SECRET not in sent(run)
    assert "sub/CLAUDE.md:1: " in notices(run)


def skill(text: str = SECRET, description: str = SECRET) -> str:
    return f"---\nname: s\ndescription: {description}\n---\n{text}\n"


@pytest.mark.parametrize("asked", ["model", "user"])
def test_skills(play, write: Write, asked: str) -> None:
    write(".claude/skills/denied/SKILL.md", skill())
    write(".claude/skills/open/SKILL.md", skill("OPEN", "OPEN"))
    call = Turn(tool_calls=(Call("Skill", {"skill": "denied"}),))
    run = play(call, DONE) if asked == "model" else play(DONE, prompt="/denied now")
    assert SECRET not in sent(run)
    if asked == "model":
        assert "OPEN" in sent(run)
    else:
        assert run.model.requests == [], "there is no such command"
    assert "denied/SKILL.md" in notices(run)


def test_a_skill_that_only_the_user_may_invoke(play, write: Write) -> None:
    write(
        ".claude/skills/manual/SKILL.md",
        skill().replace("---\nSEC", "disable-model-invocation: true\n---\nSEC"),
    )
    run = play(Turn(tool_calls=(Call("Skill", {"skill": "manual"}),)), DONE)
    assert SECRET not in sent(run)
    assert run.tools[0].is_error


def test_nested_skills(play, write: Write) -> None:
    write("sub/.claude/skills/denied/SKILL.md", skill())
    write("sub/a.txt", "a")
    run = play(
        Turn(tool_calls=(Call("Read", {"file_path": "sub/a.txt"}),)),
        Turn(tool_calls=(Call("Skill", {"skill": "denied"}),)),
        DONE,
    )
    assert SECRET not in sent(run)


def test_a_skill_that_appears_later(play, write: Write) -> None:
    write(".claude/skills/open/SKILL.md", skill("OPEN", "OPEN"))
    run = play(DONE, DONE, DONE)
    write(".claude/skills/denied/SKILL.md", skill())
    list(run.session.run("go on"))
    list(run.session.run("/denied"))
    assert len(run.model.requests) >= 2
    assert SECRET not in sent(run)


def test_mentions(play, write: Write, project: Path) -> None:
    (project / "link.txt").symlink_to("private/x.md")
    run = play(DONE, prompt="look at @.env and @link.txt and @a.txt")
    assert SECRET not in sent(run)
    assert "alpha" in sent(run)
    assert "@.env was not attached" in notices(run)
    assert "Read(**/.env)" in notices(run)
    assert "@link.txt was not attached" in notices(run)


def test_mentions_in_a_skill(play, write: Write) -> None:
    write(".claude/skills/open/SKILL.md", skill("Look at @.env", "OPEN"))
    assert SECRET not in sent(play(DONE, prompt="/open"))


def test_memory(play, write: Write, project: Path) -> None:
    from checkrein.passes.load import load

    directory = memory_dir(load(project), dict(os.environ))
    assert directory is not None
    os.makedirs(directory)
    Path(directory, "MEMORY.md").write_text(SECRET)
    assert SECRET in sent(play(DONE))
    write(".claude/settings.json", {"permissions": {"deny": [f"Read(/{directory}/**)"]}})
    run = play(DONE)
    assert SECRET not in sent(run)
    assert "MEMORY.md" in notices(run)


def test_a_rule_against_the_whole_tool_says_nothing_about_files(play, write: Write) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Read", "Read(**/.env)"]}})
    write("CLAUDE.md", "PLAIN @.env")
    run = play(DONE)
    assert "PLAIN" in sent(run)
    assert SECRET not in sent(run)


def test_agents(play, write: Write) -> None:
    write(".claude/agents/denied/a.md", skill())
    assert SECRET not in sent(play(DONE))


def test_a_file_that_becomes_a_link_to_a_denied_one(play, write: Write, project: Path) -> None:
    """After compaction changed instruction files are read again."""
    write("CLAUDE.md", "PLAIN")
    run = play(DONE)
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to(".env")
    prompt = run.session.conversation.backdrop.prompt
    prompt.refresh()
    assert SECRET not in repr(prompt.segments)


def test_a_prompt_approves_of_a_file_outside_and_a_skill_does_not(
    play, write: Write, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("MARKER")
    (project / "leads-out.txt").symlink_to(outside)
    assert "MARKER" in sent(play(DONE, prompt=f"look at @{outside}"))
    assert "MARKER" not in sent(play(DONE, prompt="look at @leads-out.txt"))
    write(".claude/skills/open/SKILL.md", skill(f"Look at @{outside}", "OPEN"))
    assert "MARKER" not in sent(play(DONE, prompt="/open"))


@pytest.mark.parametrize("verdict", ["deny", "ask"])
def test_a_rule_about_a_file_outside_holds_for_prompts(
    play, write: Write, tmp_path: Path, verdict: str
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("MARKER")
    write(".claude/settings.json", {"permissions": {verdict: [f"Read(/{outside})"]}})
    assert "MARKER" not in sent(play(DONE, prompt=f"look at @{outside}"))


def test_the_transcript_names_what_a_prompt_attached(play, write: Write) -> None:
    run = play(DONE, prompt="look at @a.txt and @.env")
    writer = run.session.conversation.recorder.writer
    writer.sync()
    entries = [json.loads(line) for line in writer.path.read_text().splitlines()]
    (attached,) = [one["attachment"] for one in entries if one["type"] == "attachment"]
    assert attached["type"] == "file"
    assert attached["content"]["file"]["content"] == "alpha\n"
