from pathlib import Path

from checkrein.base.diagnostic import Diagnostic
from checkrein.dialects import skills
from checkrein.dialects.codes import Log
from checkrein.model.items import Skill

EVERYTHING = """---
name: The Label
description: Does things.
when_to_use: When asked.
argument-hint: [topic]
arguments: issue branch
disable-model-invocation: yes
user-invocable: "off"
allowed-tools: Bash(git log *), Read
disallowed-tools: [Write]
model: inherit
effort: high
context: fork
agent: Explore
background: false
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: ./check.sh
          timeout: 5
paths: src/**/*.{ts,tsx}, lib/*
shell: bash
metadata: {version: 1.2}
license: MIT
compatibility: 7
behavior: {execution: command}
agents: {codex: {x: 1}}
made-up: 3
---
# Heading

Body text.
"""


def read(tmp_path: Path, text: str) -> tuple[Skill, list[Diagnostic]]:
    file = tmp_path / "SKILL.md"
    file.write_bytes(text.encode())
    log = Log()
    skill = skills.read_skill(str(file), str(tmp_path), "one", "project", log)
    assert skill is not None
    return skill, log


def test_every_field(tmp_path: Path) -> None:
    skill, log = read(tmp_path, EVERYTHING)
    assert log == []
    assert skill.name == "one"
    assert skill.display_name == "The Label"
    assert skill.argument_hint == "[topic]"
    assert skill.arguments == ("issue", "branch")
    assert skill.model_invocable is False
    assert skill.user_invocable is False
    assert skill.allowed_tools == ("Bash(git log *)", "Read")
    assert skill.disallowed_tools == ("Write",)
    assert (skill.model, skill.effort, skill.context, skill.agent) == ("inherit", "high", "fork", "Explore")
    assert skill.background is False
    assert skill.paths == ("src/**/*.{ts,tsx}", "lib/*")
    assert skill.metadata == {"version": 1.2}
    assert skill.compatibility == "7"
    assert skill.behavior == {"execution": "command"}
    assert skill.agents == {"codex": {"x": 1}}
    assert skill.unknown == {"made-up": 3}
    assert skill.body == "# Heading\n\nBody text.\n"
    assert skill.body_line == 32
    assert skill.where("paths").line == 23


def test_hooks_of_frontmatter_have_their_own_places(tmp_path: Path) -> None:
    skill, _ = read(tmp_path, EVERYTHING)
    (hook,) = skill.hooks
    assert (hook.event, hook.matcher, hook.command, hook.timeout) == ("PreToolUse", "Bash", "./check.sh", 5.0)
    assert hook.origin.field == "frontmatter.hooks.PreToolUse[0].hooks[0]"
    assert hook.origin.line == 20
    assert hook.where("command").line == 21


def test_without_frontmatter_the_first_paragraph_describes_it(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "# Title\n\nFirst line\nsecond line.\n\nMore.\n")
    assert skill.description is None
    assert skill.has_frontmatter is False
    assert skill.summary == "First line second line."
    assert log == []


def test_a_value_of_the_wrong_kind_is_reported_and_kept(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "---\ndescription: {a: 1}\nuser-invocable: perhaps\nmetadata: 3\n---\nx")
    assert [found.code for found in log] == ["FM007", "FM007", "FM007"]
    assert skill.unknown == {"description": {"a": 1}, "user-invocable": "perhaps", "metadata": 3}
    assert skill.user_invocable is True
    assert log[1].origin.line == 3


def test_an_intent_of_another_form_is_kept_without_a_word(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "---\ndescription: x\nagents: ['*']\n---\n")
    assert log == []
    assert skill.unknown == {"agents": ["*"]}


def test_bom_and_crlf(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "\ufeff---\r\ndescription: Does it.\r\n---\r\nBody\r\n")
    assert skill.description == "Does it."
    assert skill.body == "Body\r\n"
    assert log == []


def test_an_unquoted_colon_is_repaired(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: Use it when asked. Triggers on: 'one', 'two'\ntools: Read\n---\n"
    skill, log = read(tmp_path, text)
    assert skill.description == "Use it when asked. Triggers on: 'one', 'two'"
    assert [(found.code, found.origin.line) for found in log] == [("FM001", 3)]


def test_lines_that_start_no_field_are_joined(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: Use it when:\n<example>\nContext: x\n</example>\nmodel: opus\n---\n"
    skill, log = read(tmp_path, text)
    assert skill.model == "opus"
    assert skill.description is not None
    assert "Context: x" in skill.description
    assert [found.code for found in log] == ["FM002"]


def test_hopeless_frontmatter_leaves_the_body(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "---\n- a\n- b\n---\nBody")
    assert skill.body == "Body"
    assert skill.description is None
    assert [found.code for found in log] == ["FM005"]


def test_unclosed_frontmatter(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "---\nname: a\nBody")
    assert skill.has_frontmatter is False
    assert [found.code for found in log] == ["FM004"]


def test_a_field_given_twice(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "---\ndescription: a\ndescription: b\n---\n")
    assert skill.description == "b"
    assert [found.code for found in log] == ["FM006"]


def test_an_empty_file(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "")
    assert skill.summary == ""
    assert [found.code for found in log] == ["FILE008"]


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"---\ndescription: caf\xe9\n---\n")
    log = Log()
    skill = skills.read_skill(str(file), str(tmp_path), "one", "project", log)
    assert skill is not None
    assert skill.description == "caf\ufffd"
    assert [found.code for found in log] == ["FILE005"]


def test_a_command_ignores_name_and_paths_but_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "c.md"
    file.write_text("---\nname: other\npaths: src/*\ndescription: d\n---\nbody")
    command = skills.read_command(str(file), "ns:c", "user", Log())
    assert command is not None
    assert (command.name, command.display_name, command.paths) == ("ns:c", None, ())
    assert command.unknown == {"name": "other", "paths": "src/*"}


def test_a_large_file_loads(tmp_path: Path) -> None:
    skill, log = read(tmp_path, "---\ndescription: d\n---\n" + "word " * 60_000)
    assert len(skill.body) == 300_000
    assert log == []
