"""Commands and skills as the model gets them: rows of observed and documented behaviour.

`CHECKREIN_CORPUS` names a directory of real projects for the long run; the bodies below are written in the
forms that were found there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Text
from checkrein.runtime.session.events import CacheBreak, Notice
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.skills.invoke import invoke
from checkrein.testing import Call, ScriptedModel, Turn

Write = Callable[[str, str], Path]


class Run:
    def __init__(self, project: Path, prompt: str, *turns: Turn, **options: Any) -> None:
        self.model = ScriptedModel(turns or (Turn(text="ok"),), idle=5.0)
        settings = Options(**{"trust": True, "persist": False, **options})
        with Session(project, model=self.model, options=settings) as session:
            self.events = list(session.run(prompt))
            assert session.result is not None
            self.result = session.result

    @property
    def blocks(self) -> list[str]:
        """The texts of the last message of the first request."""
        content = self.model.requests[0].messages[-1].content
        return [block.text for block in content if isinstance(block, Text)]

    @property
    def body(self) -> str:
        return self.blocks[-1]


def front(body: str, **fields: str) -> str:
    head = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return f"---\n{head}---\n{body}" if head else body


# body, arguments as typed, what the model gets; frontmatter
SUBSTITUTION: list[tuple[str, str, str, dict[str, str]]] = [
    ("$ARGUMENTS", 'alpha "beta gamma" delta', 'alpha "beta gamma" delta', {}),
    ("$0|$ARGUMENTS[0]", 'alpha "beta gamma" delta', "alpha|alpha", {}),
    ("$1|$2", 'alpha "beta gamma" delta', "beta gamma|delta", {}),
    ("[$7]", "alpha", "[]", {}),
    (r"\$1 and \$ARGUMENTS", "alpha beta", "$1 and $ARGUMENTS\n\nARGUMENTS: alpha beta", {}),
    (r"\\$0", "alpha", r"\\alpha", {}),
    ("No place.", "one two", "No place.\n\nARGUMENTS: one two", {}),
    ("No place.", "", "No place.", {}),
    ("$issue on $branch", "12 main", "12 on main", {"arguments": "[issue, branch]"}),
    ("$issue on $branch.", "12", "12 on .", {"arguments": "issue branch"}),
    (r"\$issue", "12", "$issue\n\nARGUMENTS: 12", {"arguments": "[issue]"}),
    ("${CLAUDE_SESSION_ID}", "", "@SESSION@", {}),
    ("${CLAUDE_PROJECT_DIR}/x", "", "@PROJECT@/x", {}),
    (r"\${CLAUDE_PROJECT_DIR}", "", r"\@PROJECT@", {}),
    ("${CLAUDE_EFFORT}", "", "high", {}),
    ("${CLAUDE_SKILL_DIR}", "", "@PROJECT@/.claude/skills/t", {}),
    ("${CLAUDE_PLUGIN_ROOT} ${NOBODY}", "", "${CLAUDE_PLUGIN_ROOT} ${NOBODY}", {}),
    ("$ARGUMENTS", "$0 ${CLAUDE_SESSION_ID} !`id`", "$0 ${CLAUDE_SESSION_ID} !`id`", {}),
    ("ultrathink now", "", "ultrathink now\n\nThink this through in depth before you act.", {}),
]


@pytest.mark.parametrize(("body", "typed", "wanted", "fields"), SUBSTITUTION)
def test_substitution(project: Path, write: Write, body: str, typed: str, wanted: str, fields: Any) -> None:
    write(".claude/skills/t/SKILL.md", front(body, **fields))
    run = Run(project, f"/t {typed}".strip(), effort="high", session_id="session-1")
    assert run.body == wanted.replace("@PROJECT@", str(project)).replace("@SESSION@", "session-1")


def test_a_typed_command_is_two_blocks(project: Path, write: Write) -> None:
    write(".claude/commands/ns/t.md", "Body $0.")
    *_, header, body = Run(project, "/ns:t alpha").blocks
    assert header == (
        "<command-message>ns:t</command-message>\n<command-name>/ns:t</command-name>\n"
        "<command-args>alpha</command-args>"
    )
    assert body == "Body alpha."


# body, what the model gets or (with a leading !) what the refusal says
INJECTION: list[tuple[str, str, dict[str, str]]] = [
    ("Now: !`echo 42`", "Now: 42", {}),
    ("!`echo a`\n!`echo b`", "a\nb", {}),
    ("KEY=!`echo no`", "KEY=!`echo no`", {}),
    ("`code !`echo no``", "`code no`", {}),
    ("```!\necho one\necho two\n```", "one\ntwo", {}),
    ("> !`echo '${CLAUDE_SESSION_ID}'`", "> session-1\n\nARGUMENTS: A", {}),
    ("!`echo $0 >&2`", "A", {}),
    ("!`touch made`", '!Shell command permission check failed for pattern "touch made"', {}),
    ("!`touch made` done", " done", {"allowed_tools": "Bash(touch *)"}),
    ("!`rm made`", "!permission check failed", {"allowed_tools": "Bash(rm *)"}),
    ("!`cat none.txt`", '!Shell command failed for pattern "cat none.txt"', {}),
    ("!`grep nothing a.txt`", "", {}),
    ("!`diff a.txt b.txt`", "1c1\n< a\n---\n> b", {}),
    ("!`ls`", "!powershell", {"shell": "powershell"}),
]


@pytest.mark.parametrize(("body", "wanted", "fields"), INJECTION)
def test_injection(project: Path, write: Write, body: str, wanted: str, fields: Any) -> None:
    write("a.txt", "a\n")
    write("b.txt", "b\n")
    write(".claude/settings.json", '{"permissions": {"deny": ["Bash(rm *)"]}}')
    write(".claude/skills/t/SKILL.md", front(body, **fields))
    run = Run(project, "/t A", session_id="session-1")
    if wanted.startswith("!"):
        assert wanted[1:] in run.result.text
        assert run.model.requests == []
        assert not (project / "made").exists()
    else:
        suffix = "" if "ARGUMENTS" in wanted or "$0" in body else "\n\nARGUMENTS: A"
        assert run.body in (wanted + suffix, (wanted + suffix).strip("\n"))


def test_the_kill_switch_replaces_each_command(project: Path, write: Write) -> None:
    write(".claude/settings.json", '{"disableSkillShellExecution": true}')
    write(".claude/skills/t/SKILL.md", "a !`echo 1` b !`echo 2`")
    disabled = "[shell command execution disabled by policy]"
    assert Run(project, "/t").body == f"a {disabled} b {disabled}"


def test_a_refused_command_takes_its_grants_back(project: Path, write: Write) -> None:
    write(
        ".claude/skills/t/SKILL.md",
        front("!`touch a && rm b`", description="d", allowed_tools="Bash(touch *)"),
    )
    load = Turn(tool_calls=(Call("Skill", {"skill": "t"}),))
    run = Run(
        project,
        "go",
        load,
        Turn(tool_calls=(Call("Bash", {"command": "touch a"}),)),
        Turn(text="ok"),
        allowed=("Skill",),
    )
    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]


def test_files_that_a_skill_names_come_along(project: Path, write: Write) -> None:
    write("notes.md", "THE NOTES")
    write("secret.md", "HIDDEN")
    write(".claude/settings.json", '{"permissions": {"deny": ["Read(secret.md)"]}}')
    write(".claude/skills/t/SKILL.md", front("Read @notes.md and @secret.md.", description="d"))
    typed = "\n".join(Run(project, "/t").blocks)
    load = Turn(tool_calls=(Call("Skill", {"skill": "t"}),))
    loaded = Run(project, "go", load, Turn(text="ok"), allowed=("Skill",))
    called = next(event.content for event in loaded.events if type(event).__name__ == "ToolFinished")
    for said in (typed, called):
        assert "THE NOTES" in said
        assert "HIDDEN" not in said
        assert "not allowed" in said


def test_stacking(project: Path, write: Write) -> None:
    for name in ("a", "b", "c", "d", "e", "f", "g"):
        write(f".claude/skills/{name}/SKILL.md", f"{name.upper()} $ARGUMENTS")
    write(".claude/skills/forked/SKILL.md", front("F", context="fork"))
    write(".claude/skills/hidden/SKILL.md", front("H", user_invocable="false"))

    def bodies(prompt: str) -> list[str]:
        return [text for text in Run(project, prompt).blocks if text[:2] in ("A ", "B ", "C ", "F ", "G ")]

    assert bodies("/a /b x y") == ["A x y", "B x y"]
    assert bodies("/a word /b x") == ["A word /b x"]
    assert bodies("/a /forked x") == ["A /forked x"]
    assert bodies("/a /hidden x") == ["A /hidden x"]
    assert bodies("/a /b /c /d /e /f /g x") == [
        "A /g x",
        "B /g x",
        "C /g x",
        "F /g x",
    ]


def test_forked_skills_say_what_they_need(project: Path, write: Write) -> None:
    write(".claude/skills/t/SKILL.md", front("F", context="fork", agent="Explore"))
    assert Run(project, "/t", Turn(text="found"), Turn(text="told")).result.text == "told"
    assert "subagent" in Run(project, "/t", disallowed=("Agent",)).result.text


def test_a_repeated_text_is_said_once(project: Path, write: Write) -> None:
    write(".claude/skills/t/SKILL.md", front("BODY $0", description="d"))
    calls = [Turn(tool_calls=(Call("Skill", {"skill": "t", "args": word}),)) for word in ("x", "x", "y")]
    run = Run(project, "go", *calls, Turn(text="ok"), allowed=("Skill",))
    said = [event.content for event in run.events if type(event).__name__ == "ToolFinished"]
    assert "BODY x" in said[0]
    assert "already loaded" in said[1]
    assert "BODY x" not in said[1]
    assert "BODY y" in said[2]


@pytest.mark.parametrize(
    ("override", "typed", "by_model", "listed"),
    [
        ("on", True, True, "t: WHEN"),
        ("name-only", True, True, "- t"),
        ("user-invocable-only", True, False, None),
        ("off", False, False, None),
    ],
)
def test_overrides(
    project: Path, write: Write, override: str, typed: bool, by_model: bool, listed: str | None
) -> None:
    write(".claude/settings.json", f'{{"skillOverrides": {{"t": "{override}"}}}}')
    write(".claude/skills/t/SKILL.md", front("BODY", description="WHEN"))
    write(".claude/skills/other/SKILL.md", front("BODY", description="OTHER"))
    load = Turn(tool_calls=(Call("Skill", {"skill": "t"}),))
    run = Run(project, "go", load, Turn(text="ok"), allowed=("Skill",))
    (called,) = (event for event in run.events if type(event).__name__ == "ToolFinished")
    assert (not called.is_error) is by_model
    opening = "\n".join(run.blocks)
    assert ("WHEN" in opening) is (listed == "t: WHEN")
    assert ("\n- t" in opening) is (listed is not None)
    direct = Run(project, "/t")
    assert (len(direct.model.requests) == 1 and direct.body == "BODY") is typed


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        ({"allow": ["Skill(t)"]}, False),
        ({"allow": ["Skill(t *)"]}, False),
        ({"deny": ["Skill(t)"]}, True),
        ({"allow": ["Skill"], "deny": ["Skill(t *)"]}, True),
        ({}, True),
    ],
)
def test_rules_on_skills(project: Path, write: Write, rules: dict[str, list[str]], verdict: bool) -> None:
    import json

    write(".claude/settings.json", json.dumps({"permissions": rules}))
    write(".claude/skills/t/SKILL.md", front("BODY", description="d"))
    args = {"skill": "t", "args": "x"} if "Skill(t *)" in str(rules) else {"skill": "t"}
    run = Run(project, "go", Turn(tool_calls=(Call("Skill", args),)), Turn(text="ok"))
    refused = bool(run.result.denials)
    assert refused is verdict


def test_a_denied_skill_tool_is_not_offered(project: Path, write: Write) -> None:
    write(".claude/settings.json", '{"permissions": {"deny": ["Skill"]}}')
    write(".claude/skills/t/SKILL.md", front("BODY", description="d"))
    assert "Skill" not in {tool.name for tool in Run(project, "go").model.requests[0].tools}


def test_disallowed_tools_hold_for_the_turn(project: Path, write: Write) -> None:
    write(".claude/skills/t/SKILL.md", front("BODY", description="d", disallowed_tools="Bash"))
    echo = Turn(tool_calls=(Call("Bash", {"command": "echo 1"}),))
    model = ScriptedModel(
        [Turn(tool_calls=(Call("Skill", {"skill": "t"}),)), echo, Turn(text="ok"), echo, Turn(text="ok")],
        idle=5,
    )
    options = Options(trust=True, persist=False, allowed=("Skill",))
    with Session(project, model=model, options=options) as session:
        first = list(session.run("one"))
        second = list(session.run("two"))
    assert [e.denial.rule for e in first if type(e).__name__ == "PermissionDenied"] == ["Bash"]
    assert not any(type(event).__name__ == "PermissionDenied" for event in second)
    assert not any(isinstance(event, CacheBreak) for event in (*first, *second))


def test_strict_tools_restrict_the_turn(project: Path, write: Write) -> None:
    write(".claude/skills/t/SKILL.md", front("BODY", description="d", allowed_tools="Bash(echo *)"))
    write("a.txt", "a")
    calls = (
        Call("Skill", {"skill": "t"}),
        Call("Bash", {"command": "echo 1"}),
        Call("Read", {"file_path": "a.txt"}),
        Call("Bash", {"command": "touch x"}),
    )
    turns = [*(Turn(tool_calls=(call,)) for call in calls), Turn(text="ok")]
    rules = ("Skill", "Read", "Bash(touch *)")
    loose = Run(project, "go", *turns, allowed=rules)
    assert loose.result.denials == ()
    write("checkrein.toml", "[skills]\nstrict_tools = true\n")
    strict = Run(project, "go", *turns, allowed=rules)
    assert [denial.tool_input for denial in strict.result.denials] == [calls[2].input, calls[3].input]


def test_model_and_effort_hold_for_the_turn(project: Path, tmp_path: Path) -> None:
    script = tmp_path / "other.jsonl"
    script.write_text('{"text": "from the other"}\n')
    skill = Path.home() / ".claude/skills/t/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(front("BODY", description="d", model=f"scripted:{script}", effort="max"))
    model = ScriptedModel([Turn(tool_calls=(Call("Skill", {"skill": "t"}),)), Turn(text="own")], idle=5)
    options = Options(trust=True, persist=False, allowed=("Skill",), effort="low")
    with Session(project, model=model, options=options) as session:
        first = list(session.run("one"))
        assert session.result is not None
        assert session.result.text == "from the other"
        second = list(session.run("two"))
    assert [request.effort for request in model.requests] == ["low", "low"]
    assert len([event for event in first if isinstance(event, CacheBreak)]) == 1
    assert len([event for event in second if isinstance(event, CacheBreak)]) == 1


def test_a_model_that_is_not_available_is_not_used(project: Path, write: Write) -> None:
    write(".claude/settings.json", '{"availableModels": ["haiku"]}')
    write(".claude/skills/t/SKILL.md", front("BODY", description="d", model="opus"))
    run = Run(project, "/t")
    assert run.result.text == "ok"
    assert any(isinstance(event, Notice) and "opus" in event.text for event in run.events)


def test_hooks_of_a_skill_begin_with_it(project: Path, write: Write) -> None:
    hook = "{PostToolUse: [{matcher: Bash, hooks: [{type: command, command: 'echo ran >> hooked'}]}]}"
    write(".claude/skills/t/SKILL.md", front("BODY", description="d", hooks=hook))
    echo = Turn(tool_calls=(Call("Bash", {"command": "echo 1"}),))
    load = Turn(tool_calls=(Call("Skill", {"skill": "t"}),))
    Run(project, "go", echo, load, echo, load, echo, Turn(text="ok"), allowed=("Skill",))
    assert (project / "hooked").read_text().splitlines() == ["ran", "ran"]


def test_nested_skills_come_with_the_files_beside_them(project: Path, write: Write) -> None:
    write(".claude/skills/build/SKILL.md", front("ROOT", description="root build"))
    write("pkg/.claude/skills/build/SKILL.md", front("NESTED", description="pkg build", allowed_tools="Bash"))
    write("pkg/.claude/skills/only/SKILL.md", front("ONLY", description="only here"))
    write("pkg/x.txt", "x")
    read = Turn(tool_calls=(Call("Read", {"file_path": "pkg/x.txt"}),))
    names = ("build", "pkg:build", "only")
    loads = [Turn(tool_calls=(Call("Skill", {"skill": name}),)) for name in names]
    shell = Turn(tool_calls=(Call("Bash", {"command": "touch x"}),))
    run = Run(project, "go", read, *loads, shell, Turn(text="ok"), allowed=("Skill",))
    assert "only here" not in "\n".join(run.blocks)
    after_read = run.model.requests[1].messages[-1].content
    assert "pkg:build: pkg build" in "\n".join(b.text for b in after_read if isinstance(b, Text))
    said = [e.content for e in run.events if type(e).__name__ == "ToolFinished" and e.name == "Skill"]
    assert "ROOT" in said[0]
    assert "pkg:build" in said[0]
    assert "NESTED" in said[1]
    assert "ONLY" in said[2]
    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]


FORMS = {
    "review": "# Review\n\n!`git status`\n\n```bash\ngit diff $1\n```\n\n$ARGUMENTS costs $5 and ${HOME}.\n",
    "windows": "Line one\r\n!`echo x`\r\n```!\r\nls\r\n```\r\n",
    "fences": "````md\n```!\ninner\n```\n````\n`!`x`` and ~~~\n!`y`\n~~~",
    "unicode": "Ünïcode $ARGUMENTS[0] — “quotes” ${CLAUDE_SKILL_DIR}\u2028end",
    "empty": "",
    "regex": r"s/\$1/\\$2/ $ARGUMENTS[12] $ARGUMENTS[x] $ARGUMENTS_ALL \\\$0 $$ $",
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_found_in_real_bodies(write: Write, form: str) -> None:
    from checkrein.dialects.claude import files

    path = write(f".claude/skills/{form}/SKILL.md", FORMS[form])
    (item,) = files.read(str(path)).skills
    for raw in ("", "one", 'a "b c" d', "'"):
        assert isinstance(
            invoke(item, raw, {"CLAUDE_SESSION_ID": "s"}, lambda command, owner: "OUT").text, str
        )


@pytest.mark.untraced
@pytest.mark.campaign
@pytest.mark.skipif("CHECKREIN_CORPUS" not in os.environ, reason="CHECKREIN_CORPUS names no corpus")
def test_every_skill_and_command_of_the_corpus() -> None:
    from checkrein.dialects.claude import files

    count = 0
    for path in sorted(Path(os.environ["CHECKREIN_CORPUS"]).rglob("*.md")):
        found = files.read(str(path))
        for item in (*found.skills, *found.commands):
            count += 1
            for raw in ("", 'one "two three" $0 !`x`'):
                done = invoke(item, raw, {"CLAUDE_SESSION_ID": "s"}, lambda command, owner: "OUT")
                assert isinstance(done.text, str)
    assert count > 500
